"""The Gaussian mechanism: z = y + N(0, scale²)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privmix.mechanisms.additive import settle_scale
from privmix.mechanisms.base import LocalMechanism
from privmix.parts import PerRecord, given
from privmix.privacy import ZCDP, ApproxDP, gaussian_scale


@dataclass(frozen=True, eq=False)
class Gaussian(LocalMechanism):
    """Add Gaussian noise to each record.

    Guarantee: with width Δ = upper − lower, ρ-zero-concentrated differential privacy for ρ = Δ²/(2·scale²) (Bun and
    Steinke 2016, Proposition 1.6), and (ε, δ)-differential privacy where Φ(Δ/2η − εη/Δ) − e^ε Φ(−Δ/2η − εη/Δ) ≤ δ
    (Balle and Wang 2018, Theorem 8: necessary and sufficient, at every ε). The classical η = √(2 log(1.25/δ)) Δ/ε,
    which the paper uses at ε = 5…50, is proven for ε < 1 only and is not used here.

    Parameters
    ----------
    epsilon, delta
        Wanted (ε, δ); needs bounds. Gives the least noise that has it.
    bounds
        Range of a record, known without looking at the data.
    rho
        Wanted zCDP budget instead of (ε, δ), a number or one for each record.
    scale
        Standard deviation of the noise instead of a guarantee, a number or one for each record.
    """

    epsilon: float | np.ndarray | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] | None = given()
    rho: float | np.ndarray | None = given()
    scale: PerRecord = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if (self.epsilon is None) != (self.delta is None):
            raise ValueError(
                "Gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
                f"epsilon={self.epsilon!r} and delta={self.delta!r}. For a single budget use rho=."
            )
        rest = {} if self.delta is None else {"delta": self.delta}
        settle_scale(self, gaussian_scale, epsilon=self.epsilon, rho=self.rho, **rest)

    @property
    def guarantee(self) -> ApproxDP | ZCDP | None:
        """(ε, δ)-DP where that was asked for, else ρ-zCDP of the least noisy record; None without bounds."""
        if self.bounds is None:
            return None
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(float(np.max(self.epsilon)), float(self.delta))
        return ZCDP(float(0.5 * ((self.bounds[1] - self.bounds[0]) / np.min(self.scale)) ** 2))

    def noise_spread(self) -> float:
        """Return η, over the records in the mean square."""
        return math.sqrt(float(np.mean(np.square(self.scale))))

    def log_q(self, z, y):
        """Return log N(z | y, η²)."""
        deviation = (z - y) / self.scale
        return -0.5 * deviation * deviation - math.log(self.scale) - 0.5 * math.log(2.0 * math.pi)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        return y + self.scale * rng.standard_normal(y.shape)
