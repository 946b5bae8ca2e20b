"""The error of every method, as pictures and as a table."""

from __future__ import annotations

from pathlib import Path

from privmix.studies.accuracy.configuration import METHODS, TARGETS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures, tables

# Methods that are drawn: with all of them no curve could be followed. The tables have all.
DRAWN = (
    "ours-laplace",
    "decon-plugin",
    "ems64",
    "ems256",
    "naive-mixture",
    "numpyro",
    "ours-square",
    "square-ems64",
    "square-ems256",
    "ours-response",
)


def figures(results: Results, folder: Path) -> None:
    """Draw the L1 error against ε for each target and number of records, and write tables of medians."""
    _curves(results, folder / "errors.png")
    rows = {"target": TARGETS, "records": {}, "method": METHODS}
    tables.write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "hellinger", "r_hat"))


def _curves(results: Results, path: Path) -> None:
    """Draw medians against ε, a panel for each target and number of records, a curve for each method."""
    names = {name: METHODS[name] for name in DRAWN if len(results.select(method=name))}
    panels = [(t, n) for t in results.axis("target") for n in results.axis("records") if _has(results, t, n)]
    axes = pictures.panels(-(-len(panels) // 3), min(3, len(panels)), height=3.0, sharey=True)
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    for panel, (target, records) in zip(axes.flat, panels, strict=False):
        chosen = results.select(target=target, records=records)
        pictures.draw_medians(panel, chosen, "epsilon", "l1", "method", names, spread=False)
        pictures.log_axis(panel, results.axis("epsilon"), "ε")
        panel.set_title(f"{TARGETS[target]}, n = {records:,}", fontsize="medium")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    for row in axes:
        row[0].set_ylabel("L1 error")
    pictures.finish(axes, "Error of the density: medians over data sets", results, path)


def _has(results: Results, target: str, records: int) -> bool:
    return len(results.select(target=target, records=records)) > 0
