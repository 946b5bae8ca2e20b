"""The normal kernel truncated to the bounds, each component normalised there, with a base measure that learns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from privmix.jit import inline
from privmix.kernels.learned_base import LEARNED, LearnedBase
from privmix.numerics import gamma, normal, uniform
from privmix.numerics.normal_intervals import interval_moments, scaled_mass, tail_draw
from privmix.numerics.normal_tails import normal_excess
from privmix.numerics.steps import accepts, make_slice_step
from privmix.parts import given
from privmix.parts.checks import check_interval, check_number, check_positive

# Columns of the constants: σ, 1/2σ², the log density at its peak inside the bounds, the peak, its mirror image at μ,
# the ends and their distance in standard deviations, 1/σ, and the mass Z inside, scaled at the peak and as log Z.
SD, HALF_PRECISION, LOG_PEAK, PEAK, MIRROR, LOW, HIGH, INVERSE_SD, INVERSE_MASS, LOG_MASS = range(2, 12)

# Where the mean is inside bounds of so many standard deviations, a record is drawn by trying normal draws: two in five
# or more succeed.
LEAST_WIDTH_FOR_TRIES = 2.0
# Records whose average is this many standard deviations inside: the conjugate step alone serves. It moves log Z^n by
# about √n φ(3.5) = .0009 √n, so that even of 100,000 records most proposals are accepted.
CLEAR_OF_THE_EDGES = 3.5
# A slice step costs as much as ten records.
MOST_RECORDS_FOR_ONE_STEP = 100
# The density beyond this many standard deviations, or where it has fallen by exp(−40), adds nothing to a moment.
REACH, FALL = 9.0, 40.0


@dataclass(frozen=True)
class TruncatedNormal(LearnedBase):
    """Normal components truncated to the bounds: f(y|μ, σ²) = φ((y − μ)/σ)/(σZ) there, Z the normal's mass inside.

    Data inside the bounds are what the model believes in, up to the edge: a component may fall, rise or be flat there,
    and its mean may lie outside. `mean` and `variance` are those of the normal before truncation. The base measure has
    independent μ ~ N(location, spread) and σ² ~ InverseGamma(shape, rate), learned from the bounds: with width W and
    midpoint M, location ~ N(M, (W/4)²), spread ~ InverseGamma(2, (W/4)²) and rate ~ Gamma(2, 2/(shape (W/20)²)).

    Parameters
    ----------
    bounds
        Interval that holds every record.
    shape
        Of the inverse-gamma prior of σ².
    location, spread, rate
        A number fixes the hyperparameter; None learns it.
    """

    bounds: tuple[float, float] = (0.0, 1.0)
    shape: float = 2.0
    location: float | None = given()
    spread: float | None = given()
    rate: float | None = given()
    fixed: tuple[float, float, float] = field(init=False, repr=False)

    constants: ClassVar[int] = 10

    def __post_init__(self) -> None:
        check_interval(self, "bounds")
        check_positive(self, "shape", *(name for name in ("spread", "rate") if getattr(self, name) is not None))
        if self.location is not None:
            check_number(self, "location")
        values = (self.location, self.spread, self.rate)
        object.__setattr__(self, "fixed", tuple(LEARNED if value is None else float(value) for value in values))

    @property
    def support(self) -> tuple[float, float]:
        """The interval that holds every record."""
        return self.bounds

    def log_f(self, y, theta):
        """Return log f(y|μ, σ²), from its peak p inside the bounds: (y−μ)² − (p−μ)² = (y − p)(y − 2μ + p)."""
        if y < self.bounds[0] or y > self.bounds[1]:
            return -math.inf
        return theta[LOG_PEAK] - theta[HALF_PRECISION] * (y - theta[PEAK]) * (y - theta[MIRROR])

    def sample(self, rng, theta):
        """Draw y ~ N(μ, σ²) given that it lies inside the bounds."""
        return draw_truncated(rng, theta[0], theta[SD], self.bounds[0], self.bounds[1])

    def prepare(self, theta):
        """Keep what densities, masses and convolutions need of an atom."""
        mean, sd = theta[0], math.sqrt(theta[1])
        low, high, width = (self.bounds[0] - mean) / sd, (self.bounds[1] - mean) / sd, self.bounds[1] - self.bounds[0]
        mass = scaled_mass(low, high, width / sd)
        theta[SD] = sd
        theta[HALF_PRECISION] = 0.5 / theta[1]
        theta[LOG_PEAK] = -0.5 * math.log(2.0 * math.pi * theta[1]) - math.log(mass)
        theta[PEAK] = min(max(mean, self.bounds[0]), self.bounds[1])
        theta[MIRROR] = 2.0 * mean - theta[PEAK]
        theta[LOW], theta[HIGH] = low, high
        theta[INVERSE_SD], theta[INVERSE_MASS] = 1.0 / sd, 1.0 / mass
        theta[LOG_MASS] = math.log(mass) + log_peak(low, high)

    def cdf(self, y, theta):
        """Return P(Y ≤ y|μ, σ²), accurate in the lower tail."""
        return mass_inside(theta, self.bounds[0], self.bounds[1], -math.inf, y)

    def mass(self, lower, upper, theta):
        """Return P(lower < Y ≤ upper|μ, σ²), accurate in both tails."""
        return mass_inside(theta, self.bounds[0], self.bounds[1], lower, upper)

    def sample_between(self, rng, theta, lower, upper):
        """Draw y ~ N(μ, σ²) truncated to what [lower, upper] has of the bounds."""
        low, high = max(lower, self.bounds[0]), min(upper, self.bounds[1])
        if low >= high:
            return min(max(low, self.bounds[0]), self.bounds[1])
        return draw_truncated(rng, theta[0], theta[SD], low, high)

    def central_moments(self, theta, out):
        """Write mean, variance, third and fourth central moment: of the distance from the peak, by quadrature."""
        sd, low, high, sign, start = theta[SD], theta[LOW], theta[HIGH], 1.0, theta[0]
        width = (self.bounds[1] - self.bounds[0]) / sd
        if low > 0.0 or high < 0.0:  # the peak is an end: t is the distance from it
            far, start = (low, self.bounds[0]) if low > 0.0 else (-high, self.bounds[1])
            sign = 1.0 if low > 0.0 else -1.0
            reach = 2.0 * FALL / (far + math.sqrt(far * far + 2.0 * FALL))
            interval_moments(-far, 0.0, min(width, reach), out)
        else:
            interval_moments(0.0, max(low, -REACH), min(high, REACH), out)
        out[0] = start + sign * sd * out[0]
        out[1] *= sd * sd
        out[2] *= sign * sd * sd * sd
        out[3] *= sd * sd * sd * sd

    def update(self, rng, theta, ys, tune, hyper):
        """Propose μ, then σ², from their conditionals without truncation, accepted with probability min(1, (Z/Z')^n).

        Away from the edges Z is 1 and every proposal is accepted. Near an edge the posterior lies elsewhere, so slice
        steps follow: which is decided by the records and the hyperparameters, that this update does not change.
        """
        n = float(len(ys))
        average, squares = 0.0, 0.0
        for j in range(len(ys)):
            average += ys[j]
        average /= max(n, 1.0)
        for j in range(len(ys)):
            squares += (ys[j] - average) * (ys[j] - average)
        propose_mean(self, rng, theta, n, average, hyper)
        propose_variance(self, rng, theta, n, average, squares, hyper)
        distance = min(average - self.bounds[0], self.bounds[1] - average)
        typical = (hyper[2] + 0.5 * squares) / (self.shape + 0.5 * n)
        if n > 0.0 and distance * distance < CLEAR_OF_THE_EDGES * CLEAR_OF_THE_EDGES * typical:
            slice_atom(self, rng, theta, (n, average, squares), hyper)


def draw_truncated(rng, mean, sd, lower, upper):
    """Draw from N(mean, sd²) truncated to [lower, upper]: the distance to an end where the mean is beyond it."""
    if mean < lower:
        y = lower + sd * tail_draw(rng, (lower - mean) / sd, (upper - lower) / sd)
    elif mean > upper:
        y = upper - sd * tail_draw(rng, (mean - upper) / sd, (upper - lower) / sd)
    elif upper - lower < LEAST_WIDTH_FOR_TRIES * sd:
        y = lower + sd * normal_excess(rng, (lower - mean) / sd, (upper - lower) / sd)
    else:
        y = mean + sd * normal(rng)
        while not lower <= y <= upper:
            y = mean + sd * normal(rng)
    return min(max(y, lower), upper)


def log_peak(low, high):
    """Return log φ(m)/φ(0) at the point m nearest to 0 in [low, high]."""
    nearest = max(low, 0.0) + min(high, 0.0)
    return -0.5 * nearest * nearest


def log_mass(kernel, mean, variance):
    """Return log Z, the log mass of N(mean, variance) inside the bounds."""
    sd = math.sqrt(variance)
    low, high = (kernel.bounds[0] - mean) / sd, (kernel.bounds[1] - mean) / sd
    return math.log(scaled_mass(low, high, (kernel.bounds[1] - kernel.bounds[0]) / sd)) + log_peak(low, high)


@inline
def mass_inside(theta, first, last, lower, upper):
    """Return the share of the mass inside the bounds that lies between lower and upper."""
    low, high = max(lower, first), min(upper, last)
    if low >= high:
        return 0.0
    if low == first and high == last:
        return 1.0
    inverse, nearest = theta[INVERSE_SD], min(max(theta[0], low), high)
    share = scaled_mass((low - theta[0]) * inverse, (high - theta[0]) * inverse, (high - low) * inverse)
    share *= theta[INVERSE_MASS]
    if nearest != theta[PEAK]:
        share *= math.exp(-theta[HALF_PRECISION] * (nearest - theta[PEAK]) * (nearest - theta[MIRROR]))
    return min(share, 1.0)


def propose_mean(kernel, rng, theta, n, average, hyper):
    """Draw μ from its conditional without truncation; accept by (Z/Z')^n."""
    precision = 1.0 / hyper[1] + n / theta[1]
    mean = (hyper[0] / hyper[1] + n * average / theta[1]) / precision + normal(rng) / math.sqrt(precision)
    proposed = log_mass(kernel, mean, theta[1])
    if accepts(rng, n * (theta[LOG_MASS] - proposed)):
        theta[0], theta[LOG_MASS] = mean, proposed


def propose_variance(kernel, rng, theta, n, average, squares, hyper):
    """Draw σ² from its conditional without truncation; accept by (Z/Z')^n."""
    gap = average - theta[0]
    variance = (hyper[2] + 0.5 * (squares + n * gap * gap)) / gamma(rng, kernel.shape + 0.5 * n)
    if accepts(rng, n * (theta[LOG_MASS] - log_mass(kernel, theta[0], variance))):
        theta[1] = variance


def slice_atom(kernel, rng, theta, sums, hyper):
    """Redraw μ given σ², and σ² with (μ − ȳ)/σ² held, by slice steps; in small clusters one of the two, by chance.

    These are the natural parameters of the truncated normal, whose likelihood is log-concave in them. Held at the
    average, they are hardly correlated: at the edge σ² can grow only if μ moves away with it. Of 20,000 records at an
    edge four updates in ten are effective draws.
    """
    n, average, squares = sums
    # Steps of about two posterior deviations: that of μ/σ² is 1/√Σ(y−ȳ)², that of log σ² is √(2/n) where Z is 1.
    chance = uniform(rng)
    if n > MOST_RECORDS_FOR_ONE_STEP or chance < 0.5:
        unit = 2.0 / math.sqrt(1.0 / hyper[1] + squares / (theta[1] * theta[1]))
        place = slice_mean((kernel, theta[1], unit, sums, hyper), rng, (theta[0] - average) / unit, 1.0)
        theta[0] = average + unit * place
    if n > MOST_RECORDS_FOR_ONE_STEP or chance >= 0.5:
        pull = (theta[0] - average) / theta[1]
        size = slice_size((kernel, pull, sums, hyper), rng, math.log(theta[1]), 4.0 / math.sqrt(1.0 + n))
        theta[1] = math.exp(size)
        theta[0] = average + pull * theta[1]


def log_posterior(kernel, mean, variance, sums, hyper):
    """Return the log density of (μ, σ²) given the sums n, ȳ, Σ(y−ȳ)² of the records, up to a constant."""
    n, average, squares = sums
    sd = math.sqrt(variance)
    low, high = (kernel.bounds[0] - mean) / sd, (kernel.bounds[1] - mean) / sd
    scaled = scaled_mass(low, high, (kernel.bounds[1] - kernel.bounds[0]) / sd)
    peak = min(max(mean, kernel.bounds[0]), kernel.bounds[1])
    # Σ(y−μ)² − n(p−μ)², so that a mean far outside loses no digits
    spread = squares + n * (average - peak) * (average - 2.0 * mean + peak)
    deviation = mean - hyper[0]
    value = -n * math.log(scaled) - 0.5 * spread / variance - 0.5 * deviation * deviation / hyper[1]
    value -= (kernel.shape + 1.0 + 0.5 * n) * math.log(variance) + hyper[2] / variance
    return value if value == value else -math.inf


def mean_target(about, place):
    """Return the log density of μ, so many units from the average, given σ²."""
    kernel, variance, unit, sums, hyper = about
    return log_posterior(kernel, sums[1] + unit * place, variance, sums, hyper)


def size_target(about, size):
    """Return the log density of log σ² given (μ − ȳ)/σ²: with the Jacobian σ⁴."""
    kernel, pull, sums, hyper = about
    if abs(size) > 600.0:
        return -math.inf
    variance = math.exp(size)
    return log_posterior(kernel, sums[1] + pull * variance, variance, sums, hyper) + 2.0 * size


slice_mean = make_slice_step(mean_target)
slice_size = make_slice_step(size_target)
