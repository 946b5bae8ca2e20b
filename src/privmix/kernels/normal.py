"""The normal kernel with its conjugate Normal-Inverse-Gamma base measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privmix.kernels.base import Kernel
from privmix.numerics import gamma, normal, normal_cdf
from privmix.numerics.normal_tails import normal_between, normal_excess, normal_mass
from privmix.parts.checks import check_number, check_positive


@dataclass(frozen=True)
class Normal(Kernel):
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

    parameters: ClassVar[tuple[str, ...]] = ("mean", "variance")
    positive: ClassVar[tuple[str, ...]] = ("variance",)
    constants: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_number(self, "mean")
        check_positive(self, "precision_scale", "shape", "rate")

    def log_f(self, y, theta):
        """Return log N(y | μ, σ²)."""
        deviation = y - theta[0]
        return theta[4] - theta[3] * deviation * deviation

    def sample(self, rng, theta):
        """Draw y ~ N(μ, σ²)."""
        return theta[0] + theta[2] * normal(rng)

    def prepare(self, theta):
        """Keep σ, 1/(2σ²) and −log(σ√2π): a division and a logarithm less for each record."""
        prepare_normal(theta)

    def cdf(self, y, theta):
        """Return P(Y ≤ y | μ, σ²)."""
        return normal_cdf((y - theta[0]) / theta[2])

    def mass(self, lower, upper, theta):
        """Return P(lower < Y ≤ upper | μ, σ²), accurate in both tails."""
        return normal_mass((lower - theta[0]) / theta[2], (upper - theta[0]) / theta[2])

    def central_moments(self, theta, out):
        """Write μ, σ², 0 and 3σ⁴."""
        out[0], out[1], out[2], out[3] = theta[0], theta[1], 0.0, 3.0 * theta[1] * theta[1]

    def sample_between(self, rng, theta, lower, upper):
        """Draw y ~ N(μ, σ²) truncated to [lower, upper]."""
        return sample_normal_between(rng, theta[0], theta[2], lower, upper)

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


def prepare_normal(theta):
    """Fill σ, 1/(2σ²) and −log(σ√2π) after (μ, σ²)."""
    theta[2] = math.sqrt(theta[1])
    theta[3] = 0.5 / theta[1]
    theta[4] = -0.5 * math.log(2.0 * math.pi * theta[1])


def sample_normal_between(rng, mean, sd, lower, upper):
    """Draw from N(mean, sd²) truncated to [lower, upper]; either may be infinite.

    Beyond the bulk the distance to the nearer end is drawn, which keeps its digits however far out that end is.
    """
    a, b = (lower - mean) / sd, (upper - mean) / sd
    if a > 0.5:
        y = lower + sd * normal_excess(rng, a, (upper - lower) / sd)
    elif b < -0.5:
        y = upper - sd * normal_excess(rng, -b, (upper - lower) / sd)
    else:
        y = mean + sd * normal_between(rng, a, b)
    return min(max(y, lower), upper)
