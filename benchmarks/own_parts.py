"""What parts of a user's own cost: the built-in normal kernel and Laplace mechanism typed anew in ``__main__``.

Prints the ratio of their record-update to that of the built-in ones; `python -m benchmarks` runs it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.engine.chains import Plan, run_chain


@dataclass(frozen=True)
class MyNormal(kernels.Kernel):
    mean: float = 0.0
    precision_scale: float = 0.1
    shape: float = 3.0
    rate: float = 3.0

    parameters = ("mean", "variance")
    constants = 1

    def log_f(self, y, theta):
        return -0.5 * (y - theta[0]) ** 2 / theta[1] + theta[2]

    def prepare(self, theta):
        theta[2] = -0.5 * math.log(2.0 * math.pi * theta[1])

    def sample(self, rng, theta):
        return theta[0] + math.sqrt(theta[1]) * rng.standard_normal()

    def base(self, rng, theta):
        theta[1] = self.rate / rng.standard_gamma(self.shape)
        theta[0] = self.mean + math.sqrt(theta[1] / self.precision_scale) * rng.standard_normal()

    def update(self, rng, theta, ys, tune):
        n = len(ys)
        average = 0.0
        for y in ys:
            average += y / n
        spread = 0.0
        for y in ys:
            spread += (y - average) ** 2
        precision = self.precision_scale + n
        rate = self.rate + 0.5 * (spread + self.precision_scale * n / precision * (average - self.mean) ** 2)
        theta[1] = rate / rng.standard_gamma(self.shape + 0.5 * n)
        centre = (self.precision_scale * self.mean + n * average) / precision
        theta[0] = centre + math.sqrt(theta[1] / precision) * rng.standard_normal()


@dataclass(frozen=True)
class MyLaplace(mechanisms.LocalMechanism):
    scale: float = 2.0
    bounds: tuple[float, float] = (-10.0, 10.0)

    def log_q(self, z, y):
        return -abs(z - y) / self.scale - math.log(2.0 * self.scale)

    def perturb(self, rng, y):
        return y + rng.laplace(0.0, self.scale, size=y.shape)


def seconds(model: PrivateMixture, n: int = 1000, sweeps: int = 3000) -> float:
    """Return the CPU seconds of a record-update, compilation not counted."""
    z = model.mechanism.privatize(np.linspace(-9.0, 9.0, n), seed=1)
    plan = Plan(model, samplers.Neal5(), z, 1, 500, 1, allocations=False)
    chain = run_chain(plan, np.random.SeedSequence(1))
    plan = Plan(model, samplers.Neal5(), z, 1, 0, sweeps, allocations=False)
    start = time.process_time()
    run_chain(plan, chain)
    return (time.process_time() - start) / (n * sweeps)


def main() -> None:
    own = PrivateMixture(MyLaplace(), MyNormal())
    built_in = PrivateMixture(mechanisms.Laplace(scale=2.0, bounds=(-10.0, 10.0)))
    ratio = np.median([seconds(own) / seconds(built_in) for _ in range(5)])
    print(f"  parts typed anew in __main__ against the built-in ones: {ratio:.2f}  (goal at most 1.5)")


if __name__ == "__main__":
    main()
