"""The square wave mechanism: z is uniform close to y with high density, and anywhere else with low density.

References
----------
Li, Z., Wang, T., Lopuhaa-Zwakenberg, M., Skoric, B. and Li, N. (2020). Estimating numerical distributions under local
    differential privacy. SIGMOD.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privmix.mechanisms.ratios import ThreeRatios, budget
from privmix.parts import given
from privmix.parts.checks import check_bounds, fill, single

# The wave is about ε e^−ε wide: beyond this its width and its height leave the range of floats.
LARGEST_EPSILON = 700.0
# A release that was written as text and read again may lie outside its range by rounding: this much of the width.
_ROUNDING = 1e-9
# Half-width of the narrowest cell, in units of the bounds: floating point must tell its edges apart. A narrower wave is
# widened to it and lowered in proportion, which changes g(z|θ) by (1e-7 upper−lower / σ)² for a kernel of spread σ.
_NARROWEST = 1e-7


@dataclass(frozen=True)
class SquareWave(ThreeRatios):
    """Release z with density p where |z − y| ≤ b and q elsewhere on [−b, 1 + b], for y in [0, 1].

    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li (2020): p = e^ε/(2b e^ε + 1), q = 1/(2b e^ε + 1). Other bounds are
    mapped onto [0, 1]; y outside the bounds counts as the nearest bound. The default b is theirs, which maximises a
    bound of the information that z has on y: 1/2 as ε → 0, about ε e^−ε/2 for large ε. Beyond ε ≈ 35 it is below the
    spacing of floating-point numbers, and a release is y itself or uniform. Samplers that draw records exactly serve
    any ε; those that propose them need a wave that a proposal can hit, up to ε ≈ 8.

    Guarantee: ε-differential privacy for any two records, exact whatever b is, because the density of an output takes
    two values whose ratio is p/q = e^ε; the proof is with `square_wave_parameters`. Also ρ-zero-concentrated with the ρ
    of `zcdp`: at ε = 1 .368, where ε²/2 = .5.

    Parameters
    ----------
    epsilon
        Wanted ε, at most 700.
    bounds
        Range of a record, known without looking at the data.
    half_width
        Half-width b of the wave in units of upper − lower, if not the default.
    rho
        Wanted zCDP budget instead of ε.
    """

    epsilon: float = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    half_width: float = given()
    rho: float | None = given()
    reach: float = field(init=False, repr=False)
    slack: float = field(init=False, repr=False)
    log_high: float = field(init=False, repr=False)
    log_low: float = field(init=False, repr=False)
    cell_reach: float = field(init=False, repr=False)
    cell_log_high: float = field(init=False, repr=False)

    in_words = "of each record a number was published that is likely close to it, and may be anywhere"

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.epsilon is None and self.rho is None:
            raise ValueError(f"{owner} needs epsilon=, the ratio of its two densities being e^ε; got none.")
        bounds = check_bounds(self.bounds, needed_for=owner)
        assert bounds is not None
        if self.rho is not None:
            fill(self, epsilon=budget(owner, self._variation_at, self.epsilon, self.rho))
        half_width, high, _ = square_wave_parameters(self.epsilon, self.width_at(self.epsilon))
        width = bounds[1] - bounds[0]
        log_high = math.log(high) - math.log(width)
        cell = max(half_width, _NARROWEST)
        share = half_width / cell
        fill(
            self,
            bounds=bounds,
            half_width=half_width,
            reach=half_width * width,
            slack=_ROUNDING * width + 4.0 * float(np.spacing(max(abs(bounds[0]), abs(bounds[1])))),
            log_high=log_high,
            log_low=log_high - float(self.epsilon),
            cell_reach=cell * width,
            cell_log_high=log_high + math.log(share + math.exp(-self.epsilon) * (1.0 - share)),
        )

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[SquareWave]:
        """Return the wave of a budget."""
        return [cls(bounds=bounds, **budget)]

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return self._variation_at(self.epsilon)

    def width_at(self, epsilon: float) -> float | None:
        """Return the half-width to use at ε; None for that of `square_wave_parameters`."""
        return self.half_width

    def _variation_at(self, epsilon: float) -> float:
        return square_wave_variation(epsilon, self.width_at(epsilon))

    @property
    def release_range(self) -> tuple[float, float]:
        """The bounds, and the reach of the wave on either side."""
        return self.bounds[0] - self.reach, self.bounds[1] + self.reach

    def log_q(self, z, y):
        """Return log q(z|y); −∞ where z is further than b from the bounds."""
        lower, upper = self.bounds
        if not lower - self.slack <= z + self.reach or not z - self.reach <= upper + self.slack:
            return -math.inf if z == z else math.nan
        inside = min(max(y, lower), upper)
        return self.log_high if z - self.reach <= inside <= z + self.reach else self.log_low

    def log_between(self, low, high, y):
        """Return log P(low < Z ≤ high|y): what the interval has of the range, and of the wave."""
        lower, upper, reach = self.bounds[0], self.bounds[1], self.reach
        inside = min(max(y, lower), upper)
        length = min(high, upper + reach) - max(low, lower - reach)
        wave = min(high - inside, reach) - max(low - inside, -reach)
        if not length > 0.0:
            return -math.inf
        return self.log_low + math.log(length + math.expm1(self.log_high - self.log_low) * max(wave, 0.0))

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy.

        Distances are taken from z, since a wave may be narrower than the spacing of floats at z.
        """
        wave = np.diff(np.clip(edges - z[:, None], -self.reach, self.reach), axis=1)
        return np.log1p(math.expm1(self.log_high - self.log_low) * wave / np.diff(edges)) + self.log_low

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant: below, on and above the wave (hook)."""
        return 1 + _has_left(self, z) + _has_right(self, z)

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0 (hook)."""
        return z - self.cell_reach if j == 1 and _has_left(self, z) else z + self.cell_reach

    def cell_log_q(self, z, j):
        """Return log q(z|cell j) (hook)."""
        touches = z + self.cell_reach >= self.bounds[0] and z - self.cell_reach <= self.bounds[1]
        return self.cell_log_high if touches and j == int(_has_left(self, z)) else self.log_low

    def resolution(self) -> float:
        """Return the width of the wave over √12, wider by the probability of the rest."""
        lower, upper = self.bounds
        return (upper - lower) * (2.0 * self.half_width + math.exp(-self.epsilon)) / math.sqrt(12.0)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y; y outside the bounds counts as the nearest bound.

        What is left of [lower − reach, upper + reach] beside the wave is as long as the bounds: a uniform point of the
        bounds is moved by the reach, away from y.
        """
        lower, upper = self.bounds
        y = np.clip(y, lower, upper)
        near = 2.0 * self.half_width / (2.0 * self.half_width + math.exp(-self.epsilon))
        point = rng.uniform(lower, upper, size=y.shape)
        away = np.where(point < y, point - self.reach, point + self.reach)
        wave = y + self.reach * rng.uniform(-1.0, 1.0, size=y.shape)
        return np.where(rng.random(y.shape) < near, wave, away)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of floats in the mechanism's range, or say what is wrong with it."""
        z = super().check_release(z)
        lower, upper = self.bounds
        bad = (z + self.reach < lower - self.slack) | (z - self.reach > upper + self.slack)
        if bad.any():
            raise ValueError(
                f"{type(self).__name__} releases numbers from {lower - self.reach:g} to {upper + self.reach:g}; the "
                f"release z has {np.count_nonzero(bad)} other values, the first {z[bad][0]:g}. "
                "Check that the mechanism is the one that made the release."
            )
        return z


