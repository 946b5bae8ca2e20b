"""The figures of Section 6, on synthetic donors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE
from privmix.studies.donors.configuration import FITS, MECHANISMS
from privmix.studies.donors.data import COUNTS, EDGES, HISTOGRAM
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables

SYNTHETIC = "synthetic data from the published histogram"


def figures(results: Results, folder: Path) -> None:
    """Draw the estimates by fit and the bands with and without privacy, and the error of each fit."""
    _densities(results, folder / "densities.png")
    _errors(results, folder / "errors.png")
    tables.write_tables(
        results, folder / "tables.md", {"mechanism": MECHANISMS}, "fit", ("l1", "covered", "ess", "acceptance", "r_hat")
    )


def _densities(results: Results, path: Path) -> None:
    """Draw all estimates above, and the slice sampler's band beside that without privacy below."""
    names = [name for name in results.axis("mechanism") if name != "none"] or ["none"]
    grid = HISTOGRAM.grid(results.configuration.points)
    axes = pictures.panels(2, len(names), width=4.2, height=2.7, sharex=True, sharey=True)
    for j, name in enumerate(names):
        chosen = results.select(mechanism=name)
        for index, (fit, text) in enumerate(FITS.items()):
            pictures.draw_density(axes[0, j], grid, chosen.first(fit=fit), index, text, band=False)
        pictures.draw_density(axes[1, j], grid, chosen.first(fit="slice"), 0, "slice, posterior mean", band=True)
        _outline(axes[1, j], grid, results)
        axes[0, j].set_title(MECHANISMS[name], fontsize="medium")
        axes[1, j].set_xlabel("log of days between donations")
    for one in axes.flat:
        one.stairs(
            COUNTS / COUNTS.sum() / np.diff(EDGES),
            EDGES,
            fill=True,
            facecolor=RELEASE_COLOUR,
            edgecolor=RELEASE_EDGE,
            linewidth=0.6,
            label="published histogram",
            zorder=0,
        )
        one.set_xlim(grid[0], grid[-1])
        one.set_ylim(0.0, 1.4)
    axes[0, 0].set_ylabel("density")
    axes[1, 0].set_ylabel("density")
    rho = results.configuration.rho
    pictures.finish(axes, f"Blood donors, ρ = {rho:g}, {SYNTHETIC}; bands are pointwise at 95%", results, path)


def _outline(axes, grid: np.ndarray, results: Results) -> None:
    """Draw the band without privacy as two thin lines."""
    open_fit = results.first(mechanism="none", fit="slice")
    if open_fit is not None:
        style = {"color": "black", "linewidth": 0.9, "linestyle": (0, (4, 2.5))}
        axes.plot(grid, open_fit.values["lower"], label="95% band without privacy", **style)
        axes.plot(grid, open_fit.values["upper"], **style)


def _errors(results: Results, path: Path) -> None:
    """Draw the L1 distance to the histogram of every fit: a point for each data set, a bar at the median."""
    groups = [(m, f) for m in results.axis("mechanism") for f in FITS if len(results.select(mechanism=m, fit=f))]
    axes = pictures.panels(1, 1, width=7.5, height=0.32 * len(groups) + 1.0)
    for row, (mechanism, fit) in enumerate(groups):
        errors = results.select(mechanism=mechanism, fit=fit).values("l1")
        axes[0, 0].plot(errors, np.full(len(errors), row), "o", color="0.55", markersize=4, markerfacecolor="none")
        axes[0, 0].plot(np.median(errors), row, "|", color="black", markersize=14, markeredgewidth=2)
    axes[0, 0].set_yticks(range(len(groups)), [f"{MECHANISMS[m]}: {FITS[f]}" for m, f in groups])
    axes[0, 0].invert_yaxis()
    axes[0, 0].set_xlim(left=0.0)
    axes[0, 0].set_xlabel("L1 distance to the published histogram (bar: median over data sets)")
    pictures.finish(axes, f"Blood donors, {SYNTHETIC}", results, path)
