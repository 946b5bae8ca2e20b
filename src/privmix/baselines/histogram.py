"""A density on cells: what EM, inversion and the wavelet estimator return."""

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
    joined
        Whether the middles of the cells are joined by straight lines, level beyond the outermost middles.
    """

    edges: np.ndarray
    mass: np.ndarray
    joined: bool = False

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return mass over width of each point's cell, or on the lines; the last cell has its right edge too."""
        heights = self.mass / np.diff(self.edges)
        if self.joined:
            values = np.interp(points, 0.5 * (self.edges[1:] + self.edges[:-1]), heights)
        else:
            values = heights[np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(heights) - 1)]
        return np.where((points >= self.edges[0]) & (points <= self.edges[-1]), values, 0.0)
