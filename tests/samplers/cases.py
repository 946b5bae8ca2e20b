"""The models and samplers that the statistical tests go through."""

import numpy as np

from privmix import PrivateMixture, kernels, mechanisms, samplers

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


def name(value):
    """Return a short name for test ids."""
    return value.describe() if isinstance(value, PrivateMixture) else repr(value)
