"""Section 4.3 of the paper: samplers that integrate the records out, under Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix.kernels import NoisyNormal
from privmix.mechanisms import Gaussian
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.samplers import Neal2, Neal3, Neal5
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import ChainConfiguration, measures_of, sample
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import THREE_NORMALS

BOUNDS = THREE_NORMALS.bounds


def classical(epsilon: float, delta: float) -> Gaussian:
    """Return the classical noise, which the paper uses; its formula is proven below ε = 1."""
    scale = math.sqrt(2.0 * math.log(1.25 / delta)) * (BOUNDS[1] - BOUNDS[0]) / epsilon
    return Gaussian(scale=scale, bounds=BOUNDS)


def analytic(epsilon: float, delta: float) -> Gaussian:
    """Return noise with the least scale that has (ε, δ)."""
    return Gaussian(epsilon=epsilon, delta=delta, bounds=BOUNDS)


SAMPLERS = {
    "neal2": Choice("Neal 2", Neal2()),
    "neal3": Choice("Neal 3", Neal3()),
    "neal5": Choice("private Neal 5", Neal5()),
}
CALIBRATIONS = {
    "classical": Choice("classical noise, the paper's", classical),
    "analytic": Choice("analytic noise, the least with (ε, δ)", analytic),
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid at δ = .1, with two calibrations of the noise.

    Parameters
    ----------
    draws
        Fewer than the paper's 50,000: a sweep of Neal 2 or Neal 3 costs thirty of private Neal 5.
    records, concentration
        Of each data set; of the Dirichlet process.
    calibrations, deltas, epsilons, samplers
        The grid. The classical noise does not have the (ε, δ) that it is made for: its formula is proven below ε = 1.
    """

    draws: int = 10_000
    records: int = 250
    concentration: float = 1.0
    calibrations: tuple[str, ...] = grid(tuple(CALIBRATIONS), "calibration")
    deltas: tuple[float, ...] = grid((0.1,), "delta")
    epsilons: tuple[float, ...] = grid((5.0, 10.0, 25.0, 50.0), "epsilon")
    samplers: tuple[str, ...] = grid(tuple(SAMPLERS), "sampler")

    @classmethod
    def small(cls) -> Self:
        """Return two data sets of 60 records and short chains."""
        return cls(replicates=2, draws=400, records=60, epsilons=(5.0, 50.0))


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
    made = CALIBRATIONS[calibration].use(epsilon, delta)
    *_, z = THREE_NORMALS.release("three normals", made, records=configuration.records, replicate=replicate)
    model = conjugate_model(made, configuration.concentration)
    posterior = sample(model, z, SAMPLERS[sampler].use, configuration, seed)
    return {**measures_of(posterior, THREE_NORMALS, configuration.points), "noise": float(made.scale)}


def conjugate_model(mechanism: Gaussian, concentration: float = 1.0) -> PrivateMixture:
    """Return the model that is conjugate to the release: the base measure is truncated on σ² + noise²."""
    kernel = NoisyNormal(noise=float(mechanism.scale), mean=0.0, precision_scale=0.1, shape=3.0, rate=3.0)
    return PrivateMixture(mechanism, kernel, DirichletProcess(concentration))


def figures(results: Results, folder: Path) -> None:
    """Draw mixing, and densities for each calibration of the noise."""
    curves = {one.words: {"sampler": name} for name, one in SAMPLERS.items()}
    for delta in results.axis("delta"):
        chosen = results.select(delta=delta)
        _mixing(chosen, folder / f"mixing-delta{delta:g}.png", delta)
        for name in chosen.axis("calibration"):
            title = f"Posterior mean density, one data set: {CALIBRATIONS[name].words}, δ = {delta:g}"
            path = folder / f"densities-{name}-delta{delta:g}.png"
            pictures.draw_density_row(chosen.select(calibration=name), THREE_NORMALS, curves, title, path)
    rows = {"calibration": words(CALIBRATIONS), "sampler": words(SAMPLERS)}
    write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "ess", "acceptance", "covered", "r_hat"))


def _mixing(results: Results, path: Path, delta: float) -> None:
    """Draw the effective sample size of the number of clusters and the L1 error against ε."""
    calibrations, epsilons = results.axis("calibration"), results.axis("epsilon")
    axes = pictures.panels(2, len(calibrations), width=3.6, sharey="row")
    for j, name in enumerate(calibrations):
        for panel, what in zip(axes[:, j], ("ess", "l1"), strict=True):
            chosen = results.select(calibration=name)
            pictures.draw_medians(panel, chosen, "epsilon", what, "sampler", words(SAMPLERS), ticks=epsilons)
        axes[0, j].set_title(CALIBRATIONS[name].words, fontsize="medium")
    for row in axes:  # after the curves: a limit that is set stays
        row[0].set_ylim(bottom=0.0)
    axes[0, 0].set_ylabel("ESS of clusters\nper 1,000 draws")
    axes[1, 0].set_ylabel("L1 error")
    n = results.configuration.records
    title = f"Gaussian noise, n = {n}, δ = {delta:g}: medians over data sets (bars: 10% to 90%)"
    pictures.finish(axes, title, results, path)


study = Study(
    "gaussian",
    "Section 4.3: Neal 2 and Neal 3 without records against private Neal 5, under Gaussian noise.",
    Configuration,
    cell,
    figures,
)
