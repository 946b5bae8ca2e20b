"""One synthetic set of donors through one mechanism, fitted in one way."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix import baselines, samplers
from privmix.kernels import Kernel, NoisyNormal, Normal
from privmix.mechanisms import Gaussian, Identity, Laplace, LocalMechanism
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.studies.donors.configuration import Configuration
from privmix.studies.donors.data import BOUNDS, HISTOGRAM, synthetic_donors
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import fit_default, record, sample
from privmix.studies.shared.measures import l1_error

SAMPLERS = {
    "neal5": samplers.Neal5(),
    "slice": samplers.Slice(),
    "neal2": samplers.Neal2(),
    "neal3": samplers.Neal3(),
}


def cell(
    configuration: Configuration, *, mechanism: str, fit: str, replicate: int, seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Return mixing, error and band; the deconvolution estimator has error and density alone."""
    of_records, of_noise = derive_seed("donors", replicate=replicate).spawn(2)
    y = synthetic_donors(np.random.default_rng(of_records))
    made = mechanism_at(mechanism, configuration.rho)
    z = made.privatize(y, seed=of_noise)
    if fit == "deconvolution":
        return {**deconvolve(z, made, configuration.points), "release": z, "records": y}
    if fit == "default":
        posterior = fit_default(z, made, configuration, seed)
    else:
        model = PrivateMixture(made, kernel_for(z, made, fit), DirichletProcess(1.0))
        posterior = sample(model, z, SAMPLERS[fit], configuration, seed)
    return {**record(posterior, HISTOGRAM, configuration.points), "release": z, "records": y}


def mechanism_at(name: str, rho: float) -> LocalMechanism:
    """Return the mechanism: both kinds of noise have scale Δ/√(2ρ), .52 at ρ = 17.8."""
    if name == "none":
        return Identity(bounds=BOUNDS)
    return Laplace(rho=rho, bounds=BOUNDS) if name == "laplace" else Gaussian(rho=rho, bounds=BOUNDS)


def kernel_for(z: np.ndarray, mechanism: LocalMechanism, fit: str) -> Kernel:
    """Return the paper's empirical base measure: E[σ²] half the variance of the release, Var[σ²] = .5.

    An inverse gamma with mean m and variance v has shape 2 + m²/v and rate m(1 + m²/v).
    """
    half = 0.5 * float(np.var(z, ddof=1))
    shape = 2.0 + half**2 / 0.5
    settings = {"mean": float(np.mean(z)), "precision_scale": 0.1, "shape": shape, "rate": half * (shape - 1.0)}
    if fit in ("neal2", "neal3"):
        return NoisyNormal(noise=float(mechanism.scale), **settings)  # type: ignore[attr-defined]
    return Normal(**settings)


def deconvolve(z: np.ndarray, mechanism: LocalMechanism, points: int) -> dict[str, Any]:
    """Return the deconvolution kernel estimate, negative parts cut."""
    grid = HISTOGRAM.grid(points)
    mean = baselines.proper(baselines.Deconvolution().fit(z, mechanism).density(grid), grid)
    return {"l1": l1_error(mean, HISTOGRAM.density(grid), grid), "mean": mean}
