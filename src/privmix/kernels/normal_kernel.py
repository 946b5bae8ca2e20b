"""Normal components, whatever their base measure."""

from __future__ import annotations

import math
from typing import ClassVar

from privmix.kernels.base import Kernel
from privmix.numerics import normal, normal_cdf
from privmix.numerics.normal_tails import normal_between, normal_excess, normal_mass


class NormalKernel(Kernel):
    """Normal components N(μ, σ²): the base of kernels that differ in their base measure alone.

    A pair that is registered for this class serves all of them.
    """

    parameters: ClassVar[tuple[str, ...]] = ("mean", "variance")
    positive: ClassVar[tuple[str, ...]] = ("variance",)
    constants: ClassVar[int] = 3

    def log_f(self, y, theta):
        """Return log N(y | μ, σ²)."""
        deviation = y - theta[0]
        return theta[4] - theta[3] * deviation * deviation

    def sample(self, rng, theta):
        """Draw y ~ N(μ, σ²)."""
        return theta[0] + theta[2] * normal(rng)

    def prepare(self, theta):
        """Keep σ, 1/(2σ²) and −log(σ√2π): a division and a logarithm less for each record."""
        theta[2] = math.sqrt(theta[1])
        theta[3] = 0.5 / theta[1]
        theta[4] = -0.5 * math.log(2.0 * math.pi * theta[1])

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
