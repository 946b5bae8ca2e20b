"""A release as bars of a picture: shares of all records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Bars of released values in a picture.
BARS = 40


class Bars(NamedTuple):
    """Shares of all records over bins of the confidential values, and what to call them."""

    heights: np.ndarray
    edges: np.ndarray
    label: str


def bars_of_values(z: np.ndarray, lower: float, upper: float, label: str) -> Bars:
    """Return released values as a histogram over a range; the label says how many are outside."""
    counts, edges = np.histogram(z, bins=BARS, range=(lower, upper))
    outside = 1.0 - counts.sum() / len(z)
    if outside > 0.0:
        label += f", {100 * outside:.2g}% outside the plot"
    # Heights are shares of all records, not of those inside: the area is what the range holds.
    return Bars(counts / (len(z) * np.diff(edges)), edges, label)
