"""Randomized response: each record releases a cell of the bounds, the true one more often than any other.

References
----------
Kairouz, P., Bonawitz, K. and Ramage, D. (2016). Discrete distribution estimation under local privacy. ICML.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.base import LocalMechanism
from privmix.parts import given
from privmix.parts.checks import check_bounds, check_count, fill, one_of, single
from privmix.privacy import PureDP


@dataclass(frozen=True)
class RandomizedResponse(LocalMechanism):
    """Release the index of a cell of y: the true one with probability p, each other with (1 − p)/(k − 1).

    The bounds are cut into k equal cells, closed on the left; the release is a whole number from 0 to k − 1, and log q
    is a log probability. y outside the bounds counts as the nearest bound.

    Guarantee: ε-differential privacy with e^ε = p(k − 1)/(1 − p), for any two records: the k-ary randomized response of
    Kairouz, Bonawitz and Ramage (2016). The ratio of the probabilities of an output under two inputs takes no values
    but 1, e^ε and e^−ε, so the claim is exact; the proof is with `randomized_response_truth`.

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
    """

    cells: int = field(metadata={"metavar": "K"})
    epsilon: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    truth: float = given()
    log_truth: float = field(init=False, repr=False)
    log_lie: float = field(init=False, repr=False)

    in_words = "of each record one cell of its range was published: the true one, or by chance another"
    also_called = ("randomised-response",)
    output_in_words = "released cell (its number)"
    names_cells = True
    details: ClassVar[dict[str, str]] = {"cells": "cells"}

    def __post_init__(self) -> None:
        cells = check_count("cells", self.cells, 2, "RandomizedResponse")
        bounds = check_bounds(self.bounds, needed_for="RandomizedResponse")
        epsilon, truth = _complete(cells, self.epsilon, self.truth)
        # From ε and not from p: at ε = 50 the probability of a lie is 1e-22 and p is rounded to 1.
        log_truth = -math.log1p((cells - 1) * math.exp(-epsilon))
        fill(self, cells=cells, bounds=bounds, truth=truth, log_truth=log_truth, log_lie=log_truth - epsilon)

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[RandomizedResponse]:
        """Return responses with about as many cells as n records can tell apart: too few is the dangerous side."""
        if "epsilon" not in budget:
            return []
        cells = 6.0 * (n * math.sinh(0.5 * budget["epsilon"]) ** 2) ** (1.0 / 7.0)
        return [cls(max(4, round(cells * factor)), bounds=bounds, **budget) for factor in (0.8, 1.25)]

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP, exact."""
        return PureDP(randomized_response_epsilon(self.cells, self.truth) if self.epsilon is None else self.epsilon)

    @property
    def outputs(self) -> np.ndarray:
        """The indices of the cells."""
        return np.arange(self.cells, dtype=np.float64)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars:
        """Return the shares of the released cells, each where its cell is: numbers of cells are no values of y."""
        edges = np.linspace(*self.bounds, self.cells + 1)
        counts = np.bincount(z.astype(int), minlength=self.cells)
        return Bars(counts / (len(z) * np.diff(edges)), edges, "released cells (noisy)")

    def log_q(self, z, y):
        """Return log P(z|y); −∞ where z is not the index of a cell."""
        last = self.cells - 1
        if not 0.0 <= z <= last:
            return -math.inf if z == z else math.nan
        if z != math.floor(z):
            return -math.inf
        after_left = z == 0.0 or y >= _edge(self.bounds, self.cells, z)
        before_right = z == last or y < _edge(self.bounds, self.cells, z + 1.0)
        return self.log_truth if after_left and before_right else self.log_lie

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant: below, on and above the released one (hook)."""
        return 1 + int(z > 0.0) + int(z < self.cells - 1)

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0 (hook)."""
        return _edge(self.bounds, self.cells, z if j == 1 and z > 0.0 else z + 1.0)

    def cell_log_q(self, z, j):
        """Return log P(z|cell j) (hook)."""
        return self.log_truth if j == int(z > 0.0) else self.log_lie

    def resolution(self) -> float:
        """Return the width of a cell over √12, wider by the probability of the other cells."""
        lower, upper = self.bounds
        others = (self.cells - 1) * math.exp(self.log_lie - self.log_truth)
        return (upper - lower) / self.cells * (1.0 + others) / math.sqrt(12.0)

    def cell_of(self, y: np.ndarray) -> np.ndarray:
        """Return the true cell of each record."""
        return np.searchsorted(_edge(self.bounds, self.cells, np.arange(1, self.cells)), y, side="right")

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the released cell of each record; y outside the bounds counts as the nearest bound."""
        cell = self.cell_of(y)
        lies = rng.random(y.shape) < (self.cells - 1) * math.exp(self.log_lie)
        shift = rng.integers(1, self.cells, size=y.shape)
        return np.where(lies, (cell + shift) % self.cells, cell).astype(np.float64)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the middle of the released cell."""
        return _edge(self.bounds, self.cells, z + 0.5)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of whole floats, or say what is wrong with it."""
        z = super().check_release(z)
        bad = (z != np.floor(z)) | (z < 0) | (z > self.cells - 1)
        if bad.any():
            raise ValueError(
                f"RandomizedResponse with {self.cells} cells releases whole numbers from 0 to {self.cells - 1}; the "
                f"release z has {np.count_nonzero(bad)} other values, the first {z[bad][0]:g}. "
                "Check that the mechanism is the one that made the release."
            )
        return z


def _edge(bounds, cells, j):
    """Return the left edge of cell j: one formula for the density, the draws and the hooks, so that they agree."""
    return bounds[0] + (bounds[1] - bounds[0]) * j / cells


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
