"""The beta kernel on a bounded interval, with independent gamma priors on its two shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privmix.kernels.base import Kernel
from privmix.numerics import beta_logs, exponential, gamma, log_beta, uniform
from privmix.numerics.incomplete_beta import beta_inc, beta_tails, log_beta_inc, log_beta_inc_inverse, logit_parts
from privmix.numerics.steps import make_slice_step
from privmix.parts.checks import check_interval, check_positive

# The outermost EDGE of the unit interval at either end is one cell: y there is stored as the cell's middle and has the
# cell's mean density. A beta variable with a small shape comes closer to an end than floating point can tell (within
# 1e-16 of each end with probability .0025 under Gamma(2, 2) shapes), and the density at a rounded value would bias the
# shapes.
EDGE = 1e-10
LEAST = 1e-300


@dataclass(frozen=True)
class Beta(Kernel):
    """Beta components on [lower, upper] with independent Gamma(shape, rate) priors on both shape parameters a and b.

    The paper's Section 4.2 uses ``Beta(shape=2, rate=2)``.

    Parameters
    ----------
    shape, rate
        Of the gamma priors of a and b.
    bounds
        Interval that holds every record.
    """

    shape: float = 2.0
    rate: float = 2.0
    bounds: tuple[float, float] = (0.0, 1.0)

    parameters: ClassVar[tuple[str, ...]] = ("a", "b")
    positive: ClassVar[tuple[str, ...]] = ("a", "b")
    constants: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_positive(self, "shape", "rate")
        check_interval(self, "bounds")

    @property
    def support(self) -> tuple[float, float]:
        """The interval that holds every record."""
        return self.bounds

    def log_f(self, y, theta):
        """Return log Beta(y | a, b), scaled to the interval."""
        x = (y - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        if x < 0.0 or x > 1.0:
            return -math.inf
        a, b = theta[0], theta[1]
        if x < EDGE:
            return (a - 1.0) * math.log(EDGE) - math.log(a) + theta[2]
        if x > 1.0 - EDGE:
            return (b - 1.0) * math.log(EDGE) - math.log(b) + theta[2]
        return (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) + theta[2]

    def prepare(self, theta):
        """Keep −log B(a, b) − log(upper − lower)."""
        theta[2] = -log_beta(theta[0], theta[1]) - math.log(self.bounds[1] - self.bounds[0])

    def sample(self, rng, theta):
        """Draw y ~ Beta(a, b) on the interval."""
        log_x, log_rest = beta_logs(rng, theta[0], theta[1])
        if log_x < math.log(EDGE):
            x = 0.5 * EDGE
        elif log_rest < math.log(EDGE):
            x = 1.0 - 0.5 * EDGE
        else:
            x = math.exp(log_x)
        return self.bounds[0] + (self.bounds[1] - self.bounds[0]) * x

    def cdf(self, y, theta):
        """Return P(Y ≤ y | a, b)."""
        width = self.bounds[1] - self.bounds[0]
        return beta_inc(theta[0], theta[1], (y - self.bounds[0]) / width, (self.bounds[1] - y) / width)

    def mass(self, lower, upper, theta):
        """Return P(lower < Y ≤ upper | a, b), accurate in both tails."""
        width = self.bounds[1] - self.bounds[0]
        a, b = theta[0], theta[1]
        low, above = beta_tails(a, b, (lower - self.bounds[0]) / width, (self.bounds[1] - lower) / width)
        high, rest = beta_tails(a, b, (upper - self.bounds[0]) / width, (self.bounds[1] - upper) / width)
        return high - low if high < 0.5 else above - rest

    def central_moments(self, theta, out):
        """Write mean, variance, third and fourth central moment."""
        width = self.bounds[1] - self.bounds[0]
        a, b = theta[0], theta[1]
        total = a + b
        variance = a * b / (total * total * (total + 1.0))
        out[0] = self.bounds[0] + width * a / total
        out[1] = width**2 * variance
        out[2] = width**3 * variance * 2.0 * (b - a) / (total * (total + 2.0))
        excess = (a - b) ** 2 * (total + 1.0) - a * b * (total + 2.0)
        excess *= 6.0 / (a * b * (total + 2.0) * (total + 3.0))
        out[3] = width**4 * variance * variance * (3.0 + excess)

    def sample_between(self, rng, theta, lower, upper):
        """Draw y ~ Beta(a, b) on the interval, truncated to [lower, upper]."""
        width = self.bounds[1] - self.bounds[0]
        low, rest_low = max((lower - self.bounds[0]) / width, 0.0), min((self.bounds[1] - lower) / width, 1.0)
        high, rest_high = min((upper - self.bounds[0]) / width, 1.0), max((self.bounds[1] - upper) / width, 0.0)
        x, rest = beta_between(rng, theta[0], theta[1], (low, rest_low), (high, rest_high))
        if x < EDGE:
            x = 0.5 * EDGE
        elif rest < EDGE:
            x = 1.0 - 0.5 * EDGE
        y = self.bounds[0] + width * x
        return min(max(y, lower, self.bounds[0]), upper, self.bounds[1])

    def base(self, rng, theta):
        """Draw a and b from their gamma priors."""
        theta[0] = max(gamma(rng, self.shape) / self.rate, LEAST)
        theta[1] = max(gamma(rng, self.shape) / self.rate, LEAST)

    def log_base(self, theta):
        """Return the log density of the two gamma priors."""
        if theta[0] <= 0.0 or theta[1] <= 0.0:
            return -math.inf
        constant = 2.0 * (self.shape * math.log(self.rate) - math.lgamma(self.shape))
        logs = math.log(theta[0]) + math.log(theta[1])
        return constant + (self.shape - 1.0) * logs - self.rate * (theta[0] + theta[1])

    def update(self, rng, theta, ys, tune):
        """Update (a, b) by slice sampling of logit a/(a+b) and log(a+b), in turn, twice.

        The target is the likelihood times both gamma priors, as in the paper's appendix, whose published code leaves
        the priors out. In these coordinates the posterior of a large cluster has nearly independent axes; slice
        sampling (Neal 2003) needs no tuning, so nothing has to be frozen after warm-up. The likelihood depends on the
        records through two sums, so an evaluation costs the same for any cluster.
        """
        edges_low, edges_high, sum_log, sum_log_rest, inside = 0, 0, 0.0, 0.0, 0
        for j in range(len(ys)):
            x = (ys[j] - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
            if x < EDGE:
                edges_low += 1
            elif x > 1.0 - EDGE:
                edges_high += 1
            else:
                inside += 1
                sum_log += math.log(x)
                sum_log_rest += math.log1p(-x)
        # A record in an edge cell has density EDGE^(a−1)/(a·B(a, b)): a log x term at EDGE, and a factor 1/a.
        sum_log += edges_low * math.log(EDGE)
        sum_log_rest += edges_high * math.log(EDGE)
        place = math.log(theta[0] / theta[1])
        size = math.log(theta[0] + theta[1])
        sums = (float(len(ys)), sum_log, sum_log_rest, float(edges_low), float(edges_high))
        width = 4.0 / math.sqrt(1.0 + len(ys))
        for _ in range(2):
            place = slice_shape((place, size, 0, sums, self.shape, self.rate), rng, place, width)
            size = slice_shape((place, size, 1, sums, self.shape, self.rate), rng, size, width)
        theta[0] = math.exp(size - math.log1p(math.exp(-place)))
        theta[1] = math.exp(size - math.log1p(math.exp(place)))


# Proposals before a draw is made by inversion: a proposal takes .03 µs, an inversion 3 to 10.
TRIES = 12


def beta_between(rng, a, b, low, high):
    """Draw x ~ Beta(a, b) truncated to [low, high], each end a pair (x, 1 − x); return the pair.

    A few tries by rejection from the uniform, where the density is bounded on the interval; then inversion. Tries are
    independent of the inversion, so the law is exact.
    """
    if low[0] > 0.0 and high[1] > 0.0:
        top = largest_log_density(a, b, low, high)
        for _ in range(TRIES):
            u = uniform(rng)
            x, rest = low[0] + (high[0] - low[0]) * u, low[1] + (high[1] - low[1]) * u
            if exponential(rng) >= top - (a - 1.0) * math.log(x) - (b - 1.0) * math.log(rest):
                return x, rest
    return invert_between(rng, a, b, low, high)


def largest_log_density(a, b, low, high):
    """Return the largest (a−1) log x + (b−1) log(1−x) on an interval inside (0, 1): at an end or at the mode."""
    at_low = (a - 1.0) * math.log(low[0]) + (b - 1.0) * math.log(low[1])
    at_high = (a - 1.0) * math.log(high[0]) + (b - 1.0) * math.log(high[1])
    top = max(at_low, at_high)
    if a > 1.0 and b > 1.0:
        mode, rest = (a - 1.0) / (a + b - 2.0), (b - 1.0) / (a + b - 2.0)
        if low[0] < mode < high[0]:
            top = max(top, (a - 1.0) * math.log(mode) + (b - 1.0) * math.log(rest))
    return top


def invert_between(rng, a, b, low, high):
    """Draw x by inversion of log I_x, or of its mirror image: whichever tail is the smaller."""
    u = uniform(rng)
    log_high, log_rest = log_beta_inc(a, b, high[0], high[1]), log_beta_inc(b, a, low[1], low[0])
    if log_high <= log_rest:
        target = between_logs(log_beta_inc(a, b, low[0], low[1]), log_high, u)
        return logit_parts(log_beta_inc_inverse(a, b, target, log_odds(high[0], high[1])))
    target = between_logs(log_beta_inc(b, a, high[1], high[0]), log_rest, u)
    rest, x = logit_parts(log_beta_inc_inverse(b, a, target, log_odds(low[1], low[0])))
    return x, rest


def between_logs(low, high, u):
    """Return log((1−u) e^high + u e^low) for low ≤ high and u < 1."""
    return high + math.log1p(-u) if low == -math.inf else high + math.log1p(u * math.expm1(low - high))


def log_odds(x, rest):
    """Return the logit, at most 800: beyond it both tails are rounded to 0 and 1."""
    return math.log(x) - math.log(rest) if rest > 0.0 else 800.0


def height(about, value):
    """Return the log density with one of the two coordinates, logit a/(a+b) or log(a+b), replaced by a value."""
    place, size, axis, sums, shape, rate = about
    if axis == 0:
        return shapes_log_density(value, size, sums, shape, rate)
    return shapes_log_density(place, value, sums, shape, rate)


slice_shape = make_slice_step(height)


def shapes_log_density(place, size, sums, shape, rate):
    """Return the log posterior density of (logit a/(a+b), log(a+b)): likelihood, priors and the Jacobian a·b."""
    log_a = size - math.log1p(math.exp(-place))
    log_b = size - math.log1p(math.exp(place))
    a, b = math.exp(log_a), math.exp(log_b)
    n, sum_log, sum_log_rest, edges_low, edges_high = sums
    likelihood = -n * log_beta(a, b) + (a - 1.0) * sum_log + (b - 1.0) * sum_log_rest
    edges = -edges_low * log_a - edges_high * log_b
    value = likelihood + edges + shape * (log_a + log_b) - rate * (a + b)
    return value if value == value else -math.inf
