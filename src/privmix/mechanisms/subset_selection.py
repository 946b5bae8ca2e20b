"""Subset selection: each record releases a set of cells of the bounds, one that holds its own more often than not.

References
----------
Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Exactly optimal and communication-efficient private estimation via block
    designs. arXiv:2305.01261.
Wang, S., Huang, L., Wang, P., Nie, Y., Xu, H., Yang, W., Li, X.-Y. and Qiao, C. (2016). Mutual information optimally
    local private discrete distribution estimation. arXiv:1607.08025.
Ye, M. and Barg, A. (2018). Optimal schemes for discrete distribution estimation under locally differential privacy.
    IEEE Transactions on Information Theory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.cell_grid import CellGrid, cells_to_try, grid_edge, is_output
from privmix.mechanisms.difference_sets import difference_set, known_designs
from privmix.mechanisms.ratios import budget
from privmix.parts import given
from privmix.parts.checks import cells_of_categories, check_bounds, check_count, check_switch, fill

# Where no difference set is known all subsets of a size are used, if they are no more than this: `Binned` evaluates
# g(z|θ) at every output.
MOST_SUBSETS = 2000
# Subsets that a plan tries: each is an output to predict for.
MOST_SUBSETS_TO_TRY = 200
# With fewer cells than this, over what n records can tell apart, they are not tried.
LEAST_SHARE_TO_TRY = 0.55
# More cells than this make tables that nobody needs: use randomized response.
MOST_CELLS = 500
# A size other than the best is taken by default if it keeps this much of the information.
ENOUGH_INFORMATION = 0.9
# Cost of a cell of log g, in that of the normal-Laplace pair (randomized response has three for 4).
COST_OF_A_CELL = 4.0 / 3.0


@dataclass(frozen=True, eq=False)
class SubsetSelection(CellGrid):
    """Release a set of d of k cells: one that holds the cell of y is e^ε times as likely as one that does not.

    The bounds are cut into k equal cells, closed on the left; y outside the bounds counts as the nearest bound. The
    sets are the k shifts of a cyclic difference set where one is known (7, 11, 13, 15, 19, 21, 23, 31, 37, 40, … cells:
    `privmix.mechanisms.difference_sets`), else all C(k, d) subsets where these are at most 2,000; the release is the
    number of the set. Every two cells are together in equally many sets, so both kinds tell equally much (Park, Nam and
    Lee 2023). With one cell in a set it is `RandomizedResponse`. With ``staggered`` each record uses one of two grids
    that are shifted by half a cell (`privmix.mechanisms.cell_grid`), by the toss of a fair coin; numbers from the
    number of sets on are sets of the second.

    Guarantee: ε-differential privacy for any two records, exact, because the probability of an output takes two values
    whose ratio is e^ε; the proof is with `subset_selection_probabilities`. Also ρ-zero-concentrated with the ρ of
    `zcdp`: at ε = 1, 4 of 13 cells, .259, where ε²/2 = .5.

    Parameters
    ----------
    cells
        Number k of cells, at least 2.
    epsilon
        Wanted ε.
    bounds
        Range of a record, known without looking at the data.
    size
        Number d of cells in a set; by default the most informative one, about k/(e^ε + 1).
    rho
        Wanted zCDP budget instead of ε.
    staggered
        Whether to use two grids, shifted by half a cell, instead of one
    categories
        Names of the values of a record that is no number: a cell for each, in place of ``cells`` and ``bounds``.
    """

    cells: int = field(default=None, metadata={"metavar": "K", "needed": True})  # type: ignore[assignment]
    epsilon: float = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    size: int = given(metavar="D")
    rho: float | None = given()
    staggered: bool = False
    categories: Any = given()
    sets: np.ndarray = field(init=False, repr=False)
    runs: np.ndarray = field(init=False, repr=False)
    log_inside: float = field(init=False, repr=False)
    log_outside: float = field(init=False, repr=False)

    in_words = "of each record a set of cells of its range was published, one that is likely to hold it"
    output_in_words = "released set of cells (its number)"
    details: ClassVar[dict[str, str]] = {"cells": "cells", "size": "cells in a set"}

    def __post_init__(self) -> None:
        if self.categories is not None:
            cells_of_categories(self)
        cells = check_count("cells", self.cells, 2, "SubsetSelection")
        if cells > MOST_CELLS:
            raise ValueError(f"SubsetSelection takes at most {MOST_CELLS} cells; got {cells}. Use RandomizedResponse.")
        bounds = check_bounds(self.bounds, needed_for="SubsetSelection")
        fill(self, cells=cells, bounds=bounds, staggered=check_switch("staggered", self.staggered, "SubsetSelection"))
        epsilon, size = _complete(cells, self.epsilon, self.rho, self.size)
        sets = sets_of_cells(cells, size)
        inside, _ = subset_selection_probabilities(len(sets), cells, size, epsilon)
        log_inside = math.log(inside) - math.log(self.grids)
        fill(self, epsilon=epsilon, size=size, sets=sets, runs=_runs(sets))
        fill(self, log_inside=log_inside, log_outside=log_inside - epsilon)
        for table in (self.sets, self.runs):
            table.setflags(write=False)

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: Any) -> list[SubsetSelection]:
        """Return sets of about as many cells as n records can tell apart, on one grid and on two.

        The nearest designs, and all subsets of few cells. One cell in a set is randomized response and left to it; two
        of few cells may be better still, where neither number is the best one alone.
        """
        epsilon = next(iter(budget.values())) if "epsilon" in budget else math.sqrt(2.0 * budget["rho"])
        found = []
        for staggered in (False, True):
            wanted = math.log(cells_to_try(n, epsilon, staggered))
            designs = [(k, d) for k, d in known_designs() if _is_near_best(k, d, epsilon)]
            for k, d in sorted(designs, key=lambda design: abs(math.log(design[0]) - wanted))[:2]:
                found.append(cls(k, bounds=bounds, size=d, staggered=staggered, **budget))
            tried = [max(6, round(factor * math.exp(wanted))) for factor in (0.6, 0.85)]
            for k, d in sorted({_few_subsets(k, epsilon) for k in tried} - set(designs)):
                if k >= LEAST_SHARE_TO_TRY * math.exp(wanted):
                    found.append(cls(k, bounds=bounds, size=d, staggered=staggered, **budget))
        return found

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return subset_selection_variation(self.cells, self.size, self.epsilon)

    @property
    def cell_cost(self) -> float:
        """Cost of log g, in that of the normal-Laplace pair."""
        return COST_OF_A_CELL * float(np.mean(self.runs[:, 0]))

    def sets_of_cells(self) -> np.ndarray:
        """Return which cells each set holds."""
        return self.sets

    def log_q(self, z, y):
        """Return log P(z|y); −∞ where z is not the number of a set."""
        if not is_output(z, len(self.sets) * (1 + self.staggered) - 1):
            return -math.inf if z == z else math.nan
        grid, row = _place(self, z)
        return self.log_inside if self.sets[row, _cell_of(self, grid, y)] else self.log_outside

    def cell_count(self, z):
        """Return the number of runs of cells that the set holds, or does not (hook)."""
        _, row = _place(self, z)
        return self.runs[row, 0]

    def cell_edge(self, z, j):
        """Return the left edge of run j > 0 (hook)."""
        grid, row = _place(self, z)
        return grid_edge(self, grid, self.runs[row, j])

    def cell_log_q(self, z, j):
        """Return log P(z|run j): runs inside and outside take turns (hook)."""
        _, row = _place(self, z)
        return self.log_inside if self.sets[row, 0] == (j % 2 == 0) else self.log_outside

    def respond(self, rng: np.random.Generator, cell: np.ndarray) -> np.ndarray:
        """Draw the released set of each record from its true cell: one that holds it, or by chance another."""
        ordered = np.argsort(~self.sets, axis=0, kind="stable")  # for each cell the sets that hold it, then the others
        holding = int(self.sets[:, 0].sum())
        holds = rng.random(cell.shape) < holding * self.grids * math.exp(self.log_inside)
        place = np.where(holds, rng.integers(0, holding, cell.shape), rng.integers(holding, len(ordered), cell.shape))
        return ordered[place, cell]


def _place(part, z):
    """Return the grid and the set of a released number."""
    sets = len(part.sets)
    return (1.0, int(z) - sets) if z >= sets else (0.0, int(z))


def _cell_of(part, grid, y):
    """Return the cell of y on a grid: a guess by division, then the edges themselves."""
    last = part.cells - 1
    place = (y - part.bounds[0]) / (part.bounds[1] - part.bounds[0])
    place = 0.5 * (place * (2.0 * part.cells - 1.0) + grid) if part.staggered else place * part.cells
    cell = int(min(max(place, 0.0), float(last)))
    if cell < last and y >= grid_edge(part, grid, cell + 1):
        return cell + 1
    if cell > 0 and y < grid_edge(part, grid, cell):
        return cell - 1
    return cell


def sets_of_cells(cells: int, size: int) -> np.ndarray:
    """Return the sets, an array (set, cell) of booleans, or say why there are none and what to take instead.

    Parameters
    ----------
    cells, size
        k and d.
    """
    block = difference_set(cells, size)
    if block is not None:
        return np.stack([np.isin(np.arange(cells), (np.array(block) + shift) % cells) for shift in range(cells)])
    if math.comb(cells, size) > MOST_SUBSETS:
        raise ValueError(
            f"SubsetSelection: {size} of {cells} cells has more than {MOST_SUBSETS} subsets, and no difference set "
            f"that is known here. {_instead(cells, size / cells)}"
        )
    return np.stack([np.isin(np.arange(cells), held) for held in combinations(range(cells), size)])


def _runs(sets: np.ndarray) -> np.ndarray:
    """Return, for each set, how many runs its cells and the others form, then the first cell of each but the first."""
    starts = [1 + np.flatnonzero(row[1:] != row[:-1]) for row in sets]
    table = np.zeros((len(sets), 1 + max(map(len, starts))), dtype=np.int64)
    for row, found in zip(table, starts, strict=True):
        row[: 1 + len(found)] = 1 + len(found), *found
    return table


def _instead(cells: int, share: float) -> str:
    """Return what to take instead: the designs nearest in cells whose sets have about such a share of them."""
    suitable = [(k, d) for k, d in known_designs() if share < 1.6 * d / k < 2.6 * share] or list(known_designs())
    nearest = sorted(sorted(suitable, key=lambda design: abs(design[0] - cells))[:3])
    named = ", ".join(f"cells={k} (sets of {d})" for k, d in nearest)
    return f"Nearest with a difference set: {named}; or use RandomizedResponse, which takes any number of cells."


def _complete(cells: int, epsilon: Any, rho: Any, size: Any) -> tuple[float, int]:
    """Return ε and the size of a set from what was given; of the sizes that can be served the most informative."""

    def spend(d: int) -> float:
        return budget("SubsetSelection", partial(subset_selection_variation, cells, d), epsilon, rho)

    if size is not None:
        size = check_count("size", size, 1, "SubsetSelection")
        if size >= cells:
            raise ValueError(f"SubsetSelection: size must be below the {cells} cells; got {size}.")
        return spend(size), size
    spent = {d: spend(d) for d in range(1, cells // 2 + 1) if _is_served(cells, d)}
    best = max(spent, key=lambda d: subset_selection_information(cells, d, spent[d]))
    if rho is None:
        _need_information(cells, best, spent[best])
    return spent[best], best


def _best_size(cells: int, epsilon: float) -> int:
    return max(1, round(cells * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))))


def _is_near_best(cells: int, size: int, epsilon: float) -> bool:
    """Return whether a size tells nearly as much as the best one."""
    found, best = (subset_selection_information(cells, d, epsilon) for d in (size, _best_size(cells, epsilon)))
    return found >= ENOUGH_INFORMATION * best


def _few_subsets(cells: int, epsilon: float) -> tuple[int, int]:
    """Return the largest number of cells, up to the one given, that has few subsets of the best size, and the size."""
    size = max(2, _best_size(cells, epsilon))
    return (cells, size) if math.comb(cells, size) <= MOST_SUBSETS_TO_TRY else _few_subsets(cells - 1, epsilon)


def _need_information(cells: int, size: int, epsilon: float) -> None:
    """Refuse a size that tells much less than the best one; at a given ρ a small one, with more ε, is never far off."""
    if not _is_near_best(cells, size, epsilon):
        ideal = _best_size(cells, epsilon)
        raise ValueError(
            f"SubsetSelection with {cells} cells at ε = {epsilon:.4g} needs sets of about {ideal}: more than "
            f"{MOST_SUBSETS} subsets, and no difference set that is known here. {_instead(cells, ideal / cells)}"
        )


def _is_served(cells: int, size: int) -> bool:
    return math.comb(cells, size) <= MOST_SUBSETS or difference_set(cells, size) is not None


def subset_selection_probabilities(sets: int, cells: int, size: int, epsilon: float) -> tuple[float, float]:
    """Return the probability of a set that holds the true cell and of one that does not: e^epsilon/N and 1/N.

    Derivation. Of b sets of d cells, in which every cell lies equally often, each cell lies in r = bd/k. The law of an
    output is proportional to 1 + (e^epsilon - 1) 1{cell in set}, and N = r e^epsilon + b - r is the same for every
    cell. So an output has two probabilities, of ratio e^epsilon; both occur, since 0 < d < k, and the least epsilon is
    this one (Wang et al. 2016; Ye and Barg 2018).

    Parameters
    ----------
    sets, cells, size : int
        b, k and d.
    epsilon : float
        Budget of pure differential privacy.

    Returns
    -------
    tuple of float
        (inside, outside).
    """
    holding = sets * size / cells
    inside = 1.0 / (holding + (sets - holding) * math.exp(-epsilon))
    return inside, inside * math.exp(-epsilon)


def subset_selection_variation(cells: int, size: int, epsilon: float) -> float:
    """Return the total variation between the releases of two cells.

    Every two cells lie together in lambda = r (d - 1)/(k - 1) sets, as among all subsets and in a design. The r -
    lambda sets that hold one cell and not the other have 1/N under the other and e^epsilon/N under it: the total
    variation is (r - lambda)(e^epsilon - 1)/N, whatever the cells.

    Parameters
    ----------
    cells, size : int
        k and d.
    epsilon : float
        Budget of pure differential privacy.
    """
    share = size / cells
    apart = share * (cells - size) / (cells - 1)
    return apart * -math.expm1(-epsilon) / (share + (1.0 - share) * math.exp(-epsilon))


def subset_selection_information(cells: int, size: int, epsilon: float) -> float:
    """Return Fisher's information of a release about the probabilities of the cells, where these are equal.

    In a direction v with sum 0 it is sum_z (sum_c P(z|c) v_c)^2/P(z) = b ((e^epsilon - 1)/N)^2 sum_z v(z)^2, with v(z)
    the sum of v over a set, and sum_z v(z)^2 = (r - lambda) |v|^2. With s = d/k that is, for |v| = 1,

        (k/(k - 1)) s (1 - s) ((e^epsilon - 1)/(1 + s (e^epsilon - 1)))^2,

    largest at s = 1/(e^epsilon + 1).

    Parameters
    ----------
    cells, size : int
        k and d.
    epsilon : float
        Budget of pure differential privacy.
    """
    share, less = size / cells, -math.expm1(-epsilon)
    return cells / (cells - 1) * share * (1.0 - share) * (less / (math.exp(-epsilon) + share * less)) ** 2
