"""The release as light bars behind a density: what was published, on the scale of the confidential values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior


def draw_release(ax: Axes, posterior: Posterior, y: np.ndarray) -> tuple[float, float]:
    """Draw the release over the range of y, if it has a place there; return the least and the greatest height."""
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    bars = posterior.model.mechanism.bars(z, float(y[0]), float(y[-1]))
    if bars is None:
        return 0.0, 0.0
    paint: dict[str, Any] = {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE, "linewidth": 0.6}
    ax.stairs(bars.heights, bars.edges, fill=True, label=bars.label, zorder=1, **paint)
    return float(min(0.0, bars.heights.min())), float(bars.heights.max())
