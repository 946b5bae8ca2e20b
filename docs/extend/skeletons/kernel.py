"""Skeleton of a kernel: Gumbel components, f(y|θ), with a base measure for their location and scale.

Copy it, then change what is marked CHANGE. Run it to test the result.
"""

import math
from dataclasses import dataclass

from privmix import PrivateMixture, mechanisms, samplers
from privmix.kernels import Kernel
from privmix.testing import check_sampler


@dataclass(frozen=True)
class Gumbel(Kernel):
    """Gumbel components with location ~ N(0, spread²) and log scale ~ N(0, 1)."""

    # CHANGE: numbers that the user sets. Annotate them as float, so that another value does not compile anew.
    spread: float = 5.0

    # CHANGE: the columns of theta, by name; those that are positive are moved on the log scale.
    parameters = ("location", "scale")
    positive = ("scale",)

    # CHANGE: the density, a draw from it, a draw of theta into its row, and the density of that draw. A hook reads
    # fields of self and calls plain functions; it makes no arrays and calls no self.method().
    def log_f(self, y, theta):
        x = (y - theta[0]) / theta[1]
        return -x - math.exp(-x) - math.log(theta[1])

    def sample(self, rng, theta):
        return theta[0] - theta[1] * math.log(rng.standard_exponential())

    def base(self, rng, theta):
        theta[0] = self.spread * rng.standard_normal()
        theta[1] = math.exp(rng.standard_normal())

    def log_base(self, theta):
        # In the parameters themselves: log scale ~ N(0, 1) gives the scale a density with the factor 1/scale.
        log_scale = math.log(theta[1])
        constant = -math.log(2.0 * math.pi * self.spread)
        return constant - 0.5 * (theta[0] / self.spread) ** 2 - 0.5 * log_scale**2 - log_scale

    # Optional: with it, mechanisms that are constant on cells have a closed form, and the posterior has quantiles.
    def cdf(self, y, theta):
        return math.exp(-math.exp(-(y - theta[0]) / theta[1]))


if __name__ == "__main__":
    model = PrivateMixture(mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0)), Gumbel())
    print(check_sampler(model, samplers.Neal5()))
