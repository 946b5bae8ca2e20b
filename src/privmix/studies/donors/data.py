"""Synthetic blood donors: the data of the paper are not public, their histogram is."""

from __future__ import annotations

import numpy as np
from scipy import stats

from privmix.studies.shared.targets import Target

# Log of the days between the first two donations of 100 donors: twelve equal bins of the paper's figure.
COUNTS = np.array([18, 10, 13, 15, 12, 5, 5, 3, 5, 3, 6, 5])
EDGES = np.linspace(4.497, 7.375, 13)
# 90 days must pass between donations; the data were collected over six years and a half.
BOUNDS = (4.49, 7.6)
HISTOGRAM = Target((stats.rv_histogram((COUNTS, EDGES), density=False),), BOUNDS)


def synthetic_donors(rng: np.random.Generator) -> np.ndarray:
    """Return 100 values with the published count in each bin, uniform within it."""
    lower = np.repeat(EDGES[:-1], COUNTS)
    return lower + (EDGES[1] - EDGES[0]) * rng.random(len(lower))
