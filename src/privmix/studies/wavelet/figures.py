"""The figures of Section 4.2, and the answer to whether only J = 4 works."""

from __future__ import annotations

from pathlib import Path

from privmix.plots.style import RELEASE_EDGE
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables
from privmix.studies.shared.targets import THREE_BETAS
from privmix.studies.wavelet.configuration import FITS, MECHANISMS

COLUMNS = 4


def figures(results: Results, folder: Path) -> None:
    """Draw the error of every fit against ε, acceptance and R-hat, and the densities of one data set."""
    for what, label in (("l1", "L1 error"), ("acceptance", "acceptance"), ("r_hat", "R-hat of the density")):
        _curves(results, folder / f"{what.replace('_', '-')}.png", what, label)
    for name, text in FITS.items():
        if len(results.select(fit=name)):
            _densities(results.select(fit=name), folder / f"densities-{name}.png", text)
    tables.write_tables(
        results,
        folder / "tables.md",
        {"mechanism": MECHANISMS, "fit": FITS},
        "epsilon",
        ("l1", "edges", "acceptance", "ess", "covered", "r_hat"),
    )


def _curves(results: Results, path: Path, what: str, label: str) -> None:
    """Draw medians against ε, a panel for each mechanism and a curve for each fit."""
    names = results.axis("mechanism")
    axes = pictures.panels(-(-len(names) // COLUMNS), min(COLUMNS, len(names)), sharey=True)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(axes.flat, names, strict=False):
        pictures.draw_medians(panel, results.select(mechanism=name), "epsilon", what, "fit", FITS)
        pictures.log_axis(panel, results.axis("epsilon"), "ε")
        panel.set_title(MECHANISMS[name], fontsize="medium")
        if what == "l1":
            panel.axhline(THREE_BETAS.uniform_error(), color=RELEASE_EDGE, linewidth=1.0, label="uniform density")
    axes[0, 0].set_ylim(bottom=1.0 if what == "r_hat" else 0.0)  # after the curves: a limit that is set stays
    for row in axes:
        row[0].set_ylabel(label)
    pictures.finish(axes, "Three betas: medians over data sets (bars: 10% to 90%)", results, path)


def _densities(results: Results, path: Path, fit: str) -> None:
    """Draw posterior means and bands of one data set, mechanisms by ε."""
    names, epsilons = results.axis("mechanism"), results.axis("epsilon")
    grid = THREE_BETAS.grid(results.configuration.points)
    axes = pictures.panels(len(names), len(epsilons), height=1.7, sharex=True, sharey=True)
    for i, name in enumerate(names):
        for j, epsilon in enumerate(epsilons):
            result = results.first(mechanism=name, epsilon=epsilon)
            pictures.draw_density(axes[i, j], grid, result, 0, "posterior mean", band=True)
            pictures.draw_truth(axes[i, j], grid, THREE_BETAS.density(grid))
            axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[i, 0].set_ylabel(MECHANISMS[name].replace(", ", ",\n"), fontsize="small")
    pictures.finish(axes, f"Density with pointwise 95% bands, one data set: {fit}", results, path)
