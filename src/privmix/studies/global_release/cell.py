"""One data set of Appendix C, released as draws from its smoothed histogram, fitted by one sampler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix import samplers
from privmix.kernels import Beta
from privmix.mechanisms import SmoothedHistogram
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.studies.global_release.configuration import BASES, Configuration
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import record, sample
from privmix.studies.shared.targets import THREE_BETAS

SAMPLERS = {"neal5": samplers.Neal5(), "slice": samplers.Slice(), "binned": samplers.Binned()}


def cell(
    configuration: Configuration,
    *,
    base: str,
    factor: int,
    epsilon: float,
    fit: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return mixing, error and band, the bound e^−ε of the acceptance, and the mass at the ends of the domain."""
    of_records, of_noise = derive_seed("three betas", records=configuration.records, replicate=replicate).spawn(2)
    y, _ = THREE_BETAS.draw(np.random.default_rng(of_records), configuration.records)
    made = SmoothedHistogram.growing(configuration.records, epsilon, factor, THREE_BETAS.bounds)
    model = PrivateMixture(made, Beta(*BASES[base]), DirichletProcess(1.0))
    posterior = sample(model, made.privatize(y, seed=of_noise), SAMPLERS[fit], configuration, seed)
    found = record(posterior, THREE_BETAS, configuration.points)
    last = max(1, configuration.points // 50)
    mass = found["mean"] / found["mean"].sum()
    edges = float(mass[:last].sum() + mass[-last:].sum())
    return {**found, "edges": edges, "bound": math.exp(-epsilon), "uniform": made.uniform}
