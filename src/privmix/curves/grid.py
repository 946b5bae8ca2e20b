"""The points at which a density is shown: those of the default grid and, where it has spikes, more that follow them."""

from __future__ import annotations

import numpy as np

from privmix.curves.density import density_mean
from privmix.curves.mixture import count_of
from privmix.curves.predictive import draw_records
from privmix.model import PrivateMixture
from privmix.samplers.base import Draws, empty_records

# Records that show where the mass is, one in a hundred of which in a twentieth of a step of the grid are a spike: a
# component with a standard deviation above two steps has none.
RECORDS, CROWD, CROWDED_STEP = 1000, 10, 0.05
# Two neighbouring points have one between them while that changes the integral by more than this.
TOLERANCE = 1e-5
# Rounds of halving, and points in all: of spikes that are elsewhere in every draw some are left out.
MOST_ROUNDS, MOST_POINTS = 60, 2000


def follow_spikes(model: PrivateMixture, draws: Draws, grid: np.ndarray) -> np.ndarray:
    """Return a grid with so many points more that the mean density integrates to 1 by the trapezoidal rule.

    Where the density is smooth at the scale of the grid it is the grid itself.

    Parameters
    ----------
    model, draws
        Whose posterior mean density is shown.
    grid
        Points at equal steps.
    """
    smooth = len(grid) < 2 or model.kernel.categories is not None
    found = grid[:0] if smooth else crowded_records(model, draws, float(grid[1] - grid[0]))
    if not len(found):
        return grid
    points = np.union1d(grid, found)
    values, left = _mean(model, draws, points), np.arange(len(points) - 1)
    for _ in range(MOST_ROUNDS):
        tried = 0.5 * (points[left] + points[left + 1])
        heights = _mean(model, draws, tried)
        change = 0.25 * np.diff(points)[left] * np.abs(values[left] + values[left + 1] - 2.0 * heights)
        kept = (change > TOLERANCE) & (tried > points[left]) & (tried < points[left + 1])
        if not kept.any() or len(points) + np.count_nonzero(kept) > MOST_POINTS:
            break
        order = np.argsort(np.concatenate([points, tried[kept]]))
        points = np.concatenate([points, tried[kept]])[order]
        values = np.concatenate([values, heights[kept]])[order]
        at = np.searchsorted(points, tried[kept])
        left = np.concatenate([at - 1, at])
    return points


def crowded_records(model: PrivateMixture, draws: Draws, step: float) -> np.ndarray:
    """Return some records of the posterior where many lie within a small part of a step, sorted; none as a rule."""
    which = np.arange(RECORDS) * count_of(draws) // RECORDS
    # The same points for the same draws.
    rng, room = np.random.default_rng(0), empty_records(model, RECORDS)
    records = np.sort(draw_records(model.kernel, draws, which, room, rng, model.restricted_to))
    first = records[: 1 - CROWD]
    crowded = records[CROWD - 1 :] - first < CROWDED_STEP * step
    return np.unique(first[crowded][:: CROWD // 2])


def _mean(model: PrivateMixture, draws: Draws, points: np.ndarray) -> np.ndarray:
    return density_mean(model.kernel, draws, points, model.restricted_to)
