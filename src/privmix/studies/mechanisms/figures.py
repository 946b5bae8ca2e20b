"""The error of each mechanism at the same ε, and what the fits look like."""

from __future__ import annotations

from pathlib import Path

from privmix.plots.style import RELEASE_EDGE
from privmix.studies.mechanisms.configuration import MECHANISMS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables
from privmix.studies.shared.targets import THREE_NORMALS


def figures(results: Results, folder: Path) -> None:
    """Draw the L1 error against the number of records, and densities with bands at the largest number."""
    _errors(results, folder / "errors.png")
    _densities(results, folder / "densities.png")
    tables.write_tables(
        results, folder / "tables.md", {"records": {}, "mechanism": MECHANISMS}, "epsilon", ("l1", "covered", "r_hat")
    )


def _errors(results: Results, path: Path) -> None:
    """Draw the error against the number of records, a panel for each ε and a curve for each mechanism."""
    epsilons, uniform = results.axis("epsilon"), THREE_NORMALS.uniform_error()
    axes = pictures.panels(1, len(epsilons), sharey=True)
    for j, epsilon in enumerate(epsilons):
        chosen = results.select(epsilon=epsilon)
        pictures.draw_medians(axes[0, j], chosen, "records", "l1", "mechanism", MECHANISMS)
        pictures.log_axis(axes[0, j], results.axis("records"), "records")
        axes[0, j].axhline(uniform, color=RELEASE_EDGE, linewidth=1.0, label="uniform density")
        axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    axes[0, 0].set_ylabel("L1 error")
    pictures.finish(axes, "The same ε by mechanism: medians over data sets (bars: 10% to 90%)", results, path)


def _densities(results: Results, path: Path) -> None:
    """Draw posterior means and bands of one data set, mechanisms by ε."""
    names, epsilons, n = results.axis("mechanism"), results.axis("epsilon"), max(results.axis("records"))
    grid = THREE_NORMALS.grid(results.configuration.points)
    axes = pictures.panels(len(names), len(epsilons), height=1.7, sharex=True, sharey=True)
    for i, name in enumerate(names):
        for j, epsilon in enumerate(epsilons):
            result = results.first(mechanism=name, epsilon=epsilon, records=n)
            pictures.draw_density(axes[i, j], grid, result, 0, "posterior mean", band=True)
            pictures.draw_truth(axes[i, j], grid, THREE_NORMALS.density(grid))
            axes[0, j].set_title(f"ε = {epsilon:g}", fontsize="medium")
        axes[i, 0].set_ylabel(MECHANISMS[name].replace(", ", ",\n"), fontsize="small")
    pictures.finish(axes, f"Density with pointwise 95% bands, one data set of n = {n:,}", results, path)
