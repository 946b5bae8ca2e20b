"""Models of records of several columns, small and mixed, that several test files use."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, kernels, mechanisms, priors
from privmix.mechanisms import LocalMechanism
from privmix.privacy import PureDP

WIDE, NAMES = (-10.0, 10.0), ("x", "y", "z")


@dataclass(frozen=True)
class Shifted(LocalMechanism):
    """A mechanism of a user's own: exponential noise to the right, which no library's pair knows."""

    scale: float = 2.0
    bounds: tuple[float, float] = WIDE

    @property
    def guarantee(self):
        return PureDP(1.0)

    def log_q(self, z, y):
        return -(z - y) / self.scale - math.log(self.scale) if z >= y else -math.inf

    def perturb(self, rng, y):
        return y + rng.exponential(self.scale, y.shape)


def mixture(kernel, concentration=2.0, **columns):
    """Return a model with these mechanisms; ``reports`` among them is for Each."""
    return PrivateMixture(mechanisms.Each(**columns), kernel, priors.DirichletProcess(concentration))


LAPLACE = mechanisms.Laplace(epsilon=5.0, bounds=WIDE)
RESPONSE = mechanisms.RandomizedResponse(categories=NAMES, epsilon=2.0)
#: numbers and categories, two of three columns reported, one of them as a row: everything at once
MIXED = mixture(
    kernels.Product(a=kernels.HierarchicalNormal(WIDE), b=kernels.Categorical(NAMES, weight=0.7), c=kernels.Normal()),
    a=LAPLACE,
    b=RESPONSE,
    c=mechanisms.HaarWavelet(levels=2, epsilon=10.0, bounds=(-4.0, 4.0)),
    reports=2,
)
#: two numbers with a density of the base measure: walks serve
NUMBERS = mixture(
    kernels.Product(a=kernels.Normal(), b=kernels.Normal(mean=1.0, rate=(3.0, 1.0))),
    a=LAPLACE,
    b=mechanisms.Gaussian(scale=2.0, bounds=WIDE),
)
#: one column of categories, of unequal weights: what is symmetric hides mistakes
CATEGORIES = PrivateMixture(RESPONSE, kernels.Categorical(NAMES, weight=(0.3, 1.0, 3.0)), priors.DirichletProcess(2.0))
#: parts of a user's own, and noise that differs by record, for ten records
OWN = mixture(
    kernels.Product(a=kernels.Normal(), b=kernels.Normal()),
    a=Shifted(),
    b=mechanisms.Laplace(scale=np.geomspace(0.5, 4.0, 10), bounds=WIDE),
)


def frame_of_people(n=200, seed=1):
    """Return columns of people in two groups: age and income, which go together, and sex."""
    rng = np.random.default_rng(seed)
    young = rng.random(n) < 0.4
    age = np.where(young, rng.normal(30.0, 5.0, n), rng.normal(60.0, 8.0, n))
    income = np.where(young, rng.normal(2.0, 0.5, n), rng.normal(5.0, 1.0, n))
    sex = np.where(rng.random(n) < np.where(young, 0.8, 0.3), "f", "m")
    return {"age": np.clip(age, 0.0, 100.0), "income": np.clip(income, 0.0, 10.0), "sex": sex}


PEOPLE = {
    "age": mechanisms.Laplace(epsilon=4.0, bounds=(0.0, 100.0)),
    "income": mechanisms.SquareWave(epsilon=4.0, bounds=(0.0, 10.0)),
    "sex": mechanisms.RandomizedResponse(categories=("f", "m"), epsilon=2.0),
}


def sloped(mechanism, concentration=2.0, **options):
    """Return a model of two columns, correlated inside components, with unequal numbers: what is symmetric hides."""
    scale = [[3.0, 1.0], [1.0, 5.0]] if options.get("covariance", "full") != "diagonal" else [3.0, 5.0]
    kernel = kernels.MultivariateNormal(("a", "b"), [0.0, 1.0], 0.2, 5.0, **{"scale": scale, **options})
    return PrivateMixture(mechanism, kernel, priors.DirichletProcess(concentration))


class SomeMissing:
    """Noise after which three entries in ten are missing, whatever they are."""

    def perturb(self, rng, y):
        z = super().perturb(rng, y)
        z[rng.random(z.shape) < 0.3] = np.nan
        return z


class ForgetfulGaussian(SomeMissing, mechanisms.VectorGaussian):
    """Gaussian noise of that kind."""


class ForgetfulLaplace(SomeMissing, mechanisms.VectorLaplace):
    """Laplace noise of that kind."""


#: ten covariances of the noise, tilted
TILTED = np.array([[[1.0 + k, 0.6], [0.6, 1.0]] for k in range(10)])
SLOPED = sloped(ForgetfulGaussian(("a", "b"), scale=(1.0, 2.0)))
TILTS = sloped(mechanisms.VectorGaussian(("a", "b"), scale=TILTED), scale=(2.0, 4.0), learns_scale=True)
LAPLACE_ROWS = sloped(ForgetfulLaplace(("a", "b"), scale=(1.0, 2.0)))
