"""The path of the chains: the number of clusters, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.plots.style import as_axes, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# A moving mean over a fortieth of the draws: chains of whole numbers hide one another, their means do not.
WINDOWS = 40


def plot_trace(posterior: Posterior, *, ax: Axes | None = None) -> Axes:
    """Draw the number of clusters by draw for each chain: every draw as a thin line, a moving mean as a thick one.

    Chains that have forgotten their starts overlap and cross; a chain that keeps to itself needs more warm-up.

    Parameters
    ----------
    posterior
        A fit.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    ax = as_axes(ax)
    draw, clusters = posterior.n_clusters["draw"].values, posterior.n_clusters.values
    window = max(1, len(draw) // WINDOWS)
    for c, values in enumerate(clusters):
        style = line_style(c)
        ax.plot(draw, values, color=style["color"], linewidth=0.5, alpha=0.35, zorder=1)
        ax.plot(draw, moving_mean(values, window), linewidth=1.8, label=f"chain {c + 1}", zorder=2, **style)
    _finish(ax, posterior, window, float(clusters.max()))
    return ax


def moving_mean(values: np.ndarray, window: int) -> np.ndarray:
    """Return the mean over the window around each value, over what there is of it at the ends."""
    weights = np.ones(window)
    return np.convolve(values, weights, "same") / np.convolve(np.ones(len(values)), weights, "same")


def _finish(ax: Axes, posterior: Posterior, window: int, top: float) -> None:
    """Name the axes and leave a line above the traces for the legend."""
    ax.locator_params(axis="y", integer=True)
    ax.set_ylim(0.0, 1.15 * top + 1.0)
    ax.margins(x=0.0)
    ax.set_xlabel("draw")
    ax.set_ylabel("number of clusters")
    if not ax.get_title():
        lines = f"thin: every draw; thick: mean of {window} draws" if window > 1 else "every draw"
        ax.set_title(f"Number of clusters, {type(posterior.sampler).__name__}\n({lines})", fontsize="medium")
    ax.legend(loc="upper center", ncols=4, handlelength=3.2, frameon=False, fontsize="small")
