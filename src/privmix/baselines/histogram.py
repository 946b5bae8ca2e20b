"""A density that is constant on cells: what EM and the wavelet estimator return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privmix.baselines.base import Fitted


@dataclass(frozen=True)
class Histogram(Fitted):
    """A density that is constant on cells, closed on the left, and 0 outside them.

    Parameters
    ----------
    edges
        Edges of the cells, one more than there are cells.
    mass
        What each cell holds.
    """

    edges: np.ndarray
    mass: np.ndarray

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return mass over width of each point's cell; the last cell has its right edge too."""
        cells = len(self.mass)
        cell = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, cells - 1)
        inside = (points >= self.edges[0]) & (points <= self.edges[-1])
        return np.where(inside, (self.mass / np.diff(self.edges))[cell], 0.0)
