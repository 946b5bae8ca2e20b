"""One data set of Section 4.2 through one mechanism, fitted in one way."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix import samplers
from privmix.kernels import Beta
from privmix.mechanisms import HaarWavelet, Laplace
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import fit_default, record, sample
from privmix.studies.shared.targets import THREE_BETAS
from privmix.studies.wavelet.configuration import Configuration

SAMPLERS = {"neal5": samplers.Neal5(), "slice": samplers.Slice(), "auto": samplers.Auto()}


def cell(
    configuration: Configuration,
    *,
    mechanism: str,
    epsilon: float,
    fit: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return mixing, error and band, and the ε that the mechanism truly has."""
    of_records, of_noise = derive_seed("three betas", records=configuration.records, replicate=replicate).spawn(2)
    y, _ = THREE_BETAS.draw(np.random.default_rng(of_records), configuration.records)
    made = mechanism_at(mechanism, epsilon)
    z = made.privatize(y, seed=of_noise)
    if fit == "default":
        posterior = fit_default(z, made, configuration, seed)
    else:
        kernel = Beta(configuration.shape, configuration.rate)
        model = PrivateMixture(made, kernel, DirichletProcess(1.0))
        posterior = sample(model, z, SAMPLERS[fit], configuration, seed)
    found = record(posterior, THREE_BETAS, configuration.points)
    # The share of the outermost fiftieths, where the paper's estimates heap mass; the truth has less than .01 there.
    last = max(1, configuration.points // 50)
    mass = found["mean"] / found["mean"].sum()
    return {**found, "edges": float(mass[:last].sum() + mass[-last:].sum()), "true_epsilon": made.guarantee.epsilon}


def mechanism_at(name: str, epsilon: float) -> Any:
    """Return a mechanism by its name: laplace, or haar with its finest level and the calibration of its noise."""
    if name == "laplace":
        return Laplace(epsilon=epsilon, bounds=THREE_BETAS.bounds)
    levels, _, scale = name.removeprefix("haar").partition("-")
    calibration = "butucea" if scale == "paper" else "tight"
    return HaarWavelet(int(levels), epsilon, THREE_BETAS.bounds, calibration=calibration)
