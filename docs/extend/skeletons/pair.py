"""Skeleton of a pair: what Gaussian noise and a bell of known spread give together, so that exact samplers serve them.

Copy it, then change what is marked CHANGE. Run it to test the result.
"""

import math
from dataclasses import dataclass

from privmix import PrivateMixture, mechanisms, samplers
from privmix.kernels import Kernel
from privmix.pairs import Convolution, register
from privmix.testing import check_sampler


# CHANGE: the kernel, the mechanism, or both. They may be built in, or your own.
@dataclass(frozen=True)
class Bell(Kernel):
    """Normal components of known spread, with mean ~ N(0, reach²)."""

    spread: float = 1.0
    reach: float = 5.0

    parameters = ("mean",)

    def log_f(self, y, theta):
        return log_normal(y - theta[0], self.spread**2)

    def sample(self, rng, theta):
        return theta[0] + self.spread * rng.standard_normal()

    def base(self, rng, theta):
        theta[0] = self.reach * rng.standard_normal()

    def log_base(self, theta):
        return log_normal(theta[0], self.reach**2)


def log_normal(x, variance):
    return -0.5 * (x * x / variance + math.log(2.0 * math.pi * variance))


# CHANGE: log g(z|θ) = log ∫ q(z|y) f(y|θ) dy of one record. Plain functions; fields are read as in a hook.
def log_g(mechanism, kernel, z, theta):
    return log_normal(z - theta[0], kernel.spread**2 + mechanism.scale**2)


# CHANGE: an exact draw of Y given z and θ.
def sample(mechanism, kernel, rng, z, theta):
    share = kernel.spread**2 / (kernel.spread**2 + mechanism.scale**2)
    return theta[0] + share * (z - theta[0]) + mechanism.scale * math.sqrt(share) * rng.standard_normal()


# CHANGE: the two classes; subclasses are served too.
register(mechanisms.Gaussian, Bell, Convolution("Gaussian noise on a bell", log_g, sample))


if __name__ == "__main__":
    model = PrivateMixture(mechanisms.Gaussian(scale=1.5, bounds=(-10.0, 10.0)), Bell())
    print(check_sampler(model, samplers.Neal8()))  # sees a wrong log_g
    print(check_sampler(model, samplers.Slice(records="exact")))  # sees a wrong sample
