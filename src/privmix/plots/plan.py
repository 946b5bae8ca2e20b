"""The error to be expected against the number of people, a line for each mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privmix.plots.style import RELEASE_EDGE, as_axes, line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_plan(curves: pd.DataFrame, n: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw expected L1 errors, both scales logarithmic.

    Parameters
    ----------
    curves
        Columns n, mechanism and l1: what `Plan.curves` returns.
    n
        Number of people that is planned for, marked by a line.
    ax
        Axes to draw on; by default those of a new figure.
    """
    ax = as_axes(ax)
    for index, (name, curve) in enumerate(curves.groupby("mechanism", sort=False)):
        ax.plot(curve["n"], curve["l1"], label=str(name), **line_style(index))
    if n is not None:
        ax.axvline(n, color=RELEASE_EDGE, linewidth=1.0)
    ax.set(xscale="log", yscale="log", xlabel="people", ylabel="expected L1 error of the density")
    ax.legend(fontsize="small", frameon=False)
    return ax
