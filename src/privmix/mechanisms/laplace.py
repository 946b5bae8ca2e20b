"""The Laplace mechanism: z = y + Laplace(0, scale).

References
----------
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC
    2016-B.
Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from privmix.mechanisms.additive import AdditiveNoise
from privmix.mechanisms.noise import distance_from
from privmix.parts import PerRecord, given
from privmix.parts.checks import FloatOrArray, plain, positive
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class Laplace(AdditiveNoise):
    """Add Laplace noise to each record.

    Guarantee: ε-differential privacy with ε = (upper − lower)/scale for records inside the bounds (Dwork, McSherry,
    Nissim and Smith 2006, Proposition 1: the log-ratio of two densities is at most |y − y'|/scale). Where records
    have scales of their own, the guarantee is that of the least noise.

    Parameters
    ----------
    epsilon
        Wanted ε, a number or one for each record; needs bounds.
    bounds
        Range of a record, known without looking at the data.
    rho
        Wanted zCDP budget instead of ε: uses ε = √(2ρ), since ε-DP implies ε²/2-zCDP.
    scale
        Scale of the noise instead of a guarantee, a number or one for each record.
    """

    epsilon: float | np.ndarray | None = given()
    bounds: tuple[float, float] | None = given()
    rho: float | np.ndarray | None = given()
    scale: PerRecord = None  # type: ignore[assignment]

    in_words = "each record was published with Laplace noise added to it"

    def __post_init__(self) -> None:
        self.fill_scale(laplace_scale)

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[Laplace]:
        """Return the one setting that a budget leaves."""
        return [cls(bounds=bounds, **budget)]

    @property
    def guarantee(self) -> PureDP | None:
        """Pure ε-DP of the least noisy record, or None without bounds."""
        if self.bounds is None:
            return None
        return PureDP(float((self.bounds[1] - self.bounds[0]) / np.min(self.scale)))

    def noise_spread(self) -> float:
        """Return √2·b, over the records in the mean square."""
        return math.sqrt(2.0 * float(np.mean(np.square(self.scale))))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return −d/b − log 2 for numbers at a distance d from the interval."""
        return -distance_from(interval, z) / self.scale - math.log(2.0)

    def noise_transform(self, t: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return 1/(1 + b²t²)."""
        return 1.0 / (1.0 + np.square(scale * t))

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy, through the nearer tail so that no digits are lost far out."""
        b, width = np.reshape(self.scale, (-1, 1)), np.diff(edges)
        right = z[:, None] - edges[:-1]  # distances from z to the left and to the right edge, positive inside the cell
        left = edges[1:] - z[:, None]
        beyond = np.maximum(np.maximum(-right, -left), 0.0)  # how far z is outside the cell
        outside = -beyond / b + np.log(-np.expm1(-width / b)) - math.log(2.0)
        near = 0.5 * (np.expm1(-np.maximum(right, 0.0) / b) + np.expm1(-np.maximum(left, 0.0) / b))
        with np.errstate(divide="ignore"):  # log 0 where z lies outside: not chosen
            return np.where(beyond > 0.0, outside, np.log(-near)) - np.log(width)

    def log_q(self, z, y):
        """Return log q(z|y) = −|z − y|/b − log 2b."""
        return -abs(z - y) / self.scale - math.log(2.0 * self.scale)

    def log_between(self, low, high, y):
        """Return log P(low < Z ≤ high|y), through the nearer tail."""
        left, right, width = (low - y) / self.scale, (high - y) / self.scale, (high - low) / self.scale
        if left < 0.0 < right:
            return math.log(-0.5 * (math.expm1(left) + math.expm1(-right)))
        return -max(left, -right) + math.log(-0.5 * math.expm1(-width))

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        return y + rng.laplace(0.0, self.scale, size=y.shape)


def laplace_scale(
    sensitivity: ArrayLike, *, epsilon: ArrayLike | None = None, rho: ArrayLike | None = None
) -> FloatOrArray:
    """Return the scale of Laplace noise for a budget: sensitivity / epsilon.

    Noise of density exp(-|x|/s)/(2s) changes its log density by at most Delta/s when its centre moves by
    Delta (Dwork and Roth 2014, Theorem 3.6). With `rho`, epsilon = sqrt(2 rho), because epsilon-DP implies
    (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4).

    Parameters
    ----------
    sensitivity : float or array
        Largest L1 distance between the noiseless outputs of two neighbours: upper − lower for one number.
    epsilon, rho : float or array
        Exactly one; an array gives a budget to each record.

    Returns
    -------
    float or ndarray
        An array where any argument is one.
    """
    if (epsilon is None) == (rho is None):
        raise ValueError(
            f"laplace_scale was given epsilon={epsilon!r} and rho={rho!r}, but needs exactly one of them. "
            f"Give epsilon for pure differential privacy or rho for the zero-concentrated kind."
        )
    width = positive("sensitivity", sensitivity)
    budget = np.sqrt(2 * positive("rho", rho)) if epsilon is None else positive("epsilon", epsilon)
    return plain(width / budget)
