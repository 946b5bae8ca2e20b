"""A kernel and a mechanism of one's own: logistic components, logistic noise.

Run it: the parts are tested, fitted, and timed against the built-in ones.
"""

import math
import sys
import time
from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, mechanisms, samplers
from privmix.kernels import Kernel
from privmix.mechanisms import LocalMechanism
from privmix.privacy import PureDP
from privmix.testing import check_sampler


def log_logistic(x):
    """Log density of the standard logistic distribution: −|x| − 2 log(1 + e^−|x|)."""
    x = abs(x)
    return -x - 2.0 * math.log1p(math.exp(-x))


@dataclass(frozen=True)
class Logistic(Kernel):
    """Logistic components with location ~ N(0, spread²) and log scale ~ N(0, 1)."""

    spread: float = 5.0

    parameters = ("location", "scale")
    positive = ("scale",)

    def log_f(self, y, theta):
        return log_logistic((y - theta[0]) / theta[1]) - math.log(theta[1])

    def sample(self, rng, theta):
        u = rng.random()
        return theta[0] + theta[1] * math.log((u + 1e-300) / (1.0 - u))

    def base(self, rng, theta):
        theta[0] = self.spread * rng.standard_normal()
        theta[1] = math.exp(rng.standard_normal())

    def log_base(self, theta):
        # The density of (location, scale): the log-normal one of the scale has the factor 1/scale.
        log_scale = math.log(theta[1])
        return -0.5 * (theta[0] / self.spread) ** 2 - 0.5 * log_scale**2 - log_scale


@dataclass(frozen=True)
class LogisticNoise(LocalMechanism):
    """Add logistic noise: ε-DP with ε = width/scale, as the density's log has slope at most 1/scale."""

    scale: float = 1.0
    bounds: tuple[float, float] = (-10.0, 10.0)

    @property
    def guarantee(self):
        return PureDP((self.bounds[1] - self.bounds[0]) / self.scale)

    def log_q(self, z, y):
        return log_logistic((z - y) / self.scale) - math.log(self.scale)

    def perturb(self, rng, y):
        return y + rng.logistic(0.0, self.scale, size=y.shape)


def seconds_of_a_sweep(model, sampler, n=1000, sweeps=2000):
    """Return the seconds of a sweep, compilation not counted."""
    z = model.mechanism.privatize(np.linspace(-9.0, 9.0, n), seed=1)
    model.sample(z, sampler, draws=10, warmup=500, thin=1, chains=1, seed=1, allocations=False)
    start = time.process_time()
    model.sample(z, sampler, draws=1, thin=sweeps, warmup=500, chains=1, seed=1, allocations=False)
    return (time.process_time() - start) / (500 + sweeps)


def main():
    sampler = samplers.Neal5()
    own = PrivateMixture(LogisticNoise(scale=2.0), Logistic())
    print(check_sampler(own, sampler))
    z = own.mechanism.privatize(np.random.default_rng(1).normal(3.0, 1.0, 500), seed=2)
    posterior = own.sample(z, sampler, draws=1000, warmup=1000, thin=1, chains=2, seed=3)
    peak = float(posterior.density()["mean"].idxmax())
    print(f"density of the confidential data peaks at {peak:.1f}; released with {own.mechanism.guarantee}")
    if "--time" in sys.argv:
        built_in = PrivateMixture(mechanisms.Laplace(scale=2.0, bounds=(-10.0, 10.0)))
        ratio = seconds_of_a_sweep(own, sampler) / seconds_of_a_sweep(built_in, sampler)
        print(f"cost of a sweep against Normal × Laplace: {ratio:.2f}")


if __name__ == "__main__":
    main()
