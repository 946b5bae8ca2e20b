"""The release in a picture: as light bars behind a density, on the scale of the confidential values, and in a title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior
    from privmix.privacy import Guarantee


def draw_release(ax: Axes, posterior: Posterior, y: np.ndarray) -> tuple[float, float]:
    """Draw the release over the range of y, if it has a place there; return the least and the greatest height."""
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    bars = posterior.model.mechanism.bars(z, float(y[0]), float(y[-1]))
    if bars is None:
        return 0.0, 0.0
    paint: dict[str, Any] = {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE, "linewidth": 0.6}
    ax.stairs(bars.heights, bars.edges, fill=True, label=bars.label, zorder=1, **paint)
    return float(min(0.0, bars.heights.min())), float(bars.heights.max())


def describe_guarantee(guarantee: Guarantee | None) -> str:
    """Return a guarantee in a few words and symbols."""
    return "no privacy guarantee" if guarantee is None else guarantee.in_words


def describe_release(posterior: Posterior) -> str:
    """Return how many records were fitted and how they were released."""
    mechanism = posterior.model.mechanism
    records = mechanism.count_records(np.asarray(posterior.datatree["observed_data"]["z"]))
    return f"{records:,} records through {type(mechanism).__name__}: {describe_guarantee(mechanism.guarantee)}"
