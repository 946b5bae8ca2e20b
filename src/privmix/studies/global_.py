"""Appendix C of the paper: synthetic draws from a smoothed histogram of three betas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix.kernels import Beta
from privmix.mechanisms import SmoothedHistogram
from privmix.model import PrivateMixture
from privmix.plots.style import RELEASE_EDGE
from privmix.priors import DirichletProcess
from privmix.samplers import Binned, Neal5, Slice
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import ChainConfiguration, edge_mass, measures_of, sample
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import THREE_BETAS

FITS = {
    "neal5": Choice("marginal (Neal 5)", Neal5()),
    "slice": Choice("conditional (slice)", Slice()),
    "binned": Choice("on counts (Binned)", Binned()),
}
# Shape and rate of the gamma priors of both shapes of a beta component.
BASES = {"gamma2": Choice("Gamma(2, 2)", Beta(2.0, 2.0)), "gamma90": Choice("Gamma(90, 2)", Beta(90.0, 2.0))}
CURVES = {"l1": "L1 error", "acceptance": "acceptance", "ess": "ESS of clusters per 1,000 draws"}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid: five ε, three numbers of bins, two base measures.

    Parameters
    ----------
    records
        Of each data set.
    bases, factors, epsilons, fits
        The grid. The histogram has L⌊n^{1/5} + 1⌋ bins for each factor L, and ⌊n^{3/5} + 1⌋ draws are released. A base
        `gamma2` has Gamma(2, 2) priors of both shapes of a beta component, `gamma90` has Gamma(90, 2).
    """

    replicates: int = grid(10)
    draws: int = 20_000
    chains: int = 2
    records: int = 250
    bases: tuple[str, ...] = grid(tuple(BASES), "base")
    factors: tuple[int, ...] = grid((2, 4, 6), "factor")
    epsilons: tuple[float, ...] = grid((2.0, 10.0, 50.0, 100.0, 250.0), "epsilon")
    fits: tuple[str, ...] = grid(tuple(FITS), "fit")

    @classmethod
    def small(cls) -> Self:
        """Return one data set and short chains."""
        return cls(replicates=1, draws=300, epsilons=(10.0, 250.0), factors=(4,))


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
    made = SmoothedHistogram.growing(configuration.records, epsilon, factor, THREE_BETAS.bounds)
    *_, z = THREE_BETAS.release("three betas", made, records=configuration.records, replicate=replicate)
    model = PrivateMixture(made, BASES[base].use, DirichletProcess(1.0))
    posterior = sample(model, z, FITS[fit].use, configuration, seed)
    found = measures_of(posterior, THREE_BETAS, configuration.points)
    return {**found, "edges": edge_mass(found["mean"]), "bound": math.exp(-epsilon), "uniform": made.uniform}


def figures(results: Results, folder: Path) -> None:
    """Draw error, acceptance and ESS against ε, and the densities of one data set for each base measure."""
    for what in CURVES:
        _curves(results, folder / f"{what}.png", what)
    rows = {factor: f"L = {factor}" for factor in results.axis("factor")}
    curves = {fit.words: {"fit": name} for name, fit in FITS.items()}
    for base in results.axis("base"):
        title = f"Density with the marginal sampler's 95% band, base measure {BASES[base].words}"
        chosen, path = results.select(base=base), folder / f"densities-{base}.png"
        pictures.draw_density_table(chosen, THREE_BETAS, "factor", rows, curves, title, path)
    by = {"base": words(BASES), "factor": {}, "fit": words(FITS)}
    write_tables(results, folder / "tables.md", by, "epsilon", ("l1", "edges", "acceptance", "ess", "r_hat"))


def _curves(results: Results, path: Path, what: str) -> None:
    """Draw medians against ε: a row for each base measure, a panel for each factor, a curve for each sampler."""
    bases, factors, epsilons = (results.axis(name) for name in ("base", "factor", "epsilon"))
    fits = words(FITS) if what == "l1" else {name: text for name, text in words(FITS).items() if name != "binned"}
    axes = pictures.panels(len(bases), len(factors), sharey=True)
    for row, base in zip(axes, bases, strict=True):
        for panel, factor in zip(row, factors, strict=True):
            chosen = results.select(base=base, factor=factor)
            pictures.draw_medians(panel, chosen, "epsilon", what, "fit", fits, ticks=epsilons)
            if what == "l1":
                pictures.draw_uniform(panel, THREE_BETAS)
            if what == "acceptance":
                bound = np.exp(-np.array(epsilons))
                panel.plot(epsilons, bound, color=RELEASE_EDGE, linewidth=1.0, label="bound e^−ε")
            panel.set_title(f"L = {factor}", fontsize="medium")
        row[0].set_ylabel(f"{CURVES[what]}\n{BASES[base].words}")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    pictures.finish(axes, "Smoothed histogram, n = 250: medians over data sets (bars: 10% to 90%)", results, path)


study = Study(
    "global",
    "Appendix C: one release of all records, by sampling from a smoothed histogram",
    Configuration,
    cell,
    figures,
)
