"""Columns of a fit of rows against one another: each by itself on the diagonal, each two below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.curves.columns import density_mean_over
from privmix.plots.density import describe_release, draw_curve
from privmix.plots.shares import draw_bars, name_categories
from privmix.plots.style import COLOURS, DOUBT_COLOUR, doubt_in_words, plain

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privmix.posterior import Posterior

# More columns than this make panels that nobody reads.
MOST_COLUMNS = 8
# Inches of a panel.
PANEL = 2.3
# Points of a column's grid for two columns, and draws behind their mean: contours that more would not move visibly.
POINTS, DRAWS = 48, 400
# Shares of the records inside the contours.
INSIDE = (0.95, 0.8, 0.5, 0.2)


def plot_pairs(
    posterior: Posterior,
    *,
    figure: Figure | None = None,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    doubt: str | None = None,
) -> np.ndarray:
    """Draw every column of a fit of rows, and every two against one another.

    On the diagonal is the density of a column with its pointwise band, or the shares of its categories with their
    intervals. Below it are contours of the mean joint density of two columns that hold 20, 50, 80 and 95% of the
    records; a column of categories is drawn as shades. Above it are correlation and mutual information, with intervals.

    Parameters
    ----------
    posterior
        A fit of records of several named columns.
    figure
        Figure to draw on; by default a new one.
    columns
        Names of those to draw, two to eight; by default all.
    level
        Posterior probability of bands and intervals.
    doubt
        Why the bands are not to be trusted, which is written above the picture: by default what ``posterior.doubt()``
        says; an empty text for nothing.

    Returns
    -------
    numpy.ndarray
        The Axes drawn on, a row and a column for each column.
    """
    names = _check(posterior, columns)
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=picture_size(len(names)), layout="constrained")
    axes = figure.subplots(len(names), len(names), squeeze=False)
    grids = {name: _draw_column(axes[j, j], posterior, name, level) for j, name in enumerate(names)}
    for artist in [artist for ax in axes.diagonal() for artist in (*ax.lines, *ax.collections)]:
        artist.set_gid(None)  # an SVG takes it for an id, which panels may not share
    some = posterior.thinned(max(DRAWS, posterior.chains))
    told = dependence_in_words(posterior, level)
    for j, row in enumerate(names):
        for k, column in enumerate(names[:j]):
            joint = density_mean_over(some.model.kernel, some.arrays, {column: grids[column], row: grids[row]})
            _draw_two(axes[j, k], joint)
            _write(axes[k, j], told[column, row])
    _name_axes(axes, names)
    lines = [f"Columns of the confidential data, estimated from the noisy release\n{describe_release(posterior)}"]
    doubt = doubt_in_words(posterior.doubt() if doubt is None else doubt).replace("this band is", "bands are")
    colour = {"color": DOUBT_COLOUR, "fontweight": "bold"} if doubt else {}
    figure.suptitle("\n".join([*lines, doubt] if doubt else lines), fontsize="medium", **colour)
    return axes


def picture_size(columns: int) -> tuple[float, float]:
    """Return width and height of a picture of so many columns, in inches."""
    return PANEL * columns + 0.8, PANEL * columns + 0.9


def _check(posterior: Posterior, columns: Sequence[str] | None) -> list[str]:
    kernel: Any = posterior.model.kernel
    if not kernel.names:
        raise ValueError("plot_pairs is for records of several named columns; plot_density draws those of one number.")
    names = list(kernel.names) if columns is None else [kernel.names[kernel.column(name)] for name in columns]
    if not 2 <= len(set(names)) == len(names) <= MOST_COLUMNS:
        raise ValueError(
            f"plot_pairs draws two to {MOST_COLUMNS} different columns; got {', '.join(names)}. Choose with columns=."
        )
    return names


def _draw_column(ax: Axes, posterior: Posterior, name: str, level: float) -> Any:
    """Draw a column by itself; return the grid on which two columns are drawn."""
    alone = posterior.marginal(name)
    density = alone.density(level=level)
    if alone.model.kernel.categories is not None:
        draw_bars(ax, density)
        name_categories(ax.xaxis, density["category"].values, density["y"].values)
        ax.set_ylim(0.0, 1.1 * float(density["upper"].max()))
        return list(alone.model.kernel.categories)
    top = draw_curve(ax, density)
    ax.set_ylim(0.0, 1.1 * top or 1.0)
    ax.margins(x=0.0)
    return alone.default_grid(POINTS)


def _draw_two(ax: Axes, joint: xr.DataArray) -> None:
    """Draw the mean joint density of two columns: contours, or shades where one has categories."""
    across, up = (np.asarray(joint[dim].values) for dim in joint.dims)
    values = joint.values.T
    numbers = [np.issubdtype(points.dtype, np.number) for points in (across, up)]
    if all(numbers):
        heights = heights_inside(values, INSIDE)
        shades = [(*_rgb(COLOURS[0]), alpha) for alpha in (0.15, 0.35, 0.6, 0.9)]
        ax.contourf(across, up, values, levels=[*heights, np.inf], colors=shades[-len(heights) :])
        return
    # Inside a category the shades are those of its own density, so that a rare one can be read too.
    if numbers[0] != numbers[1]:
        values = values / values.max(axis=0 if numbers[1] else 1, keepdims=True).clip(1e-300)
    places = [
        points if number else np.arange(len(points)) for points, number in zip((across, up), numbers, strict=True)
    ]
    ax.pcolormesh(*places, values, cmap="Blues", shading="nearest", vmin=0.0, rasterized=True)
    for axis, number, names in zip((ax.xaxis, ax.yaxis), numbers, (across, up), strict=True):
        if not number:
            name_categories(axis, names, np.arange(len(names)))
    if not any(numbers):
        for (i, j), value in np.ndenumerate(values):
            ink = "white" if value > 0.6 * values.max() else "black"
            ax.text(j, i, f"{value:.0%}", ha="center", va="center", color=ink, fontsize="small")


def heights_inside(values: np.ndarray, shares: Sequence[float]) -> list[float]:
    """Return the heights above which a density on an even grid holds these shares, from the lowest on."""
    ordered = np.sort(values, axis=None)[::-1]
    held = np.cumsum(ordered) / ordered.sum()
    # Shares that one point of a spike holds together have one contour.
    return sorted({float(ordered[np.searchsorted(held, share)]) for share in shares})


def _rgb(colour: str) -> Any:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def dependence_in_words(posterior: Posterior, level: float) -> dict[tuple[str, str], list[str]]:
    """Return correlation and mutual information of each two columns as lines of text."""
    tables = {"mutual information": posterior.mutual_information(level)}
    kernel: Any = posterior.model.kernel
    if sum(child.categories is None for child in kernel.children) > 1:
        tables = {"correlation": posterior.correlation(level), **tables}
    told: dict[tuple[str, str], list[str]] = {}
    for a in kernel.names:
        for b in kernel.names:
            found = [(title, table) for title, table in tables.items() if {a, b} <= set(table["column"].values)]
            told[a, b] = [f"{title}\n{_interval(table.sel(column=a, other=b))}" for title, table in found]
    return told


def _interval(found: xr.Dataset) -> str:
    return f"{float(found['mean']):.2f} ({float(found['lower']):.2f} to {float(found['upper']):.2f})"


def _write(ax: Axes, lines: list[str]) -> None:
    ax.set_axis_off()
    ax.text(0.5, 0.5, "\n\n".join(lines), ha="center", va="center", fontsize="small", transform=ax.transAxes)


def _name_axes(axes: np.ndarray, names: list[str]) -> None:
    """Name the columns at the left and below, and let panels of a column share its scale."""
    for j, name in enumerate(names):
        axes[-1, j].set_xlabel(plain(name))
        if j:
            axes[j, 0].set_ylabel(plain(name))
        for i in range(j, len(names)):
            axes[i, j].set_xlim(axes[j, j].get_xlim())
            if i < len(names) - 1:
                axes[i, j].tick_params(labelbottom=False)
            if 0 < j < i:
                axes[i, j].tick_params(labelleft=False)
    for j in range(len(names)):
        axes[j, j].tick_params(labelleft=False, left=False)
