"""A base measure of (μ, σ²) that learns its own location and scale, whatever the components are."""

from __future__ import annotations

import math
from typing import ClassVar

from privmix.kernels.base import Kernel
from privmix.numerics import gamma, normal

# In the place of a fixed hyperparameter: it is learned.
LEARNED = math.inf


class LearnedBase(Kernel):
    """Kernels with independent μ ~ N(location, spread) and σ² ~ InverseGamma(shape, rate), learned over the bounds.

    With width W and midpoint M of the bounds: location ~ N(M, (W/4)²), spread ~ InverseGamma(2, (W/4)²) and
    rate ~ Gamma(2, 2/(shape (W/20)²)), whose mean is shape·(W/20)². A subclass has the fields ``bounds``, ``shape`` and
    ``fixed``: location, spread and rate, each a number that is kept or `LEARNED`.
    """

    parameters: ClassVar[tuple[str, ...]] = ("mean", "variance")
    positive: ClassVar[tuple[str, ...]] = ("variance",)
    hyperparameters: ClassVar[tuple[str, ...]] = ("location", "spread", "rate")

    bounds: tuple[float, float]
    shape: float
    fixed: tuple[float, float, float]

    def base(self, rng, theta, hyper):
        """Draw μ ~ N(location, spread) and σ² ~ InverseGamma(shape, rate)."""
        theta[0] = hyper[0] + math.sqrt(hyper[1]) * normal(rng)
        theta[1] = hyper[2] / gamma(rng, self.shape)

    def log_base(self, theta, hyper):
        """Return the log density of the base measure at (μ, σ²)."""
        if theta[1] <= 0.0:
            return -math.inf
        deviation = theta[0] - hyper[0]
        log_mean = -0.5 * deviation * deviation / hyper[1] - 0.5 * math.log(2.0 * math.pi * hyper[1])
        log_variance = (
            self.shape * math.log(hyper[2]) - math.lgamma(self.shape) - (self.shape + 1.0) * math.log(theta[1])
        )
        return log_mean + log_variance - hyper[2] / theta[1]

    def base_hyper(self, rng, hyper):
        """Draw location, spread and rate from their priors; those that are fixed are written."""
        quarter = 0.25 * (self.bounds[1] - self.bounds[0])
        for p in range(3):
            hyper[p] = self.fixed[p]
        if hyper[0] == LEARNED:
            hyper[0] = 0.5 * (self.bounds[0] + self.bounds[1]) + quarter * normal(rng)
        if hyper[1] == LEARNED:
            hyper[1] = quarter * quarter / gamma(rng, 2.0)
        if hyper[2] == LEARNED:
            hyper[2] = gamma(rng, 2.0) / rate_of_rate(self.bounds[1] - self.bounds[0], self.shape)

    def update_hyper(self, rng, hyper, atoms):
        """Draw rate, location and spread from their conditionals given the K occupied atoms; those fixed are kept.

        rate ~ Gamma(2 + shape·K, 2/(shape (W/20)²) + Σ 1/σ²); location ~ N(p/q, 1/q) with q = 16/W² + K/spread and
        p = 16M/W² + Σμ/spread; spread ~ InverseGamma(2 + K/2, (W/4)² + ½Σ(μ − location)²).
        """
        k = len(atoms)
        quarter = 0.25 * (self.bounds[1] - self.bounds[0])
        middle = 0.5 * (self.bounds[0] + self.bounds[1])
        inverse, total = 0.0, 0.0
        for h in range(k):
            inverse += 1.0 / atoms[h, 1]
            total += atoms[h, 0]
        if self.fixed[2] == LEARNED:
            known = rate_of_rate(self.bounds[1] - self.bounds[0], self.shape)
            hyper[2] = gamma(rng, 2.0 + self.shape * k) / (known + inverse)
        if self.fixed[0] == LEARNED:
            precision = 1.0 / (quarter * quarter) + k / hyper[1]
            centre = (middle / (quarter * quarter) + total / hyper[1]) / precision
            hyper[0] = centre + normal(rng) / math.sqrt(precision)
        if self.fixed[1] == LEARNED:
            squares = 0.0
            for h in range(k):
                deviation = atoms[h, 0] - hyper[0]
                squares += deviation * deviation
            hyper[1] = (quarter * quarter + 0.5 * squares) / gamma(rng, 2.0 + 0.5 * k)


def rate_of_rate(width, shape):
    """Return the rate of the gamma prior of `rate`: its mean shape·(W/20)² makes E[1/σ²] = 1/(W/20)² there."""
    return 2.0 / (shape * (width / 20.0) ** 2)
