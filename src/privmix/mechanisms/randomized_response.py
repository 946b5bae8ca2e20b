"""Randomized response: each record releases a cell of the bounds, the true one more often than any other.

References
----------
Kairouz, P., Bonawitz, K. and Ramage, D. (2016). Discrete distribution estimation under local privacy. ICML.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from privmix.mechanisms.cell_grid import CellGrid, cells_to_try, grid_edge, is_output
from privmix.mechanisms.ratios import budget
from privmix.parts import given
from privmix.parts.checks import cells_of_categories, check_bounds, check_count, check_switch, fill, one_of, single
from privmix.privacy import PureDP


@dataclass(frozen=True)
class RandomizedResponse(CellGrid):
    """Release the index of a cell of y: the true one with probability p, each other with (1 − p)/(k − 1).

    The bounds are cut into k equal cells, closed on the left; the release is a whole number from 0 to k − 1, and log q
    is a log probability. y outside the bounds counts as the nearest bound. With ``staggered`` each record uses one of
    two grids that are shifted by half a cell (`privmix.mechanisms.cell_grid`), by the toss of a fair coin; numbers from
    k to 2k − 1 are cells of the second. What happens inside a cell of one grid is then seen on the other.

    Guarantee: ε-differential privacy with e^ε = p(k − 1)/(1 − p), for any two records: the k-ary randomized response of
    Kairouz, Bonawitz and Ramage (2016). The ratio of the probabilities of an output under two inputs takes no values
    but 1, e^ε and e^−ε, so the claim is exact; the proof is with `randomized_response_truth`. Also ρ-zero-concentrated
    with the ρ of `zcdp`: at ε = 1 and 16 cells .113, where ε²/2 = .5.

    Parameters
    ----------
    cells
        Number k of cells, at least 2.
    epsilon
        Wanted ε; gives p = e^ε/(e^ε + k − 1).
    bounds
        Range of a record, known without looking at the data.
    truth
        Probability p of releasing the true cell instead of ε: above 1/k, below 1.
    rho
        Wanted zCDP budget instead of ε.
    staggered
        Whether to use two grids, shifted by half a cell, instead of one
    categories
        Names of the values of a record that is no number: a cell for each, in place of ``cells`` and ``bounds``.
    """

    cells: int = field(default=None, metadata={"metavar": "K", "needed": True})  # type: ignore[assignment]
    epsilon: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    truth: float = given()
    rho: float | None = given()
    staggered: bool = False
    categories: Any = given()
    log_truth: float = field(init=False, repr=False)
    log_lie: float = field(init=False, repr=False)

    in_words = "of each record one cell of its range was published: the true one, or by chance another"
    also_called = ("randomised-response",)
    output_in_words = "released cell (its number)"

    def __post_init__(self) -> None:
        if self.categories is not None:
            cells_of_categories(self)
        cells = check_count("cells", self.cells, 2, "RandomizedResponse")
        bounds = check_bounds(self.bounds, needed_for="RandomizedResponse")
        fill(
            self, cells=cells, bounds=bounds, staggered=check_switch("staggered", self.staggered, "RandomizedResponse")
        )
        if self.rho is not None:
            variation_of = partial(randomized_response_variation, cells)
            fill(self, epsilon=budget("RandomizedResponse", variation_of, self.epsilon, self.rho))
        epsilon, truth = _complete(cells, self.epsilon, self.truth)
        # From ε and not from p: at ε = 50 the probability of a lie is 1e-22 and p is rounded to 1.
        log_truth = -math.log1p((cells - 1) * math.exp(-epsilon)) - math.log(self.grids)
        fill(self, truth=truth, log_truth=log_truth, log_lie=log_truth - epsilon)

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: Any) -> list[RandomizedResponse]:
        """Return responses with about as many cells as n records can tell apart, on one grid and on two."""
        epsilon = cls(16, bounds=bounds, **budget).guarantee.epsilon
        return [
            cls(
                max(4, round(cells_to_try(n, epsilon, staggered) * factor)),
                bounds=bounds,
                staggered=staggered,
                **budget,
            )
            for staggered in (False, True)
            for factor in (0.8, 1.25)
        ]

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP, exact."""
        return PureDP(randomized_response_epsilon(self.cells, self.truth) if self.epsilon is None else self.epsilon)

    @property
    def releases_categories(self) -> bool:
        """Whether a cell is a category."""
        return self.categories is not None

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return randomized_response_variation(self.cells, self.guarantee.epsilon)

    def sets_of_cells(self) -> np.ndarray:
        """Return the cells, each a set of its own."""
        return np.eye(self.cells, dtype=bool)

    def log_q(self, z, y):
        """Return log P(z|y); −∞ where z is not the index of a cell."""
        if not is_output(z, self.cells * (1 + self.staggered) - 1):
            return -math.inf if z == z else math.nan
        grid, cell = _place(self, z)
        after_left = cell == 0.0 or y >= grid_edge(self, grid, cell)
        before_right = cell == self.cells - 1 or y < grid_edge(self, grid, cell + 1.0)
        return self.log_truth if after_left and before_right else self.log_lie

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant: below, on and above the released one (hook)."""
        _, cell = _place(self, z)
        return 1 + int(cell > 0.0) + int(cell < self.cells - 1)

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0 (hook)."""
        grid, cell = _place(self, z)
        return grid_edge(self, grid, cell if j == 1 and cell > 0.0 else cell + 1.0)

    def cell_log_q(self, z, j):
        """Return log P(z|cell j) (hook)."""
        _, cell = _place(self, z)
        return self.log_truth if j == int(cell > 0.0) else self.log_lie

    def respond(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        """Draw the released cell of each record from its true one."""
        lies = rng.random(cell.shape) < (self.cells - 1) * self.grids * math.exp(self.log_lie)
        shift = rng.integers(1, self.cells, size=cell.shape)
        return np.where(lies, (cell + shift) % self.cells, cell)


def _place(part, z):
    """Return the grid and the cell of a released number."""
    return (1.0, z - part.cells) if z >= part.cells else (0.0, z)


def _complete(cells: int, epsilon: Any, truth: Any) -> tuple[float, float]:
    """Return ε and p from one of them; both, as a mechanism rebuilt from its own fields has, must agree."""
    if epsilon is None:
        one_of("RandomizedResponse", epsilon=epsilon, truth=truth)
        return randomized_response_epsilon(cells, truth), float(truth)
    derived = randomized_response_truth(cells, epsilon)
    if truth is not None and not (isinstance(truth, int | float) and math.isclose(truth, derived)):
        raise ValueError("RandomizedResponse takes one of epsilon= or truth=; the given epsilon and truth disagree.")
    return float(epsilon), derived


def randomized_response_truth(cells: int, epsilon: float) -> float:
    """Return the probability with which k-ary randomized response tells the truth: e^epsilon/(e^epsilon + k - 1).

    Derivation. Let p be the probability of the true cell and l that of each other, p + (k - 1) l = 1. An output has
    probability p under one input and l under all others, so the log-ratios are 0 and +-log(p/l), and epsilon-DP is
    p <= e^epsilon l. The largest such p has equality: p (1 + (k - 1) e^-epsilon) = 1 (Kairouz, Bonawitz and Ramage
    2016).

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    epsilon : float
        Budget of pure differential privacy.

    Returns
    -------
    float
        Above 1/k; rounded to 1 where a lie is less likely than 1e-16 (epsilon above 37).
    """
    count = check_count("cells", cells, 2, "RandomizedResponse")
    return 1.0 / (1.0 + (count - 1) * math.exp(-single("epsilon", epsilon)))


def randomized_response_epsilon(cells: int, truth: float) -> float:
    """Return the exact epsilon of k-ary randomized response, the inverse of `randomized_response_truth`.

    epsilon = log(p/l), with l = (1 - p)/(k - 1) the probability of each other cell.

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    truth : float
        Probability p of the true cell: above 1/k (at 1/k nothing is released), below 1 (at 1 nothing is promised).

    Returns
    -------
    float
        The smallest epsilon for which it is epsilon-DP.
    """
    count = check_count("cells", cells, 2, "RandomizedResponse")
    p = single("truth", truth)
    if not 1.0 / count < p < 1.0:
        raise ValueError(
            f"Randomized response with {count} cells was given truth={truth!r}, but needs 1/{count} < truth < 1: at "
            f"1/{count} nothing is released, at 1 nothing is promised."
        )
    # log(p/l) = log(1 + (p - l)/l), which keeps its digits where p is close to 1/k.
    return math.log1p((count * p - 1.0) / (1.0 - p))


def randomized_response_variation(cells: int, epsilon: float) -> float:
    """Return the total variation between the releases of two cells: p - l = (e^epsilon - 1)/(e^epsilon + k - 1).

    Two cells change the probabilities of two outputs, from l to p and from p to l.

    Parameters
    ----------
    cells : int
        Number k of cells.
    epsilon : float
        Budget of pure differential privacy.
    """
    return -math.expm1(-epsilon) / (1.0 + (cells - 1) * math.exp(-epsilon))
