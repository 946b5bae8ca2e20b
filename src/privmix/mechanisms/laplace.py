"""The Laplace mechanism: z = y + Laplace(0, scale)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privmix.mechanisms.additive import settle_scale
from privmix.mechanisms.base import LocalMechanism
from privmix.parts import PerRecord, given
from privmix.privacy import PureDP, laplace_scale


@dataclass(frozen=True, eq=False)
class Laplace(LocalMechanism):
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

    def __post_init__(self) -> None:
        settle_scale(self, laplace_scale, epsilon=self.epsilon, rho=self.rho)

    @property
    def guarantee(self) -> PureDP | None:
        """Pure ε-DP of the least noisy record, or None without bounds."""
        if self.bounds is None:
            return None
        return PureDP(float((self.bounds[1] - self.bounds[0]) / np.min(self.scale)))

    def noise_spread(self) -> float:
        """Return √2·b, over the records in the mean square."""
        return math.sqrt(2.0 * float(np.mean(np.square(self.scale))))

    def log_q(self, z, y):
        """Return log q(z|y) = −|z − y|/b − log 2b."""
        return -abs(z - y) / self.scale - math.log(2.0 * self.scale)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        return y + rng.laplace(0.0, self.scale, size=y.shape)
