"""The posterior density of the confidential data, beside the noisy release that it was learnt from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.curves.prior import prior_mean_density
from privmix.plots.shares import draw_shares
from privmix.plots.style import (
    PRIOR_COLOUR,
    PRIOR_LINE,
    RELEASE_COLOUR,
    RELEASE_EDGE,
    TRUTH_COLOUR,
    TRUTH_LINE,
    as_axes,
    doubt_in_words,
    doubts_of,
    line_style,
    mark_doubt,
)
from privmix.privacy.guarantees import describe_guarantee

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# The legend stands above the curves, in the top quarter of the picture.
HEADROOM = 1.35
MARK = "privmix-density"
# Draws of the prior from which its mean density is taken: a line without visible noise, in about a second.
PRIOR_DRAWS = 50_000


def plot_density(
    posterior: Posterior,
    *,
    ax: Axes | None = None,
    level: float = 0.95,
    grid: Any = None,
    truth: Callable[[np.ndarray], Any] | None = None,
    release: bool = True,
    label: str | None = None,
    simultaneous: bool = False,
    prior: bool = False,
    doubt: str | None = None,
) -> Axes:
    """Draw the posterior mean density of the confidential data with its credible bands.

    Of categories, their shares as bars with intervals. Call it again with the same `ax` to compare fits: each has its
    own colour and dashes.

    Parameters
    ----------
    posterior
        A fit of records of one number each.
    ax
        Axes to draw on; by default those of a new figure.
    level
        Posterior probability of the bands.
    grid
        Points at which the density is drawn; by default those of `Posterior.density`.
    truth
        The true density, where it is known: a function of an array of points. Drawn dashed.
    release
        Whether to draw a histogram of the release: the share of all records in each bin, over the range of the grid.
        Noisy counts and released cells are drawn as shares too, where their bins are; a release that has no place on
        the scale of y is not drawn.
    label
        Name of the fit in the legend.
    simultaneous
        Whether to draw the band that holds the whole curve at once, as thin lines around the pointwise one.
    prior
        Whether to draw the mean density of the prior, dotted: what the fit would say without a release.
    doubt
        Why the bands are not to be trusted, which is written above the legend: by default what ``posterior.doubt()``
        says; an empty text for nothing.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    _check(posterior, truth)
    density = posterior.density(grid, level=level).sortby("y")
    y = density["y"].values
    true_values = None if truth is None else _evaluate(truth, y)
    expected = prior_density(posterior, y) if prior else None
    ax = as_axes(ax)
    shown: dict[str, Any] = {"release": release, "label": label, "simultaneous": simultaneous}
    draw = draw_density if posterior.model.kernel.categories is None else draw_shares
    draw(ax, posterior, density, expected, posterior.doubt() if doubt is None else doubt, truth=true_values, **shown)
    return ax


def draw_density(
    ax: Axes,
    posterior: Posterior,
    density: xr.Dataset,
    expected: np.ndarray | None = None,
    doubt: str = "",
    *,
    truth: np.ndarray | None = None,
    release: bool = True,
    label: str | None = None,
    simultaneous: bool = False,
) -> None:
    """Draw what was computed: the posterior's density and, where given, the prior's and the truth at its points."""
    y = density["y"].values
    tops, bottom = [draw_curve(ax, density, label, simultaneous)], 0.0
    if release:
        bottom, top = draw_release(ax, posterior, y)
        tops.append(top)
    if expected is not None:
        ax.plot(y, expected, color=PRIOR_COLOUR, linestyle=PRIOR_LINE, linewidth=1.8, label="prior mean", zorder=3)
        tops.append(_top(expected))
    if truth is not None:
        ax.plot(y, truth, color=TRUTH_COLOUR, linestyle=TRUTH_LINE, linewidth=1.4, label="truth", zorder=4)
        tops.append(_top(truth))
    before = doubts_of(ax)
    _finish(ax, posterior, bottom, max(tops))
    mark_doubt(ax, before, doubt_in_words(doubt, label))


