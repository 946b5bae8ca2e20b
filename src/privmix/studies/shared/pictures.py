"""Pieces of figures: panels, curves over a coordinate, densities with bands; readable in black and white."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots import save_figure
from privmix.plots.style import LINES, RELEASE_EDGE, TRUTH_COLOUR, TRUTH_LINE, line_style
from privmix.studies.shared.targets import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.studies.runner import Result, Results

MARKERS = "osD^vP"
# What the horizontal axis of curves over a coordinate is called.
LABELS = {"epsilon": "ε", "records": "records"}
# Inches that an entry of a legend takes beside its text, and for a letter.
ENTRY_INCHES, LETTER_INCHES = 0.85, 0.075


def panels(rows: int, columns: int, *, width: float = 3.0, height: float = 2.4, **shared: Any) -> np.ndarray:
    """Return Axes in rows and columns, of a new figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns + 0.6, height * rows + 0.9), layout="constrained")
    return figure.subplots(rows, columns, squeeze=False, **shared)


def wrapped_panels(count: int, columns: int, **options: Any) -> np.ndarray:
    """Return Axes for so many panels, row by row; those left over in the last row are hidden."""
    axes = panels(-(-count // columns), min(columns, count), **options)
    for left in axes.flat[count:]:
        left.set_visible(False)
    return axes


def draw_medians(
    axes: Axes,
    results: Results,
    over: str,
    what: str,
    by: str,
    names: Mapping[Any, str],
    *,
    ticks: Sequence[float],
    spread: bool = True,
) -> None:
    """Draw medians over replicates against a coordinate, a curve for each value of another, bars from 10% to 90%."""
    for index, (value, name) in enumerate(names.items()):
        chosen = results.select(**{by: value})
        xs = [x for x in chosen.axis(over) if len(chosen.select(**{over: x}).values(what))]
        if not xs:
            continue
        cells = [chosen.select(**{over: x}) for x in xs]
        middle = np.array([cell.median(what) for cell in cells])
        style = {**line_style(index), "marker": MARKERS[index % len(MARKERS)], "markersize": 4, "linewidth": 1.5}
        axes.plot(xs, middle, label=name, **style)
        if spread and max(len(cell) for cell in cells) > 1:
            ends = np.array([[cell.quantile(what, p) for cell in cells] for p in (0.1, 0.9)])
            axes.vlines(xs, *ends, color=style["color"], linewidth=0.8, alpha=0.6)
    axes.set_xscale("log")
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(LABELS[over])


def draw_uniform(axes: Axes, target: Target) -> None:
    """Draw the L1 error of the uniform density."""
    axes.axhline(target.uniform_error(), color=RELEASE_EDGE, linewidth=1.0, label="uniform density")


def draw_density(axes: Axes, grid: np.ndarray, result: Result | None, index: int, label: str, *, band: bool) -> None:
    """Draw the posterior mean of one cell, with its band if asked for."""
    if result is None:
        return
    style = line_style(index)
    if band:
        lower, upper = result.values["lower"], result.values["upper"]
        axes.fill_between(grid, lower, upper, color=style["color"], alpha=0.22, linewidth=0, label="95% band")
    if index >= len(LINES):  # the dashes begin anew, so markers tell the curves apart
        style |= {"marker": MARKERS[index % len(MARKERS)], "markevery": len(grid) // 12, "markersize": 4}
    axes.plot(grid, result.values["mean"], linewidth=1.6, label=label, **style)


def draw_truth(axes: Axes, grid: np.ndarray, truth: np.ndarray) -> None:
    """Draw the true density, and leave room for it and no more than is needed."""
    axes.plot(grid, truth, color=TRUTH_COLOUR, linestyle=TRUTH_LINE, linewidth=1.2, label="truth", zorder=4)
    axes.set_ylim(0.0, 1.6 * float(truth.max()))
    axes.set_xlim(grid[0], grid[-1])


# Coordinates of the cell that a curve shows, by the curve's name.
Curves = Mapping[str, Mapping[str, Any]]


def draw_density_row(results: Results, target: Target, curves: Curves, title: str, path: Path) -> None:
    """Write the posterior means of one data set, a panel for each ε."""
    epsilons, grid = results.axis("epsilon"), target.grid(results.configuration.points)
    axes = panels(1, len(epsilons), sharey=True)
    for panel, epsilon in zip(axes[0], epsilons, strict=True):
        for index, (name, chosen) in enumerate(curves.items()):
            draw_density(panel, grid, results.first(epsilon=epsilon, **chosen), index, name, band=False)
        draw_truth(panel, grid, target.density(grid))
        panel.set_title(f"ε = {epsilon:g}", fontsize="medium")
        panel.set_xlabel("y")
    axes[0, 0].set_ylabel("density")
    finish(axes, title, results, path)


def draw_density_table(
    results: Results,
    target: Target,
    down: str,
    names: Mapping[Any, str],
    curves: Curves,
    title: str,
    path: Path,
    **labels: Any,
) -> None:
    """Write the posterior means of one data set, a row for each value of a coordinate and a column for each ε.

    Parameters
    ----------
    results, target
        What was found, and the truth.
    down, names
        Coordinate of the rows, and the label of each.
    curves
        What is drawn; the first has its band.
    title, path
        Of the figure.
    labels
        How the rows' labels are written.
    """
    values, epsilons = results.axis(down), results.axis("epsilon")
    grid = target.grid(results.configuration.points)
    axes = panels(len(values), len(epsilons), height=1.7 if labels else 1.9, sharex=True, sharey=True)
    for i, value in enumerate(values):
        for panel, epsilon in zip(axes[i], epsilons, strict=True):
            for index, (name, chosen) in enumerate(curves.items()):
                result = results.first(epsilon=epsilon, **{down: value}, **chosen)
                draw_density(panel, grid, result, index, name, band=index == 0)
            draw_truth(panel, grid, target.density(grid))
        axes[i, 0].set_ylabel(names[value], **labels)
    for panel, epsilon in zip(axes[0], epsilons, strict=True):
        panel.set_title(f"ε = {epsilon:g}", fontsize="medium")
    finish(axes, title, results, path)


def finish(axes: np.ndarray, title: str, results: Results, path: Path) -> None:
    """Add a title, one legend for all panels, and write the file; a study that is half done says so in the title."""
    figure = axes[0, 0].figure
    part = f" ({results.describe()})" if results.describe() else ""
    figure.suptitle(title + part, fontsize="medium")
    found: dict[str, Any] = {}
    for one in axes.flat:
        for handle, name in zip(*one.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    if found:
        entry = ENTRY_INCHES + LETTER_INCHES * max(len(name) for name in found)
        columns = max(1, min(len(found), int(figure.get_figwidth() / entry)))
        place = {"loc": "outside lower center", "ncols": columns, "frameon": False, "handlelength": 3.2}
        figure.legend(list(found.values()), list(found), fontsize="small", **place)
    save_figure(axes[0, 0], path)
