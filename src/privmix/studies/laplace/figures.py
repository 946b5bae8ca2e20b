"""The figures of Section 4.1 and of its appendix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privmix.plots.style import TRUTH_COLOUR, TRUTH_LINE
from privmix.studies.laplace.configuration import SAMPLERS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables
from privmix.studies.shared.targets import THREE_NORMALS


def figures(results: Results, folder: Path) -> None:
    """Draw acceptance and mixing, densities by sampler and with bands, clusters, distance from the prior."""
    _mixing(results, folder / "mixing.png")
    _densities(results, folder / "densities.png")
    _bands(results, folder / "bands.png")
    _quality(results, folder / "quality.png")
    tables.write_tables(
        results,
        folder / "tables.md",
        {"records": {}, "sampler": SAMPLERS},
        "epsilon",
        ("acceptance", "ess", "l1", "covered", "hellinger", "rand", "rand_binder", "r_hat"),
    )


def _mixing(results: Results, path: Path) -> None:
    """Draw the acceptance rate above the effective sample size of the number of clusters."""
    records, epsilons = results.axis("records"), results.axis("epsilon")
    axes = pictures.panels(2, len(records), sharey="row")
    for j, n in enumerate(records):
        chosen = results.select(records=n)
        for row, what in enumerate(("acceptance", "ess")):
            pictures.draw_medians(axes[row, j], chosen, "epsilon", what, "sampler", SAMPLERS)
            pictures.log_axis(axes[row, j], epsilons, "ε")
        bound = {"color": TRUTH_COLOUR, "linestyle": TRUTH_LINE, "linewidth": 1.0, "label": "bound exp(−ε)"}
        axes[0, j].plot(epsilons, np.exp(-np.array(epsilons)), **bound)
        axes[0, j].set_title(f"n = {n:,}", fontsize="medium")
        axes[0, j].set_ylim(0.0, 1.0)
        axes[1, j].set_yscale("log")
    axes[0, 0].set_ylabel("acceptance")
    axes[1, 0].set_ylabel("ESS of clusters\nper 1,000 draws")
    pictures.finish(axes, "Acceptance and mixing, medians over data sets (bars: 10% to 90%)", results, path)


def _densities(results: Results, path: Path) -> None:
    """Draw the posterior means of the three samplers for one data set, at 200 records or the nearest."""
    n = min(results.axis("records"), key=lambda value: abs(value - 200))
    epsilons = results.axis("epsilon")
    grid = THREE_NORMALS.grid(results.configuration.points)
    axes = pictures.panels(1, len(epsilons), sharey=True)
    for j, epsilon in enumerate(epsilons):
        for index, (sampler, name) in enumerate(SAMPLERS.items()):
            result = results.first(records=n, epsilon=epsilon, sampler=sampler)
            pictures.draw_density(axes[0, j], grid, result, index, name, band=False)
        pictures.draw_truth(axes[0, j], grid, THREE_NORMALS.density(grid))
        axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[0, j].set_xlabel("y")
    axes[0, 0].set_ylabel("density")
    pictures.finish(axes, f"Posterior mean density by sampler, one data set of n = {n:,}", results, path)


def _bands(results: Results, path: Path) -> None:
    """Draw posterior means and bands of the slice sampler for one data set of each size."""
    records, epsilons = results.axis("records"), results.axis("epsilon")
    grid = THREE_NORMALS.grid(results.configuration.points)
    axes = pictures.panels(len(records), len(epsilons), height=1.9, sharex=True, sharey=True)
    for i, n in enumerate(records):
        for j, epsilon in enumerate(epsilons):
            result = results.first(records=n, epsilon=epsilon, sampler="slice")
            pictures.draw_density(axes[i, j], grid, result, 0, "slice, posterior mean", band=True)
            pictures.draw_truth(axes[i, j], grid, THREE_NORMALS.density(grid))
            axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[i, 0].set_ylabel(f"n = {n:,}")
    pictures.finish(axes, "Density with pointwise 95% bands, one data set of each size", results, path)


def _quality(results: Results, path: Path) -> None:
    """Draw error, distance from the prior and the quality of the clusters against ε."""
    names = {n: f"n = {n:,}" for n in results.axis("records")}
    labels = {
        "l1": "L1 error",
        "hellinger": "Hellinger distance of\nposterior and prior mean",
        "rand_binder": "adjusted Rand index\n(Binder's loss)",
        "covered": "mass where the 95% band\nholds the truth",
    }
    axes = pictures.panels(1, len(labels))
    for j, (what, label) in enumerate(labels.items()):
        pictures.draw_medians(axes[0, j], results.select(sampler="slice"), "epsilon", what, "records", names)
        pictures.log_axis(axes[0, j], results.axis("epsilon"), "ε")
        axes[0, j].set_ylabel(label)
        axes[0, j].set_ylim(bottom=min(0.0, axes[0, j].get_ylim()[0]))
    title = "Slice sampler: what a release tells, medians over data sets (bars: 10% to 90%)"
    pictures.finish(axes, title, results, path)
