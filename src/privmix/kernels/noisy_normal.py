"""The normal kernel whose base measure is conjugate to the release through Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privmix.kernels.normal_kernel import NormalKernel
from privmix.numerics import normal
from privmix.numerics.incomplete_gamma import log_gamma_p, truncated_gamma
from privmix.parts.checks import check_number, check_positive


@dataclass(frozen=True)
class NoisyNormal(NormalKernel):
    """Normal components N(μ, σ²) with a Normal-Inverse-Gamma prior on (μ, τ²), where τ² = σ² + noise² ≥ noise².

    Under the Gaussian mechanism with standard deviation `noise`, a released record has variance τ², so this base
    measure is conjugate to the release (the paper's Section 3.3): μ | τ² ~ N(mean, τ²/precision_scale) and
    τ² ~ InverseGamma(shape, rate), truncated to τ² ≥ noise² and normalised by P(shape, rate/noise²).

    Parameters
    ----------
    noise
        Standard deviation of the noise: ``mechanism.scale``.
    mean, precision_scale, shape, rate
        As for `Normal`, on the scale of the release.
    """

    noise: float = 1.0
    mean: float = 0.0
    precision_scale: float = 0.1
    shape: float = 3.0
    rate: float = 3.0

    def __post_init__(self) -> None:
        check_number(self, "mean")
        check_positive(self, "noise", "precision_scale", "shape", "rate")

    @classmethod
    def for_mechanism(cls, mechanism: Any) -> Self:
        """Return the kernel with the noise of a mechanism."""
        noise = getattr(mechanism, "scale", None)
        if noise is None or np.ndim(noise) > 0:
            raise ValueError(
                f"NoisyNormal holds the standard deviation of the noise, and {type(mechanism).__name__} has no one "
                "scale for all records. Use another kernel."
            )
        return cls(noise=float(noise))

    def base(self, rng, theta):
        """Draw (μ, σ²): τ² = rate/γ with γ ~ Gamma(shape) below rate/noise²."""
        floor = self.noise * self.noise
        total = self.rate / truncated_gamma(rng, self.shape, self.rate / floor)
        theta[0] = self.mean + math.sqrt(total / self.precision_scale) * normal(rng)
        theta[1] = max(total - floor, 1e-12 * floor)

    def log_base(self, theta):
        """Return the log density at (μ, σ²), normalised."""
        if theta[1] <= 0.0:
            return -math.inf
        floor = self.noise * self.noise
        total = theta[1] + floor
        deviation = theta[0] - self.mean
        log_mean = 0.5 * math.log(self.precision_scale / (2.0 * math.pi * total))
        log_mean -= 0.5 * self.precision_scale * deviation * deviation / total
        log_total = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        log_total -= (self.shape + 1.0) * math.log(total) + self.rate / total
        return log_mean + log_total - log_gamma_p(self.shape, self.rate / floor)