def draw_release(ax: Axes, posterior: Posterior, y: np.ndarray) -> tuple[float, float]:
    """Draw the release over the range of y, if it has a place there; return the least and the greatest height."""
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    bars = posterior.model.mechanism.bars(z, float(y[0]), float(y[-1]))
    if bars is None:
        return 0.0, 0.0
    paint: dict[str, Any] = {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE, "linewidth": 0.6}
    ax.stairs(bars.heights, bars.edges, fill=True, label=bars.label, zorder=1, **paint)
    return float(min(0.0, bars.heights.min())), float(bars.heights.max())


def describe_release(posterior: Posterior) -> str:
    """Return how many records were fitted and how they were released."""
    mechanism = posterior.model.mechanism
    promise = describe_guarantee(mechanism.guarantee)
    return f"{posterior.records:,} records through {type(mechanism.each).__name__}: {promise}"


def prior_density(posterior: Posterior, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the prior mean density at the points y, by simulation with a fixed seed."""
    rng = np.random.default_rng(seed)
    return prior_mean_density(posterior.model, y, rng, PRIOR_DRAWS)


def _check(posterior: Posterior, truth: Any) -> None:
    kernel = posterior.model.kernel
    if kernel.dimension > 1:
        way = "Draw posterior.density(grid) yourself, for instance as contours."
        if kernel.names:
            way = f"plot_pairs draws all columns, and posterior.marginal({kernel.names[0]!r}).plot() one."
        raise ValueError(
            f"plot_density draws the density of one number a record; this fit has records of {kernel.dimension}. {way}"
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


def draw_curve(ax: Axes, density: xr.Dataset, label: str | None = None, simultaneous: bool = False) -> float:
    """Draw the mean and the bands; return the height that the picture must hold."""
    index = sum(line.get_gid() == MARK for line in ax.lines)
    style = line_style(index)
    y, band = density["y"].values, f"{100 * density.attrs['level']:g}% pointwise band"
    # The first band is filled; later ones are outlines, so that bands that lie upon one another stay readable.
    paint = {"alpha": 0.25, "linewidth": 0} if index == 0 else {"facecolor": "none", "linewidth": 0.9}
    named = band if label is None else f"{label}, {band}"
    ax.fill_between(y, density["lower"], density["upper"], label=named, zorder=2, **{**style, **paint})
    (line,) = ax.plot(y, density["mean"], linewidth=2, label=label or "posterior mean", zorder=3, **style)
    line.set_gid(MARK)
    highest = "upper"
    if simultaneous:
        highest = "simultaneous_upper"
        _draw_outline(ax, density, label, style["color"])
    return max(_top(density["mean"].values), _top(density[highest].values))


def _draw_outline(ax: Axes, density: xr.Dataset, label: str | None, colour: str) -> None:
    """Draw the simultaneous band as two thin dashed lines, one of them named."""
    named = f"{100 * density.attrs['level']:g}% simultaneous band"
    named = named if label is None else f"{label}, {named}"
    for end, name in (("lower", named), ("upper", "_nolegend_")):
        values = density[f"simultaneous_{end}"]
        ax.plot(density["y"], values, color=colour, linestyle=(0, (3, 1.5)), linewidth=1.0, label=name, zorder=2)


def _top(values: np.ndarray) -> float:
    # The ends are left out: at a bound a beta kernel's density may be as good as infinite.
    inner = values[1:-1] if len(values) > 2 else values
    finite = inner[np.isfinite(inner)]
    return float(finite.max()) if len(finite) else 0.0


def _finish(ax: Axes, posterior: Posterior, bottom: float, top: float) -> None:
    """Name the axes and leave room for the legend above the curves."""
    drawn = [line for line in ax.lines if line.get_gid() == MARK]
    under, before = ax.get_ylim() if len(drawn) > 1 else (0.0, 0.0)
    ax.set_ylim(min(under, 1.05 * bottom), max(before, HEADROOM * top) or 1.0)
    ax.margins(x=0.0)
    ax.set_xlabel("confidential value y")
    ax.set_ylabel("density")
    if not ax.get_title():
        title = f"Density of the confidential data, estimated from the noisy release\n{describe_release(posterior)}"
        ax.set_title(title, fontsize="medium")
    ax.legend(loc="upper center", ncols=2, handlelength=3.2, frameon=False, fontsize="small")
