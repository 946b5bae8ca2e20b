"""The models on which planted bugs are tried, and a short way to plant one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from privmix.kernels import Beta, HierarchicalNormal, Kernel, NoisyNormal, Normal, TruncatedNormal
from privmix.mechanisms import (
    Clamped,
    DiscreteLaplace,
    Gaussian,
    HaarWavelet,
    Laplace,
    NoisyHistogram,
    OnLattice,
    SmoothedHistogram,
    Tables,
    Tree,
    Withheld,
)
from privmix.model import PrivateMixture
from privmix.priors import Dirichlet, DirichletProcess, FiniteMixture, PitmanYor
from privmix.samplers import Sampler
from privmix.testing import Mutant


@dataclass(frozen=True)
class WalkedBeta(Kernel):
    """A beta kernel that gives only ``log_base``, so that its shapes move by the inherited random walk."""

    shape: float = 2.0
    rate: float = 2.0
    bounds: tuple[float, float] = (0.0, 1.0)

    parameters = Beta.parameters
    positive = Beta.positive
    constants = Beta.constants
    log_f = Beta.log_f
    sample = Beta.sample
    prepare = Beta.prepare
    base = Beta.base
    log_base = Beta.log_base


WIDE = (-10.0, 10.0)
NORMAL = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), DirichletProcess(2.0))
GAUSSIAN = PrivateMixture(Gaussian(scale=2.0, bounds=WIDE), Normal(), DirichletProcess(2.0))
HYPERPRIOR = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), DirichletProcess((4.0, 2.0)))
LEARNED = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), HierarchicalNormal(WIDE), DirichletProcess(2.0))
LEARNED_MANY = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), HierarchicalNormal(WIDE), DirichletProcess(10.0))
LEARNED_NORMAL = PrivateMixture(
    Laplace(epsilon=5.0, bounds=WIDE), Normal(mean=(0.0, 3.0), rate=(3.0, 1.0)), DirichletProcess(2.0)
)
LATTICE = PrivateMixture(OnLattice(Laplace(epsilon=10.0, bounds=(-9.0, 9.0)), 3.0), Normal(), DirichletProcess(2.0))
BETA = PrivateMixture(Laplace(epsilon=5.0, bounds=(0.0, 1.0)), Beta(), DirichletProcess(2.0))
WALKED = PrivateMixture(Laplace(epsilon=5.0, bounds=(0.0, 1.0)), WalkedBeta(), DirichletProcess(2.0))
FIRM = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(mean=1.0, precision_scale=1.0), DirichletProcess(2.0))
NOISY = PrivateMixture(Gaussian(scale=2.0, bounds=WIDE), NoisyNormal(noise=2.0), DirichletProcess(2.0))
UNSEEN = PrivateMixture(
    Withheld(Gaussian(scale=1.0, bounds=(-4.0, 4.0)), below=0.0, known=False, expected=(6.0, 0.8)),
    Normal(),
    DirichletProcess(2.0),
)
UNSEEN_ON_LATTICE = PrivateMixture(
    Withheld(DiscreteLaplace(epsilon=8.0, bounds=(-4, 4)), below=0.0, known=False, expected=(6.0, 0.8)),
    Normal(),
    DirichletProcess(2.0),
)
UNSEEN_ABOVE = PrivateMixture(
    Withheld(Laplace(epsilon=4.0, bounds=(-4.0, 4.0)), at_or_above=0.0, known=False, expected=(6.0, 0.8)),
    Normal(),
    DirichletProcess(2.0),
)
EDGE_KERNEL = TruncatedNormal((0.0, 1.0), location=0.0, spread=0.25, rate=0.2)
EDGE = PrivateMixture(Laplace(epsilon=5.0, bounds=(0.0, 1.0)), EDGE_KERNEL, DirichletProcess(2.0))
EDGE_GAUSSIAN = PrivateMixture(Gaussian(scale=0.2, bounds=(0.0, 1.0)), EDGE_KERNEL, DirichletProcess(2.0))
HAAR = PrivateMixture(HaarWavelet(levels=3, epsilon=10.0, bounds=(0.0, 1.0)), Beta(), DirichletProcess(2.0))
COUNTS = PrivateMixture(NoisyHistogram(10, 4, epsilon=2.0, bounds=(-3.0, 3.0)), Normal(), DirichletProcess((4.0, 2.0)))
PROCESSED = PrivateMixture(
    Withheld(Clamped(NoisyHistogram(10, 4, "discrete laplace", scale=1.0, bounds=(-3.0, 3.0)), upper=5), at_or_below=2),
    Normal(),
    DirichletProcess((4.0, 2.0)),
)
UNCOUNTED = PrivateMixture(
    NoisyHistogram(None, 4, epsilon=1.0, bounds=(-3.0, 3.0), neighbours="add-remove", expected=(4.0, 0.4)),
    Normal(),
    DirichletProcess((4.0, 2.0)),
)
SEVERAL = PrivateMixture(
    Tables(
        NoisyHistogram(10, [-3.0, -1.0, 0.0, 3.0], epsilon=2.0),
        NoisyHistogram(10, [-3.0, 0.0, 1.0, 3.0], "discrete gaussian", rho=0.5),
    ),
    Normal(),
    DirichletProcess((4.0, 2.0)),
)
SEVERAL_UNCOUNTED = PrivateMixture(
    Tree(None, 2, noise="laplace", epsilon=3.0, bounds=(-3.0, 3.0), neighbours="add-remove", expected=(4.0, 0.4)),
    Normal(),
    DirichletProcess((4.0, 2.0)),
)
DRAWN = PrivateMixture(SmoothedHistogram(10, 4, 20, epsilon=20.0, bounds=(0.0, 1.0)), Beta(), DirichletProcess(2.0))

DISCOUNTED = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), PitmanYor(0.4, 1.0))
DISCOUNTED_LEARNED = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), PitmanYor(0.25, (4.0, 2.0)))
FEW = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), Dirichlet(4, 0.5))
UNKNOWN = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), FiniteMixture("poisson", 4.0, 0.5))
ON_COUNTS = PrivateMixture(
    NoisyHistogram(10, 4, epsilon=2.0, bounds=(-3.0, 3.0)), Normal(), FiniteMixture("poisson", 4.0, 0.5)
)
UNKNOWN_LEARNED = PrivateMixture(Laplace(epsilon=5.0, bounds=WIDE), Normal(), FiniteMixture("poisson", 4.0, (1.0, 1.0)))


def one(
    name: str, function: Callable, old: str, new: str, model: PrivateMixture, sampler: Sampler, **rest: Any
) -> Mutant:
    """Return a mutant with one edit."""
    return Mutant(name, ((function, old, new),), model, sampler, **rest)
