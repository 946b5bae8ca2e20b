"""The normal kernel with a base measure that learns its own location and scale: the default of `privmix.fit`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privmix.kernels.normal_kernel import NormalKernel
from privmix.numerics import gamma, normal
from privmix.parts.checks import check_interval

# Shape of the inverse-gamma prior of a component's variance: its mean exists, its tail lets components be wide.
SHAPE = 3.0


@dataclass(frozen=True)
class HierarchicalNormal(NormalKernel):
    """Normal components N(μ, σ²) with independent μ ~ N(location, spread) and σ² ~ InverseGamma(3, rate), all learned.

    With width W and midpoint M of the bounds: location ~ N(M, (W/4)²), spread ~ InverseGamma(2, (W/4)²) and
    rate ~ Gamma(2, 2/(3(W/20)²)), whose mean is 3(W/20)². Nothing but the bounds enters, and all scales with them:
    data and bounds times c give the same fit, stretched by c. Learning the rate is what makes loose bounds harmless.

    Parameters
    ----------
    bounds
        Range that the data are known to lie in.
    """

    bounds: tuple[float, float] = (0.0, 1.0)

    hyperparameters: ClassVar[tuple[str, ...]] = ("location", "spread", "rate")

    def __post_init__(self) -> None:
        check_interval(self, "bounds")

    def base(self, rng, theta, hyper):
        """Draw μ ~ N(location, spread) and σ² ~ InverseGamma(3, rate)."""
        theta[0] = hyper[0] + math.sqrt(hyper[1]) * normal(rng)
        theta[1] = hyper[2] / gamma(rng, SHAPE)

    def log_base(self, theta, hyper):
        """Return the log density of the base measure at (μ, σ²)."""
        if theta[1] <= 0.0:
            return -math.inf
        deviation = theta[0] - hyper[0]
        log_mean = -0.5 * deviation * deviation / hyper[1] - 0.5 * math.log(2.0 * math.pi * hyper[1])
        log_variance = SHAPE * math.log(hyper[2]) - math.lgamma(SHAPE) - (SHAPE + 1.0) * math.log(theta[1])
        return log_mean + log_variance - hyper[2] / theta[1]

    def update(self, rng, theta, ys, tune, hyper):
        """Draw μ given σ², then σ² given μ: each from its conditional."""
        n = len(ys)
        total = 0.0
        for j in range(n):
            total += ys[j]
        precision = 1.0 / hyper[1] + n / theta[1]
        theta[0] = (hyper[0] / hyper[1] + total / theta[1]) / precision + normal(rng) / math.sqrt(precision)
        squares = 0.0
        for j in range(n):
            deviation = ys[j] - theta[0]
            squares += deviation * deviation
        theta[1] = (hyper[2] + 0.5 * squares) / gamma(rng, SHAPE + 0.5 * n)

    def base_hyper(self, rng, hyper):
        """Draw location, spread and rate from their priors."""
        quarter = 0.25 * (self.bounds[1] - self.bounds[0])
        hyper[0] = 0.5 * (self.bounds[0] + self.bounds[1]) + quarter * normal(rng)
        hyper[1] = quarter * quarter / gamma(rng, 2.0)
        hyper[2] = gamma(rng, 2.0) / rate_of_rate(self.bounds[1] - self.bounds[0])

    def update_hyper(self, rng, hyper, atoms):
        """Draw rate, location and spread from their conditionals given the K occupied atoms.

        rate ~ Gamma(2 + 3K, 2/(3(W/20)²) + Σ 1/σ²); location ~ N(p/q, 1/q) with q = 16/W² + K/spread and
        p = 16M/W² + Σμ/spread; spread ~ InverseGamma(2 + K/2, (W/4)² + ½Σ(μ − location)²).
        """
        k = len(atoms)
        quarter = 0.25 * (self.bounds[1] - self.bounds[0])
        middle = 0.5 * (self.bounds[0] + self.bounds[1])
        inverse, total = 0.0, 0.0
        for h in range(k):
            inverse += 1.0 / atoms[h, 1]
            total += atoms[h, 0]
        hyper[2] = gamma(rng, 2.0 + SHAPE * k) / (rate_of_rate(self.bounds[1] - self.bounds[0]) + inverse)
        precision = 1.0 / (quarter * quarter) + k / hyper[1]
        centre = (middle / (quarter * quarter) + total / hyper[1]) / precision
        hyper[0] = centre + normal(rng) / math.sqrt(precision)
        squares = 0.0
        for h in range(k):
            deviation = atoms[h, 0] - hyper[0]
            squares += deviation * deviation
        hyper[1] = (quarter * quarter + 0.5 * squares) / gamma(rng, 2.0 + 0.5 * k)


def rate_of_rate(width):
    """Return the rate of the gamma prior of `rate`: its mean 3(W/20)² makes E[1/σ²] = 1/(W/20)²."""
    return 2.0 / (3.0 * (width / 20.0) ** 2)
