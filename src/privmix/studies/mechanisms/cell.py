"""One data set through one mechanism, fitted by `privmix.fit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix.mechanisms import HaarWavelet, Laplace, RandomizedResponse, SquareWave
from privmix.studies.mechanisms.configuration import Configuration
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import fit_default, record
from privmix.studies.shared.targets import THREE_NORMALS


def cell(
    configuration: Configuration,
    *,
    mechanism: str,
    records: int,
    epsilon: float,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return error, band and mixing of the default fit, and the sampler that it chose."""
    of_records, of_noise = derive_seed("three normals", records=records, replicate=replicate).spawn(2)
    y, _ = THREE_NORMALS.draw(np.random.default_rng(of_records), records)
    made = mechanism_at(mechanism, epsilon)
    posterior = fit_default(made.privatize(y, seed=of_noise), made, configuration, seed)
    found = record(posterior, THREE_NORMALS, configuration.points)
    return {**found, "sampler": type(posterior.sampler).__name__, "true_epsilon": made.guarantee.epsilon}


def mechanism_at(name: str, epsilon: float) -> Any:
    """Return a mechanism by its name, with exactly ε."""
    bounds = THREE_NORMALS.bounds
    if name == "laplace":
        return Laplace(epsilon=epsilon, bounds=bounds)
    if name == "haar4":
        return HaarWavelet(4, epsilon, bounds)
    if name == "square-wave":
        return SquareWave(epsilon=epsilon, bounds=bounds)
    return RandomizedResponse(16, epsilon, bounds)
