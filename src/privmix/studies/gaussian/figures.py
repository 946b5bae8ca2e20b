"""The figures of Section 4.3."""

from __future__ import annotations

from pathlib import Path

from privmix.studies.gaussian.configuration import CALIBRATIONS, SAMPLERS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables
from privmix.studies.shared.targets import THREE_NORMALS


def figures(results: Results, folder: Path) -> None:
    """Draw mixing, and densities for each calibration of the noise."""
    for delta in results.axis("delta"):
        chosen = results.select(delta=delta)
        _mixing(chosen, folder / f"mixing-delta{delta:g}.png", delta)
        for calibration in chosen.axis("calibration"):
            path = folder / f"densities-{calibration}-delta{delta:g}.png"
            _densities(chosen.select(calibration=calibration), path, f"{CALIBRATIONS[calibration]}, δ = {delta:g}")
    tables.write_tables(
        results,
        folder / "tables.md",
        {"calibration": CALIBRATIONS, "sampler": SAMPLERS},
        "epsilon",
        ("l1", "ess", "acceptance", "covered", "r_hat"),
    )


def _mixing(results: Results, path: Path, delta: float) -> None:
    """Draw the effective sample size of the number of clusters and the L1 error against ε."""
    calibrations = results.axis("calibration")
    axes = pictures.panels(2, len(calibrations), width=3.6, sharey="row")
    for j, calibration in enumerate(calibrations):
        for row, what in enumerate(("ess", "l1")):
            chosen = results.select(calibration=calibration)
            pictures.draw_medians(axes[row, j], chosen, "epsilon", what, "sampler", SAMPLERS)
            pictures.log_axis(axes[row, j], results.axis("epsilon"), "ε")
        axes[0, j].set_title(CALIBRATIONS[calibration], fontsize="medium")
    for row in axes:  # after the curves: a limit that is set stays
        row[0].set_ylim(bottom=0.0)
    axes[0, 0].set_ylabel("ESS of clusters\nper 1,000 draws")
    axes[1, 0].set_ylabel("L1 error")
    n = results.configuration.records
    title = f"Gaussian noise, n = {n}, δ = {delta:g}: medians over data sets (bars: 10% to 90%)"
    pictures.finish(axes, title, results, path)


def _densities(results: Results, path: Path, title: str) -> None:
    """Draw the posterior means of the three samplers for one data set."""
    epsilons = results.axis("epsilon")
    grid = THREE_NORMALS.grid(results.configuration.points)
    axes = pictures.panels(1, len(epsilons), sharey=True)
    for j, epsilon in enumerate(epsilons):
        for index, (sampler, name) in enumerate(SAMPLERS.items()):
            result = results.first(epsilon=epsilon, sampler=sampler)
            pictures.draw_density(axes[0, j], grid, result, index, name, band=False)
        pictures.draw_truth(axes[0, j], grid, THREE_NORMALS.density(grid))
        axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[0, j].set_xlabel("y")
    axes[0, 0].set_ylabel("density")
    pictures.finish(axes, f"Posterior mean density, one data set: {title}", results, path)
