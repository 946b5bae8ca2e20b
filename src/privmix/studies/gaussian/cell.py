"""One data set of Section 4.3, fitted by one sampler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix import samplers
from privmix.kernels import NoisyNormal
from privmix.mechanisms import Gaussian
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.studies.gaussian.configuration import Configuration
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import record, sample
from privmix.studies.shared.targets import THREE_NORMALS

SAMPLERS = {"neal2": samplers.Neal2(), "neal3": samplers.Neal3(), "neal5": samplers.Neal5()}


def cell(
    configuration: Configuration,
    *,
    calibration: str,
    delta: float,
    epsilon: float,
    sampler: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return mixing, error and band, and the scale of the noise."""
    of_records, of_noise = derive_seed("three normals", records=configuration.records, replicate=replicate).spawn(2)
    y, _ = THREE_NORMALS.draw(np.random.default_rng(of_records), configuration.records)
    mechanism = mechanism_at(epsilon, delta, calibration)
    # Conjugate to the release: the base measure is truncated on σ² + noise².
    kernel = NoisyNormal(noise=float(mechanism.scale), mean=0.0, precision_scale=0.1, shape=3.0, rate=3.0)
    model = PrivateMixture(mechanism, kernel, DirichletProcess(configuration.concentration))
    z = mechanism.privatize(y, seed=of_noise)
    posterior = sample(model, z, SAMPLERS[sampler], configuration, seed)
    return {**record(posterior, THREE_NORMALS, configuration.points), "noise": float(mechanism.scale)}


def mechanism_at(epsilon: float, delta: float, calibration: str) -> Gaussian:
    """Return noise with the least scale that has (ε, δ), or with the classical one that the paper uses."""
    lower, upper = THREE_NORMALS.bounds
    if calibration == "analytic":
        return Gaussian(epsilon=epsilon, delta=delta, bounds=(lower, upper))
    scale = math.sqrt(2.0 * math.log(1.25 / delta)) * (upper - lower) / epsilon
    return Gaussian(scale=scale, bounds=(lower, upper))
