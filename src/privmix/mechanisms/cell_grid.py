"""Equal cells of the bounds, on one grid or on two that are shifted by half a cell.

Two staggered grids have k cells each, of the width w = (upper − lower)/(k − ½). One begins at the lower bound, so that
its last cell is cut in half by the upper one; the other ends at the upper bound, so that its first cell is cut in half
by the lower one. Both have k cells, which is what the probabilities depend on; and each edge of one lies in the middle
of a cell of the other. A fair coin chooses the grid of a record without looking at it, and the release tells it: the
coin has the same law whatever the record, so ratios of probabilities, and with them ε, are those of one grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.ratios import ThreeRatios

# More cells than this tell no more of a smooth density.
MOST_CELLS_TO_TRY = 128.0


class CellGrid(ThreeRatios):
    """A mechanism that releases one of a few sets of cells: sets that hold the true cell e^ε times as often.

    A release is a whole number: which set, plus the number of sets where the second grid was chosen. A subclass is a
    frozen dataclass with fields ``cells``, ``bounds`` and ``staggered``, a method ``sets_of_cells`` and ``respond``.
    """

    cells: int
    staggered: bool
    names_cells = True
    details: ClassVar[dict[str, str]] = {"cells": "cells"}

    def sets_of_cells(self) -> np.ndarray:
        """Return which cells each set holds, an array (set, cell) of booleans; all sets have one size."""
        raise NotImplementedError

    def respond(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        """Draw the released set of each record from its true cell."""
        raise NotImplementedError

    @property
    def grids(self) -> int:
        """Number of grids."""
        return 2 if self.staggered else 1

    @property
    def outputs(self) -> np.ndarray:
        """Every whole number that can be released."""
        return np.arange(self.grids * len(self.sets_of_cells()), dtype=np.float64)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars:
        """Return the shares of the released cells, each where its cell is: numbers of cells are no values of y."""
        sets, grids = self.sets_of_cells(), self.grids
        counts = np.bincount(z.astype(int), minlength=grids * len(sets)).reshape(grids, len(sets))
        shares = counts @ sets / (sets[0].sum() * len(z))
        pieces = grids * self.cells - grids + 1
        edges = np.linspace(self.bounds[0], self.bounds[1], pieces + 1)
        heights = np.zeros(pieces)
        for grid in range(grids):
            cell = (np.arange(pieces) + grid) // grids
            heights += (shares[grid] / np.bincount(cell))[cell]
        return Bars(heights / np.diff(edges), edges, "released cells (noisy)")

    def resolution(self) -> float:
        """Return the width of a set of cells over √12, wider by the probability of the other cells."""
        lower, upper = self.bounds
        size = int(self.sets_of_cells()[0].sum())
        likely = size + (self.cells - size) * math.exp(-self.guarantee.epsilon)
        return (upper - lower) / (self.cells - 0.5 * self.staggered) * likely / math.sqrt(12.0)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the released set of each record; y outside the bounds counts as the nearest bound."""
        if not self.staggered:
            return self.respond(rng, self.cell_of(y)).astype(np.float64)
        return self.on_two_grids(y, rng.random(y.shape) < 0.5, lambda cell: self.respond(rng, cell))

    def on_two_grids(self, y: np.ndarray, second: np.ndarray, respond: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Return the released number of each record, from which of them use the second grid and the draws of a set."""
        chosen = np.asarray(respond(np.where(second, self.cell_of(y, 1), self.cell_of(y))), dtype=np.float64)
        return np.where(second, chosen + len(self.sets_of_cells()), chosen)

    def cell_of(self, y: np.ndarray, grid: int = 0) -> np.ndarray:
        """Return the true cell of each record on one of the grids."""
        return np.searchsorted(grid_edge(self, grid, np.arange(1, self.cells)), y, side="right")

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy: of the share that the set does not hold e^ε times less."""
        sets, lie = self.sets_of_cells(), math.exp(-self.guarantee.epsilon)
        shares = np.concatenate([sets @ self._shares(edges, grid) for grid in range(self.grids)])
        holding = int(sets[:, 0].sum())
        log_inside = -math.log(self.grids * (holding + (len(sets) - holding) * lie))
        return (np.log(shares + (1.0 - shares) * lie) + log_inside)[z.astype(int)]

    def _shares(self, edges: np.ndarray, grid: int) -> np.ndarray:
        """Return how much of each given cell lies in each cell of a grid; the outer ones hold all beyond the bounds."""
        own = np.concatenate([[-np.inf], grid_edge(self, grid, np.arange(1, self.cells)), [np.inf]])
        return np.diff(np.clip(edges, own[:-1, None], own[1:, None]), axis=1) / np.diff(edges)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the middle of the middle cell of the released set."""
        sets = self.sets_of_cells()
        middle = np.array([np.flatnonzero(held)[held.sum() // 2] for held in sets])
        return grid_edge(self, (z >= len(sets)).astype(float), middle[(z % len(sets)).astype(int)] + 0.5)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of whole floats, or say what is wrong with it."""
        z = super().check_release(z)
        last = self.grids * len(self.sets_of_cells()) - 1
        bad = (z != np.floor(z)) | (z < 0) | (z > last)
        if bad.any():
            grids = " on two grids" if self.staggered else ""
            raise ValueError(
                f"{type(self).__name__} with {self.cells} cells{grids} releases whole numbers from 0 to {last}; the "
                f"release z has {np.count_nonzero(bad)} other values, the first {z[bad][0]:g}. "
                "Check that the mechanism is the one that made the release."
            )
        return z


def cells_to_try(n: float, epsilon: float, staggered: bool) -> float:
    """Return about how many cells n records can tell apart: too few is the dangerous side.

    Parameters
    ----------
    n
        Number of records.
    epsilon
        Budget of each.
    staggered
        Whether there are two grids, which need fewer cells each.
    """
    told = (4.0 if staggered else 6.0) * (n * math.sinh(0.5 * min(epsilon, 100.0)) ** 2) ** (1.0 / 7.0)
    return min(told, MOST_CELLS_TO_TRY)


# One formula for the density, the draws and the hooks, so that they agree on every edge.
def grid_edge(part, grid, j):
    """Return the left edge of cell j of a grid."""
    if part.staggered:
        return part.bounds[0] + (part.bounds[1] - part.bounds[0]) * (2.0 * j - grid) / (2.0 * part.cells - 1.0)
    return part.bounds[0] + (part.bounds[1] - part.bounds[0]) * j / part.cells


def is_output(z, last):
    """Return whether z is a whole number from 0 to last."""
    return 0.0 <= z <= last and z == math.floor(z)
