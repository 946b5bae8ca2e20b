"""The normal kernel with its conjugate Normal-Inverse-Gamma base measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privmix.kernels.normal_kernel import NormalKernel
from privmix.numerics import gamma, normal
from privmix.parts.checks import check_number, check_positive


@dataclass(frozen=True)
class Normal(NormalKernel):
    """Normal components N(μ, σ²) with μ | σ² ~ N(mean, σ²/precision_scale) and σ² ~ InverseGamma(shape, rate).

    The paper's Section 4.1 uses ``Normal(mean=0, precision_scale=.1, shape=3, rate=3)``, that is
    N(μ | 0, 10σ²) × IG(σ² | 3, 3).

    Parameters
    ----------
    mean
        Prior mean of μ.
    precision_scale
        Prior precision of μ in units of 1/σ²: the weight of the prior mean, in records.
    shape, rate
        Of the inverse-gamma prior of σ².
    """

    mean: float = 0.0
    precision_scale: float = 0.1
    shape: float = 3.0
    rate: float = 3.0

    def __post_init__(self) -> None:
        check_number(self, "mean")
        check_positive(self, "precision_scale", "shape", "rate")

    def base(self, rng, theta):
        """Draw (μ, σ²) ~ NIG."""
        theta[1] = self.rate / gamma(rng, self.shape)
        theta[0] = self.mean + math.sqrt(theta[1] / self.precision_scale) * normal(rng)

    def log_base(self, theta):
        """Return the log density of NIG at (μ, σ²)."""
        if theta[1] <= 0.0:
            return -math.inf
        deviation = theta[0] - self.mean
        log_mean = 0.5 * math.log(self.precision_scale / (2.0 * math.pi * theta[1]))
        log_mean -= 0.5 * self.precision_scale * deviation * deviation / theta[1]
        log_variance = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return log_mean + log_variance - (self.shape + 1.0) * math.log(theta[1]) - self.rate / theta[1]

    def update(self, rng, theta, ys, tune):
        """Draw (μ, σ²) from its conditional given the ys.

        It is NIG with λ+n, (λm + nȳ)/(λ+n), a + n/2 and b + ½Σ(y−ȳ)² + ½ λn(ȳ−m)²/(λ+n).
        """
        n = len(ys)
        average = 0.0
        spread = 0.0
        for j in range(n):  # Welford's update: no cancellation however far the data are from 0
            deviation = ys[j] - average
            average += deviation / (j + 1)
            spread += deviation * (ys[j] - average)
        precision = self.precision_scale + n
        gap = average - self.mean
        rate = self.rate + 0.5 * spread + 0.5 * self.precision_scale * n * gap * gap / precision
        theta[1] = rate / gamma(rng, self.shape + 0.5 * n)
        centre = (self.precision_scale * self.mean + n * average) / precision
        theta[0] = centre + math.sqrt(theta[1] / precision) * normal(rng)
