"""The unbiased shares of cells under randomized response, unary encoding and subset selection.

References
----------
Duchi, J., Shalev-Shwartz, S., Singer, Y. and Chandra, T. (2008). Efficient projections onto the ℓ1-ball for learning
    in high dimensions. ICML.
Wang, T., Blocki, J., Li, N. and Jha, S. (2017). Locally differentially private protocols for frequency estimation.
    USENIX Security.
Wang, T., Lopuhaä-Zwakenberg, M., Li, Z., Skoric, B. and Li, N. (2020). Locally differentially private frequency
    estimation with consistency. NDSS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.baselines.base import Baseline
from privmix.baselines.histogram import Histogram
from privmix.mechanisms import LocalMechanism
from privmix.parts.checks import check_switch


@dataclass(frozen=True)
class Inversion(Baseline):
    """Solve for the shares of the mechanism's cells that would make the release what is expected.

    A record names some cells: that of its answer, those of its bits that are one, or those of its set. It names its own
    with probability p and any other with probability q, so that with c_k the share of records that name cell k,
    (c_k − q)/(p − q) is unbiased for its mass: Wang et al. (2017), their pure protocols. Masses can be negative and,
    with bits, add up to something else than 1; they are then moved to the nearest probabilities (Wang et al. 2020,
    Norm-Sub: the Euclidean projection).

    Serves `RandomizedResponse`, `UnaryEncoding` and `SubsetSelection` on one grid.

    Parameters
    ----------
    projected
        Whether to project; without it the estimate is unbiased and may be negative.
    joined
        Whether to join the middles of the cells by straight lines, which is closer to a smooth density than steps are.
    """

    projected: bool = True
    joined: bool = False

    def __post_init__(self) -> None:
        for name in ("projected", "joined"):
            check_switch(name, getattr(self, name), "Inversion")

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that a mechanism without cells, or with two grids of them, is not served."""
        if getattr(mechanism, "staggered", False):
            return "solves for the cells of one grid, and there are two: use staggered=False, or EMS"
        if not (hasattr(mechanism, "sets_of_cells") or hasattr(mechanism, "bit_means")):
            return "counts the cells that records name, as under RandomizedResponse or UnaryEncoding; else use EMS"
        return ""

    def estimate(self, z: np.ndarray, mechanism: Any) -> Histogram:
        """Return the shares of the cells."""
        lower, upper = mechanism.bounds
        edges = np.linspace(lower, upper, mechanism.cells + 1)
        middles = 0.5 * (edges[1:] + edges[:-1])
        named, chance = (_of_bits if hasattr(mechanism, "bit_means") else _of_sets)(z, mechanism, middles)
        own, other = chance[0, 0], chance[0, 1]
        mass = (named - other) / (own - other)
        return Histogram(edges, nearest_probabilities(mass) if self.projected else mass, self.joined)


def _of_bits(z: np.ndarray, mechanism: Any, middles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of ones of each bit, and their probability for a record in the middle of each cell."""
    return z.mean(axis=0), mechanism.bit_means(middles).T


def _of_sets(z: np.ndarray, mechanism: Any, middles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many records' sets hold each cell, as shares, and the probability that they do."""
    held = mechanism.sets_of_cells().astype(np.float64)
    shares = np.bincount(z.astype(int), minlength=len(held)) / len(z)
    return shares @ held, held.T @ np.exp(mechanism.logpdf(mechanism.outputs[:, None], middles))


def nearest_probabilities(mass: np.ndarray) -> np.ndarray:
    """Return the probabilities that are nearest in the Euclidean sense: a constant is taken off, negative ones are 0.

    Duchi et al. (2008): the constant is that of the largest number of cells which keep a positive mass.
    """
    ordered = np.sort(mass)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(mass) + 1)
    return np.maximum(mass - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)
