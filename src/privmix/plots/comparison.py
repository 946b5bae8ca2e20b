"""Several fits in one picture: other samplers, kernels, budgets or releases of the same quantity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.density import MARK, plot_density
from privmix.plots.style import as_axes, doubts_of, mark_doubt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# Twelve pairs of a colour and dashes differ; more than six curves nobody reads.
MOST = 6
POINTS = 200


def plot_comparison(
    posteriors: Mapping[str, Posterior], *, ax: Axes | None = None, level: float = 0.95, grid: Any = None
) -> Axes:
    """Draw the posterior mean densities of several fits with their pointwise bands.

    Parameters
    ----------
    posteriors
        Fits by the names that they have in the legend; two to six.
    ax
        Axes to draw on; by default those of a new figure.
    level
        Posterior probability of the bands at each point.
    grid
        Points at which all densities are drawn; by default 200 over what their bounds span together.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    if not isinstance(posteriors, Mapping):
        raise TypeError(f"posteriors must be a mapping of names to fits, {{'name': fit, …}}; got {posteriors!r}.")
    if not 2 <= len(posteriors) <= MOST:
        raise ValueError(f"a comparison needs two to {MOST} fits; got {len(posteriors)}.")
    points = common_grid(list(posteriors.values())) if grid is None else grid
    ax = as_axes(ax)
    if not ax.get_title():
        ax.set_title("Densities of the confidential data, estimated from noisy releases", fontsize="medium")
    for name, posterior in posteriors.items():
        plot_density(posterior, ax=ax, level=level, grid=points, release=False, label=str(name))
    _name(ax, level)
    return ax


def _name(ax: Axes, level: float) -> None:
    """Name the means alone in the legend, and the bands once for all."""
    doubts = doubts_of(ax)
    means = [line for line in ax.lines if line.get_gid() == MARK]
    title = f"posterior means, with {100 * level:g}% pointwise bands"
    options: dict[str, Any] = {"loc": "upper center", "ncols": 2, "handlelength": 3.2, "frameon": False}
    ax.legend(handles=means, title=title, fontsize="small", title_fontsize="small", **options)
    mark_doubt(ax, title if doubts else "", doubts)


def common_grid(posteriors: list[Posterior]) -> np.ndarray:
    """Return points over the range that the default grids of all fits span."""
    grids = [posterior.default_grid() for posterior in posteriors]
    lower, upper = min(grid[0] for grid in grids), max(grid[-1] for grid in grids)
    return np.linspace(lower, upper, POINTS)
