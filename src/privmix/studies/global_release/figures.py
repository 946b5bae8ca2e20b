"""The figures of Appendix C: errors, acceptance against its bound, and densities by both samplers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privmix.plots.style import RELEASE_EDGE
from privmix.studies.global_release.configuration import BASES, FITS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables
from privmix.studies.shared.targets import THREE_BETAS

TITLES = {name: f"Gamma({shape:g}, {rate:g})" for name, (shape, rate) in BASES.items()}


def figures(results: Results, folder: Path) -> None:
    """Draw error, acceptance and ESS against ε, and the densities of one data set for each base measure."""
    for what, label in (("l1", "L1 error"), ("acceptance", "acceptance"), ("ess", "ESS of clusters per 1,000 draws")):
        _curves(results, folder / f"{what}.png", what, label)
    for base in results.axis("base"):
        _densities(results.select(base=base), folder / f"densities-{base}.png", TITLES[base])
    rows = {"base": TITLES, "factor": {}, "fit": FITS}
    tables.write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "edges", "acceptance", "ess", "r_hat"))


def _curves(results: Results, path: Path, what: str, label: str) -> None:
    """Draw medians against ε: a row for each base measure, a panel for each factor, a curve for each sampler."""
    bases, factors = results.axis("base"), results.axis("factor")
    fits = FITS if what == "l1" else {name: text for name, text in FITS.items() if name != "binned"}
    axes = pictures.panels(len(bases), len(factors), sharey=True)
    for i, base in enumerate(bases):
        for j, factor in enumerate(factors):
            panel, chosen = axes[i, j], results.select(base=base, factor=factor)
            pictures.draw_medians(panel, chosen, "epsilon", what, "fit", fits)
            pictures.log_axis(panel, results.axis("epsilon"), "ε")
            if what == "l1":
                panel.axhline(THREE_BETAS.uniform_error(), color=RELEASE_EDGE, linewidth=1.0, label="uniform density")
            if what == "acceptance":
                epsilons = np.array(results.axis("epsilon"))
                panel.plot(epsilons, np.exp(-epsilons), color=RELEASE_EDGE, linewidth=1.0, label="bound e^−ε")
            panel.set_title(f"L = {factor}", fontsize="medium")
        axes[i, 0].set_ylabel(f"{label}\n{TITLES[base]}")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    pictures.finish(axes, "Smoothed histogram, n = 250: medians over data sets (bars: 10% to 90%)", results, path)


def _densities(results: Results, path: Path, base: str) -> None:
    """Draw the posterior means of all samplers and the band of the first, factors by ε, one data set."""
    factors, epsilons = results.axis("factor"), results.axis("epsilon")
    grid = THREE_BETAS.grid(results.configuration.points)
    axes = pictures.panels(len(factors), len(epsilons), height=1.9, sharex=True, sharey=True)
    for i, factor in enumerate(factors):
        for j, epsilon in enumerate(epsilons):
            for index, (name, text) in enumerate(FITS.items()):
                result = results.first(factor=factor, epsilon=epsilon, fit=name)
                pictures.draw_density(axes[i, j], grid, result, index, text, band=index == 0)
            pictures.draw_truth(axes[i, j], grid, THREE_BETAS.density(grid))
            axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[i, 0].set_ylabel(f"L = {factor}")
    pictures.finish(axes, f"Density with the marginal sampler's 95% band, base measure {base}", results, path)
