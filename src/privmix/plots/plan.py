"""What is to be expected of a plan: errors against the number of people, and bands around an assumed density."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from privmix.plots.style import RELEASE_EDGE, TRUTH_COLOUR, TRUTH_LINE, as_axes, line_style

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
        ax.plot(curve["n"], curve["l1"], label=str(name), gid=f"line-{index}", **line_style(index))
    if n is not None:
        ax.axvline(n, color=RELEASE_EDGE, linewidth=1.0, gid="people")
    ax.set(xscale="log", yscale="log", xlabel="people", ylabel="expected L1 error of the density")
    ax.legend(fontsize="small", frameon=False)
    return ax


def plot_expected(
    y: np.ndarray, shape: np.ndarray, curves: Mapping[str, np.ndarray], index: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw an assumed density with the estimate and the band that are to be expected.

    Parameters
    ----------
    y
        Points.
    shape
        The assumed density there.
    curves
        The mean estimate and the ends of the band, under "mean", "lower" and "upper".
    index
        Which colour and dashes.
    ax
        Axes to draw on; by default those of a new figure.
    """
    ax, style = as_axes(ax), line_style(index)
    corners = np.concatenate([curves["lower"], curves["upper"][::-1]])
    # A plain polygon, whose path a script can redraw.
    ax.fill(np.append(y, y[::-1]), corners, color=style["color"], alpha=0.22, linewidth=0, gid="band", label="95% band")
    ax.plot(y, curves["mean"], label="mean estimate", gid="mean", color=style["color"])
    ax.plot(y, shape, color=TRUTH_COLOUR, linestyle=TRUTH_LINE, label="assumed density")
    ax.set(xlabel="confidential value y", ylabel="density")
    # On a white ground: a wide band reaches behind it.
    ax.legend(fontsize="small", loc="upper right", framealpha=0.85, edgecolor="none")
    return ax