# The wave is closed, so its left edge counts where it is above the lower bound and at most the upper one, beyond which
# y is clamped; its right edge the other way round.
def _has_left(part, z):
    """Return whether the wave's left edge separates values of y."""
    return part.bounds[0] < z - part.cell_reach <= part.bounds[1]


def _has_right(part, z):
    """Return whether the wave's right edge separates values of y."""
    return part.bounds[0] <= z + part.cell_reach < part.bounds[1]


def square_wave_parameters(epsilon: float, half_width: float | None = None) -> tuple[float, float, float]:
    """Return half-width b, high density p and low density q of the square wave on [0, 1].

    The output lies in [-b, 1 + b], with density p within b of y and q elsewhere. What is not within b has length 1, so
    2 b p + q = 1; the densities of an output under two inputs have the ratio 1 or p/q, so epsilon-DP is p <= e^epsilon
    q. Equality gives p = e^epsilon/(2 b e^epsilon + 1) and q = p e^-epsilon (Li et al. 2020). Their b maximises an
    upper bound of the mutual information of input and output:

        b = (epsilon e^epsilon - e^epsilon + 1)/(2 e^epsilon (e^epsilon - 1 - epsilon)) = f(-epsilon)/(2 f(epsilon)),

    with f(x) = (e^x - 1 - x)/x^2 = 1/2 + x/6 + x^2/24 + ..., whose series is used where the fraction cancels.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy, at most 700.
    half_width : float, optional
        A half-width b to use instead.

    Returns
    -------
    tuple of float
        (half_width, high, low).
    """
    budget = single("epsilon", epsilon)
    if budget > LARGEST_EPSILON:
        raise ValueError(
            f"The square wave was given epsilon={epsilon!r}, but needs epsilon <= {LARGEST_EPSILON:g}: beyond, its "
            f"width is below the smallest float. Such a release is the data themselves; use a smaller epsilon."
        )
    b = _square_wave_width(budget) if half_width is None else single("half_width", half_width)
    high = 1.0 / (2.0 * b + math.exp(-budget))
    return b, high, high * math.exp(-budget)


def square_wave_variation(epsilon: float, half_width: float | None = None) -> float:
    """Return the largest total variation between the releases of two inputs: (p - q) min(2b, 1).

    The waves of two inputs that are apart by x, at most 1, share 2b - min(x, 2b) of their length, and where one has its
    wave alone the densities differ by p - q.

    Parameters
    ----------
    epsilon, half_width
        As in `square_wave_parameters`.
    """
    b, high, _ = square_wave_parameters(epsilon, half_width)
    return high * -math.expm1(-epsilon) * min(2.0 * b, 1.0)


def _square_wave_width(epsilon: float) -> float:
    """Return b = f(-epsilon)/(2 f(epsilon)), f(x) = (e^x - 1 - x)/x^2."""
    if epsilon < 1.0:
        # The first term left out is 1/20!, 4e-19.
        rising, falling = (sum(x**k / math.factorial(k + 2) for k in range(18)) for x in (epsilon, -epsilon))
        return falling / (2.0 * rising)
    return (math.expm1(-epsilon) + epsilon) / (2.0 * (math.expm1(epsilon) - epsilon))
