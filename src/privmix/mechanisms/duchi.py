"""Duchi's two-point mechanism: one of two numbers, whose mean is the record.

References
----------
Duchi, J. C., Jordan, M. I. and Wainwright, M. J. (2018). Minimax optimal procedures for locally private estimation.
    Journal of the American Statistical Association.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privmix.mechanisms.ratios import ThreeRatios, budget
from privmix.parts import given
from privmix.parts.checks import check_bounds, fill

# A release that was written as text and read again may be off by rounding: this much of the width.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Duchi(ThreeRatios):
    """Release one of the numbers m ± h/tanh(ε/2), with m the middle and h half the width of the bounds; its mean is y.

    With u the place of y between the bounds, from 0 to 1, the upper number has probability (u e^ε + 1 − u)/(e^ε + 1)
    (Duchi, Jordan and Wainwright 2018). y outside the bounds counts as the nearest bound. Of all mechanisms for a mean
    it is the best at small ε. Of a density it tells nothing but the mean: it is here for comparison.

    Guarantee: ε-differential privacy for any two records, exact: both probabilities lie between 1/(e^ε + 1) and
    e^ε/(e^ε + 1), which the bounds attain. Also ρ-zero-concentrated with the ρ of `zcdp`: laws of all records are
    mixtures of those of the two bounds and Rényi divergences quasi-convex, so that the bounds are the worst pair.

    Parameters
    ----------
    epsilon
        Wanted ε.
    bounds
        Range of a record, known without looking at the data.
    rho
        Wanted zCDP budget instead of ε.
    """

    epsilon: float = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    rho: float | None = given()
    reach: float = field(init=False, repr=False)
    lie: float = field(init=False, repr=False)

    in_words = "of each record one of two numbers was published, the upper one more often the larger the record is"

    def __post_init__(self) -> None:
        bounds = check_bounds(self.bounds, needed_for="Duchi")
        assert bounds is not None
        epsilon = budget("Duchi", duchi_variation, self.epsilon, self.rho)
        reach = 0.5 * (bounds[1] - bounds[0]) / duchi_variation(epsilon)
        fill(self, epsilon=epsilon, bounds=bounds, reach=reach, lie=math.exp(-epsilon))

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return duchi_variation(self.epsilon)

    @property
    def outputs(self) -> np.ndarray:
        """The two numbers."""
        return 0.5 * (self.bounds[0] + self.bounds[1]) + self.reach * np.array([-1.0, 1.0])

    def log_q(self, z, y):
        """Return log P(z|y); −∞ where z is neither of the two numbers."""
        lower, upper = self.bounds
        offset = z - 0.5 * (lower + upper)
        if not abs(abs(offset) - self.reach) <= _ROUNDING * self.reach:
            return -math.inf if z == z else math.nan
        place = (min(max(y, lower), upper) - lower) / (upper - lower)
        share = place if offset > 0.0 else 1.0 - place
        return math.log(share + (1.0 - share) * self.lie) - math.log1p(self.lie)

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy: q is linear in y, and its mean that of the ends of a cell in the bounds."""
        left, right = (np.exp(self.logpdf(z[:, None], ends)) for ends in (edges[:-1], edges[1:]))
        return np.log(0.5 * (left + right))

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        lower, upper = self.bounds
        place = (np.clip(y, lower, upper) - lower) / (upper - lower)
        higher = rng.random(y.shape) * (1.0 + self.lie) < place + (1.0 - place) * self.lie
        return self.outputs[higher.astype(int)]

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the nearer quarter of the bounds."""
        lower, upper = self.bounds
        return lower + (upper - lower) * np.where(z > 0.5 * (lower + upper), 0.75, 0.25)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of the two numbers, or say what is wrong with it."""
        z = super().check_release(z)
        low, high = self.outputs
        bad = np.minimum(np.abs(z - low), np.abs(z - high)) > _ROUNDING * self.reach
        if bad.any():
            raise ValueError(
                f"Duchi releases the numbers {low:.6g} and {high:.6g}; the release z has {np.count_nonzero(bad)} other "
                f"values, the first {z[bad][0]:g}. Check that the mechanism is the one that made the release."
            )
        return z


def duchi_variation(epsilon: float) -> float:
    """Return the largest total variation between the releases of two records: (e^epsilon - 1)/(e^epsilon + 1).

    That of the two bounds, whose probabilities of the upper number are e^epsilon/(e^epsilon + 1) and 1/(e^epsilon + 1).

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    """
    return math.tanh(0.5 * epsilon)
