"""Examples of every kernel that `privmix.kernels` exports: a new one is picked up with its defaults."""

import math
from dataclasses import dataclass, is_dataclass
from typing import ClassVar

import numpy as np

from privmix import kernels
from privmix.kernels import Beta, HierarchicalNormal, Kernel, NoisyNormal, Normal, TruncatedNormal
from privmix.numerics import exponential, gamma

#: bases to derive from are no dataclasses; kernels of categories and of several columns have tests of their own
EXPORTED = [getattr(kernels, name) for name in kernels.__all__]
BUILT_IN = [cls for cls in EXPORTED if is_dataclass(cls) and cls.offered]
NORMALS = [(0.0, 1.0), (3.0, 1e-4), (-1e3, 50.0)]

#: instances and parameters chosen to be awkward; any other kernel is tried with its defaults, at draws of its base
AWKWARD = {
    Beta: [
        (Beta(), [(2.0, 3.0), (1.0, 1.0), (0.5, 0.5), (40.0, 3.0)]),
        (Beta(shape=3.0, rate=0.5, bounds=(-2.0, 7.0)), [(2.0, 3.0), (0.7, 5.0)]),
    ],
    TruncatedNormal: [
        (TruncatedNormal(), [(0.5, 0.01), (0.9, 0.04), (-3.0, 0.5), (0.3, 50.0), (40.0, 0.3)]),
        (TruncatedNormal((-2.0, 8.0), shape=3.0, location=-2.0, rate=20.0), [(1.0, 1.0), (20.0, 4.0), (-2.0, 1.0)]),
    ],
    HierarchicalNormal: [(HierarchicalNormal(), NORMALS), (HierarchicalNormal(bounds=(-2.0, 8.0)), NORMALS)],
    NoisyNormal: [(NoisyNormal(), NORMALS), (NoisyNormal(noise=0.5, mean=2.0, shape=4.0, rate=2.0), NORMALS)],
    Normal: [
        (Normal(), NORMALS),
        (Normal(mean=2.0, precision_scale=2.0, shape=4.0, rate=0.5), NORMALS),
        (Normal(mean=(1.0, 2.0), precision_scale=0.5, rate=(3.0, 2.0)), NORMALS),
    ],
}


def hyper_of(kernel, rng):
    """Return hyperparameters from their prior; of length zero where there are none."""
    hyper = np.zeros(len(kernel.hyperparameters))
    if len(hyper):
        kernel.base_hyper(rng, hyper)
    return hyper


def drawn_parameters(kernel, count=3, seed=1):
    """Return parameters drawn from the base measure."""
    rng, rows = np.random.default_rng(seed), np.zeros((count, kernel.columns))
    for row in rows:
        hyper = hyper_of(kernel, rng)
        kernel.base(rng, row, *([hyper] if len(hyper) else []))
    return [tuple(row[: len(kernel.parameters)].tolist()) for row in rows]


def examples_of(cls):
    """Return pairs of an instance and the parameters to try it at."""
    return AWKWARD.get(cls) or [(cls(), drawn_parameters(cls()))]


ALL = [kernel for cls in BUILT_IN for kernel, _ in examples_of(cls)]
CASES = [(kernel, theta) for cls in BUILT_IN for kernel, thetas in examples_of(cls) for theta in thetas]


@dataclass(frozen=True)
class Exponential(Kernel):
    """A kernel of a user's own: it has no update, so it inherits the random walk."""

    shape: float = 2.0
    rate: float = 1.5

    parameters: ClassVar[tuple[str, ...]] = ("intensity",)
    positive: ClassVar[tuple[str, ...]] = ("intensity",)

    def log_f(self, y, theta):
        return math.log(theta[0]) - theta[0] * y if y >= 0.0 else -math.inf

    def sample(self, rng, theta):
        return exponential(rng) / theta[0]

    def base(self, rng, theta):
        theta[0] = gamma(rng, self.shape) / self.rate

    def log_base(self, theta):
        if theta[0] <= 0.0:
            return -math.inf
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return constant + (self.shape - 1.0) * math.log(theta[0]) - self.rate * theta[0]


def row_of(kernel, theta):
    """Return a prepared row of θ."""
    row = np.zeros(kernel.columns)
    row[: len(kernel.parameters)] = theta
    kernel.prepare(row)
    return row


def draws_of(kernel, theta, n=20_000, seed=1):
    """Return draws of y by the hook, called from Python."""
    rng, row = np.random.default_rng(seed), row_of(kernel, theta)
    return np.array([kernel.sample(rng, row) for _ in range(n)])
