"""The error of every method, as pictures and as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privmix.studies.accuracy.configuration import METHODS, TARGETS
from privmix.studies.runner import Results
from privmix.studies.shared import pictures


def figures(results: Results, folder: Path) -> None:
    """Draw the L1 error against ε for each target and number of records, and write tables of medians."""
    _curves(results, folder / "errors.png")
    for what in ("l1", "hellinger"):
        (folder / f"{what}.md").write_text(table(results, what), encoding="utf-8")


def _curves(results: Results, path: Path) -> None:
    """Draw medians against ε, a panel for each target and number of records, a curve for each method."""
    panels = [(t, n) for t in results.axis("target") for n in results.axis("records") if _has(results, t, n)]
    axes = pictures.panels(-(-len(panels) // 3), min(3, len(panels)), height=3.0, sharey=True)
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    for panel, (target, records) in zip(axes.flat, panels, strict=False):
        chosen = results.select(target=target, records=records)
        pictures.draw_medians(panel, chosen, "epsilon", "l1", "method", METHODS, spread=False)
        pictures.log_axis(panel, results.axis("epsilon"), "ε")
        panel.set_title(f"{TARGETS[target]}, n = {records:,}", fontsize="medium")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    for row in axes:
        row[0].set_ylabel("L1 error")
    pictures.finish(axes, "Error of the density: medians over data sets", results, path)


def _has(results: Results, target: str, records: int) -> bool:
    return len(results.select(target=target, records=records)) > 0


def table(results: Results, what: str) -> str:
    """Return medians over data sets as a table in Markdown, a column for each ε."""
    epsilons = results.axis("epsilon")
    lines = [
        f"| target, n | method | {' | '.join(f'ε = {e:g}' for e in epsilons)} |",
        "|---|---|" + "---|" * len(epsilons),
    ]
    for target in results.axis("target"):
        for records in results.axis("records"):
            for method, text in METHODS.items():
                chosen = results.select(target=target, records=records, method=method)
                if len(chosen):
                    cells = [_median(chosen.select(epsilon=epsilon), what) for epsilon in epsilons]
                    lines.append(f"| {TARGETS[target]}, {records:,} | {text} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _median(results: Results, what: str) -> str:
    values = results.values(what) if len(results) else np.zeros(0)
    return f"{np.median(values):.3f} ({len(values)})" if len(values) else "–"
