"""The posterior density of the confidential data, beside the noisy release that it was learnt from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.mechanisms import NoisyHistogram
from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE, TRUTH_COLOUR, TRUTH_LINE, as_axes, line_style
from privmix.plots.words import describe_release

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

BINS = 40
# The legend stands above the curves, in the top quarter of the picture.
HEADROOM = 1.35
MARK = "privmix-density"


def plot_density(
    posterior: Posterior,
    *,
    ax: Axes | None = None,
    level: float = 0.95,
    grid: Any = None,
    truth: Callable[[np.ndarray], Any] | None = None,
    release: bool = True,
    label: str | None = None,
) -> Axes:
    """Draw the posterior mean density of the confidential data with its pointwise credible band.

    Call it again with the same `ax` to compare fits: each has its own colour and dashes.

    Parameters
    ----------
    posterior
        A fit of records of one number each.
    ax
        Axes to draw on; by default those of a new figure.
    level
        Posterior probability of the band at each point.
    grid
        Points at which the density is drawn; by default 200 over the mechanism's bounds.
    truth
        The true density, where it is known: a function of an array of points. Drawn dashed.
    release
        Whether to draw a histogram of the release where it is one number a record: the share of all records in each
        bin, over the range of the grid. Noisy counts are drawn as shares too.
    label
        Name of the fit in the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    _check(posterior, truth)
    density = posterior.density(posterior.default_grid() if grid is None else grid, level=level).sortby("y")
    y = density["y"].values
    true_values = None if truth is None else _evaluate(truth, y)
    ax = as_axes(ax)
    tops = [_draw_fit(ax, density, label)]
    if release:
        tops.append(_draw_release(ax, posterior, y))
    if true_values is not None:
        ax.plot(y, true_values, color=TRUTH_COLOUR, linestyle=TRUTH_LINE, linewidth=1.4, label="truth", zorder=4)
        tops.append(_top(true_values))
    _finish(ax, posterior, max(tops))
    return ax


def _check(posterior: Posterior, truth: Any) -> None:
    dimension = posterior.model.kernel.dimension
    if dimension > 1:
        raise ValueError(
            f"plot_density draws the density of one number a record; this fit has records of {dimension}. "
            "Draw posterior.density(grid) yourself, for instance as contours."
        )
    if truth is not None and not callable(truth):
        raise TypeError(f"truth must be a function of an array of points; got {truth!r}.")


def _evaluate(truth: Callable[[np.ndarray], Any], y: np.ndarray) -> np.ndarray:
    values = np.asarray(truth(y), dtype=np.float64)
    if values.shape != y.shape:
        raise ValueError(
            f"truth returned an array of shape {values.shape} for {len(y)} points; it must return one number for each."
        )
    return values


def _draw_fit(ax: Axes, density: xr.Dataset, label: str | None) -> float:
    """Draw the mean and the band; return the height that the picture must hold."""
    index = sum(line.get_gid() == MARK for line in ax.lines)
    style = line_style(index)
    y, band = density["y"].values, f"{100 * density.attrs['level']:g}% pointwise band"
    # The first band is filled; later ones are outlines, so that bands that lie upon one another stay readable.
    paint = {"alpha": 0.25, "linewidth": 0} if index == 0 else {"facecolor": "none", "linewidth": 0.9}
    named = band if label is None else f"{label}, {band}"
    ax.fill_between(y, density["lower"], density["upper"], label=named, zorder=2, **{**style, **paint})
    (line,) = ax.plot(y, density["mean"], linewidth=2, label=label or "posterior mean", zorder=3, **style)
    line.set_gid(MARK)
    return max(_top(density["mean"].values), _top(density["upper"].values))


def _top(values: np.ndarray) -> float:
    # The ends are left out: at a bound a beta kernel's density may be as good as infinite.
    inner = values[1:-1] if len(values) > 2 else values
    finite = inner[np.isfinite(inner)]
    return float(finite.max()) if len(finite) else 0.0


def _draw_release(ax: Axes, posterior: Posterior, y: np.ndarray) -> float:
    """Draw the release as a light histogram, if it is one number a record; return its height."""
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    if z.ndim != 1 or y[-1] <= y[0]:
        return 0.0
    mechanism = posterior.model.mechanism
    if isinstance(mechanism, NoisyHistogram):
        counts, edges, total, outside = z, mechanism.edges, mechanism.records, 0.0
    else:
        counts, edges = np.histogram(z, bins=BINS, range=(y[0], y[-1]))
        total, outside = len(z), 1.0 - counts.sum() / len(z)
    # Heights are shares of all records, not of those inside: the area is what the range holds.
    heights = counts / (total * np.diff(edges))
    label = "release (noisy)" + (f", {100 * outside:.2g}% outside the plot" if outside > 0.0 else "")
    paint: dict[str, Any] = {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE, "linewidth": 0.6}
    ax.stairs(heights, edges, fill=True, label=label, zorder=1, **paint)
    return float(heights.max())


def _finish(ax: Axes, posterior: Posterior, top: float) -> None:
    """Name the axes and leave room for the legend above the curves."""
    drawn = [line for line in ax.lines if line.get_gid() == MARK]
    before = ax.get_ylim()[1] if len(drawn) > 1 else 0.0
    ax.set_ylim(0.0, max(before, HEADROOM * top) or 1.0)
    ax.margins(x=0.0)
    ax.set_xlabel("confidential value y")
    ax.set_ylabel("density")
    if not ax.get_title():
        title = f"Density of the confidential data, estimated from the noisy release\n{describe_release(posterior)}"
        ax.set_title(title, fontsize="medium")
    ax.legend(loc="upper center", ncols=2, handlelength=3.2, frameon=False, fontsize="small")
