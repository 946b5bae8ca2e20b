"""The models and samplers that the statistical tests go through."""

import numpy as np

from privmix import PrivateMixture, kernels, mechanisms, priors, samplers

WIDE = (-10.0, 10.0)
UNIT = (0.0, 1.0)


def _kernels():
    yield kernels.Normal(), WIDE
    yield kernels.HierarchicalNormal(WIDE), WIDE
    yield kernels.Beta(), UNIT


def _mechanisms(bounds):
    yield mechanisms.Laplace(epsilon=5.0, bounds=bounds)
    yield mechanisms.Gaussian(epsilon=5.0, delta=0.01, bounds=bounds)
    yield mechanisms.HaarWavelet(levels=3, epsilon=5.0, bounds=bounds)


SAMPLERS = [samplers.Neal5(), samplers.Neal5(auxiliaries=5), samplers.Slice()]

MODELS = [PrivateMixture(mechanism, kernel) for kernel, bounds in _kernels() for mechanism in _mechanisms(bounds)]

ORIGINAL_DATA = [PrivateMixture(mechanisms.Identity(), kernel) for kernel, _ in _kernels()]

PER_RECORD = PrivateMixture(mechanisms.Laplace(epsilon=np.geomspace(1.0, 20.0, 10), bounds=WIDE), kernels.Normal())

CASES = (
    [(PER_RECORD, sampler) for sampler in SAMPLERS]
    + [(model, sampler) for model in MODELS for sampler in SAMPLERS]
    + [(model, samplers.Slice()) for model in ORIGINAL_DATA]
)


EXACT_SAMPLERS = [
    samplers.Neal8(),
    samplers.Neal8(auxiliaries=1, update="impute"),
    samplers.Neal5(exact=True),
    samplers.Neal5(exact=True, update="impute"),
    samplers.Slice(records="exact"),
    samplers.Slice(records="integrated"),
    samplers.Slice(records="integrated", update="walk"),
    samplers.SplitMerge(samplers.Neal8()),
    samplers.SplitMerge(samplers.Neal5(exact=True), proposals=2, allocation="restricted"),
]


def _convolved():
    """Every pair with a known g(z|θ)."""
    for kernel, bounds in _kernels():
        yield PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=bounds), kernel)
        if not isinstance(kernel, kernels.Beta):
            yield PrivateMixture(mechanisms.Gaussian(epsilon=5.0, delta=0.01, bounds=bounds), kernel)
        yield PrivateMixture(mechanisms.HaarWavelet(levels=3, epsilon=5.0, bounds=bounds), kernel)
        yield PrivateMixture(mechanisms.RandomizedResponse(cells=6, epsilon=3.0, bounds=bounds), kernel)
        yield PrivateMixture(mechanisms.SquareWave(epsilon=3.0, bounds=bounds), kernel)
        yield PrivateMixture(mechanisms.Identity(), kernel)


CONVOLVED = list(_convolved())
ALL_EXACT = [(model, sampler) for model in CONVOLVED for sampler in EXACT_SAMPLERS]
# Every exact sampler on the normal-Laplace pair, one of them in turn on a third of the others; the rest is a long test.
SOME_EXACT = ALL_EXACT[: len(EXACT_SAMPLERS)] + [
    (model, EXACT_SAMPLERS[k % len(EXACT_SAMPLERS)]) for k, model in enumerate(CONVOLVED[1::3])
]

CONJUGATE_MODELS = [
    PrivateMixture(mechanisms.Gaussian(scale=2.0, bounds=WIDE), kernels.NoisyNormal(noise=2.0)),
    PrivateMixture(mechanisms.Identity(), kernels.Normal()),
]
CONJUGATE_SAMPLERS = [
    samplers.Neal2(),
    samplers.Neal3(),
    samplers.SplitMerge(samplers.Neal2()),
    samplers.SplitMerge(samplers.Neal3()),
    samplers.SplitMerge(samplers.Neal3(), proposals=2, allocation="restricted"),
]
CONJUGATE = [(model, sampler) for model in CONJUGATE_MODELS for sampler in CONJUGATE_SAMPLERS]


def name(value):
    """Return a short name for test ids."""
    return value.describe() if isinstance(value, PrivateMixture) else repr(value)


def _histograms(bounds):
    """Every global mechanism, with unequal bins in one of them."""
    yield mechanisms.SmoothedHistogram(10, 4, 12, epsilon=12.0, bounds=bounds)
    middle = 0.5 * (bounds[0] + bounds[1])
    yield mechanisms.NoisyHistogram(10, [bounds[0], middle, 0.8 * middle + 0.2 * bounds[1], bounds[1]], epsilon=2.0)
    yield mechanisms.NoisyHistogram(10, 4, noise="discrete laplace", epsilon=2.0, bounds=bounds)
    yield mechanisms.NoisyHistogram(10, 4, noise="discrete gaussian", rho=0.5, bounds=bounds)


NARROW = (-3.0, 3.0)
GLOBAL_SAMPLERS = [samplers.Neal5(), samplers.Slice(), samplers.Slice(records="exact"), samplers.Binned()]
GLOBAL_MODELS = [
    PrivateMixture(mechanism, kernel, priors.DirichletProcess((4.0, 2.0)))
    for kernel, bounds in ((kernels.Beta(), UNIT), (kernels.Normal(), NARROW))
    for mechanism in _histograms(bounds)
]
GLOBAL = [(model, sampler) for model in GLOBAL_MODELS for sampler in GLOBAL_SAMPLERS]
# Counts of a local mechanism's outputs.
OUTPUTS = [
    (PrivateMixture(mechanisms.RandomizedResponse(cells=6, epsilon=3.0, bounds=bounds), kernel), samplers.Binned())
    for kernel, bounds in _kernels()
]
# Each sampler on each mechanism once, with one kernel or the other.
SOME_GLOBAL = [GLOBAL[k] for k in (0, 5, 15, 18, 23, 29)] + OUTPUTS[:1]
