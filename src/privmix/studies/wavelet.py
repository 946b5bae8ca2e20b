"""Section 4.2 of the paper: three betas through Laplace noise and through noisy Haar coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix.kernels import Beta
from privmix.mechanisms import HaarWavelet, Laplace, Mechanism
from privmix.model import PrivateMixture
from privmix.posterior import Posterior
from privmix.priors import DirichletProcess
from privmix.samplers import Auto, Neal5, Sampler, Slice
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import ChainConfiguration, edge_mass, fit_default, measures_of, sample
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import THREE_BETAS


def fit_betas(
    sampler: Sampler, z: np.ndarray, mechanism: Mechanism, configuration: Configuration, seed: np.random.SeedSequence
) -> Posterior:
    """Fit the paper's model by a sampler."""
    kernel = Beta(configuration.shape, configuration.rate)
    return sample(PrivateMixture(mechanism, kernel, DirichletProcess(1.0)), z, sampler, configuration, seed)


# Levels of the paper; the scale of its noise, and the tight one.
HAAR = {
    f"haar{levels}-{scale}": Choice(f"Haar J = {levels}, {text}", partial(HaarWavelet, levels, calibration=calibration))
    for scale, text, calibration in (("paper", "the paper's scale", "butucea"), ("tight", "tight scale", "tight"))
    for levels in (2, 4, 6)
}
MECHANISMS = {"laplace": Choice("Laplace", Laplace), **HAAR}
FITS = {
    "neal5": Choice("betas, private Neal 5", partial(fit_betas, Neal5())),
    "slice": Choice("betas, slice", partial(fit_betas, Slice())),
    "auto": Choice("betas, Auto", partial(fit_betas, Auto())),
    "default": Choice("privmix.fit", fit_default),
}
CURVES = {"l1": "L1 error", "acceptance": "acceptance", "r_hat": "R-hat of the density"}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid, with two scales of the wavelet noise.

    Parameters
    ----------
    records
        Of each data set.
    shape, rate
        Of the gamma priors of both shapes of a beta component; the paper's text has 2 and 2.
    mechanisms, epsilons, fits
        The grid. Of the fits, `neal5` and `slice` are the paper's samplers on the paper's model, `auto` is the same
        posterior by a sampler that integrates the records out, and `default` is `privmix.fit`, another model: where
        the first three differ the chains are at fault, where they agree and `default` does better it is the prior,
        and where all are poor it is the release.
    """

    replicates: int = grid(20)
    records: int = 250
    shape: float = 2.0
    rate: float = 2.0
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS), "mechanism")
    epsilons: tuple[float, ...] = grid((2.0, 10.0, 50.0, 100.0, 250.0), "epsilon")
    fits: tuple[str, ...] = grid(tuple(FITS), "fit")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 80 records and short chains."""
        return cls(replicates=1, draws=400, records=80, epsilons=(10.0, 250.0))


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
    made = MECHANISMS[mechanism].use(epsilon=epsilon, bounds=THREE_BETAS.bounds)
    *_, z = THREE_BETAS.release("three betas", made, records=configuration.records, replicate=replicate)
    found = measures_of(FITS[fit].use(z, made, configuration, seed), THREE_BETAS, configuration.points)
    return {**found, "edges": edge_mass(found["mean"]), "true_epsilon": made.guarantee.epsilon}


def figures(results: Results, folder: Path) -> None:
    """Draw the error of every fit against ε, acceptance and R-hat, and the densities of one data set."""
    for what in CURVES:
        _curves(results, folder / f"{what.replace('_', '-')}.png", what)
    rows = {name: text.replace(", ", ",\n") for name, text in words(MECHANISMS).items()}
    for name in results.axis("fit"):
        title = f"Density with pointwise 95% bands, one data set: {FITS[name].words}"
        chosen, path = results.select(fit=name), folder / f"densities-{name}.png"
        pictures.draw_density_table(
            chosen, THREE_BETAS, "mechanism", rows, {"posterior mean": {}}, title, path, fontsize="small"
        )
    measures = ("l1", "edges", "acceptance", "ess", "covered", "r_hat")
    by = {"mechanism": words(MECHANISMS), "fit": words(FITS)}
    write_tables(results, folder / "tables.md", by, "epsilon", measures)


def _curves(results: Results, path: Path, what: str) -> None:
    """Draw medians against ε, a panel for each mechanism and a curve for each fit."""
    names, epsilons = results.axis("mechanism"), results.axis("epsilon")
    axes = pictures.wrapped_panels(len(names), 4, sharey=True)
    for panel, name in zip(axes.flat, names, strict=False):
        chosen = results.select(mechanism=name)
        pictures.draw_medians(panel, chosen, "epsilon", what, "fit", words(FITS), ticks=epsilons)
        panel.set_title(MECHANISMS[name].words, fontsize="medium")
        if what == "l1":
            pictures.draw_uniform(panel, THREE_BETAS)
    axes[0, 0].set_ylim(bottom=1.0 if what == "r_hat" else 0.0)  # after the curves: a limit that is set stays
    for row in axes:
        row[0].set_ylabel(CURVES[what])
    pictures.finish(axes, "Three betas: medians over data sets (bars: 10% to 90%)", results, path)


study = Study(
    "wavelet",
    "Section 4.2: Laplace noise against Haar wavelets: is it true that only J = 4 works?",
    Configuration,
    cell,
    figures,
)
