"""The release as light bars behind a density: what was published, on the scale of the confidential values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privmix.mechanisms import NoisyHistogram, RandomizedResponse
from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

BINS = 40


class Bars(NamedTuple):
    """Shares of all records over bins of the confidential values, and what to call them."""

    heights: np.ndarray
    edges: np.ndarray
    label: str


def draw_release(ax: Axes, posterior: Posterior, y: np.ndarray) -> tuple[float, float]:
    """Draw the release over the range of y, if it has a place there; return the least and the greatest height."""
    bars = release_bars(posterior, float(y[0]), float(y[-1]))
    if bars is None:
        return 0.0, 0.0
    paint: dict[str, Any] = {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE, "linewidth": 0.6}
    ax.stairs(bars.heights, bars.edges, fill=True, label=bars.label, zorder=1, **paint)
    return float(min(0.0, bars.heights.min())), float(bars.heights.max())


def release_bars(posterior: Posterior, lower: float, upper: float) -> Bars | None:
    """Return the release as shares of all records, or None where it has no place on the scale of y.

    Noisy counts stand in their own bins, also where they are negative. Released cells stand where the cells are: their
    numbers are names and no values of y. Rows, such as wavelet coefficients, and outputs of other kinds have no place.
    """
    mechanism = posterior.model.mechanism
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    if z.ndim != 1 or not lower < upper:
        return None
    if isinstance(mechanism, NoisyHistogram):
        shares = z / (mechanism.records * np.diff(mechanism.edges))
        return Bars(shares, mechanism.edges, "released counts (noisy)")
    if isinstance(mechanism, RandomizedResponse):
        edges = np.linspace(*mechanism.bounds, mechanism.cells + 1)
        counts = np.bincount(z.astype(int), minlength=mechanism.cells)
        return Bars(counts / (len(z) * np.diff(edges)), edges, "released cells (noisy)")
    if getattr(mechanism, "outputs", None) is not None:
        return None
    counts, edges = np.histogram(z, bins=BINS, range=(lower, upper))
    outside = 1.0 - counts.sum() / len(z)
    label = "release" if mechanism.reveals else "release (noisy)"
    if outside > 0.0:
        label += f", {100 * outside:.2g}% outside the plot"
    # Heights are shares of all records, not of those inside: the area is what the range holds.
    return Bars(counts / (len(z) * np.diff(edges)), edges, label)
