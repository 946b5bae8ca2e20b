"""What a mechanism makes of a density on cells: the statistics of a release, and how they scatter.

The bounds are cut into cells. An experiment has a row for each statistic of a release and a column for each cell: the
mean of the statistic for a record of that cell. Three kinds. Each record has one of several outputs, or falls into one
of several bins of released values: shares of outputs. Each record has several bits: the share of ones of each bit.
A trusted holder counts records in bins and adds noise: shares of bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privmix.baselines.cells import cell_likelihood
from privmix.mechanisms import Mechanism

#: cells of the density
CELLS = 192
# Points of Gauss's rule in a bin of released values.
POINTS_IN_A_BIN = 3
# Bins of released numbers over their range, or over the bounds and on either side of them.
BINS, BINS_BEYOND = 128, 20
# How far noise reaches beyond the bounds, in standard deviations: Laplace noise leaves e^−14 there.
REACH = 10.0


@dataclass(frozen=True, eq=False)
class Experiment:
    """Statistics of a release as means over records.

    Parameters
    ----------
    means
        Mean of each statistic for a record of each cell.
    shares
        Whether the statistics are shares of outputs, so that they add up to 1 and scatter as multinomial counts.
    noise
        Variance of what a holder adds to n times each statistic.
    """

    means: np.ndarray
    shares: bool = True
    noise: float = 0.0

    def variances(self, expected: np.ndarray, n: float) -> np.ndarray:
        """Return n times the variance of each statistic where its mean is `expected`.

        Parameters
        ----------
        expected
            Mean of each statistic.
        n
            Number of records.
        """
        own = expected if self.shares else expected * (1.0 - expected)
        return np.maximum(own + self.noise / n, 1e-300)


def edges_of(bounds: tuple[float, float], cells: int = CELLS) -> np.ndarray:
    """Return the edges of equal cells."""
    return np.linspace(bounds[0], bounds[1], cells + 1)


@lru_cache(maxsize=256)
def experiment_of(mechanism: Any) -> Experiment:
    """Return the statistics of a mechanism's release.

    Parameters
    ----------
    mechanism
        A mechanism with bounds: of few outputs, of one number or several bits a record, or a histogram with noise.
    """
    if mechanism.counted_edges is not None:
        return Experiment(_shares_of_bins(mechanism), noise=mechanism.count_variance)
    if mechanism.row_length is not None:
        return Experiment(_means_of_bits(mechanism), shares=False)
    if mechanism.outputs is not None:
        return Experiment(_cell_means(mechanism, np.asarray(mechanism.outputs, dtype=np.float64)))
    return Experiment(_binned(mechanism))


def _binned(mechanism: Any) -> np.ndarray:
    """Return the probability of each bin of released numbers, by Gauss's rule."""
    edges, (nodes, weights) = release_edges(mechanism), np.polynomial.legendre.leggauss(POINTS_IN_A_BIN)
    middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * np.diff(edges)
    values = _cell_means(mechanism, (middle[:, None] + np.outer(half, nodes)).ravel())
    made = np.einsum("b,k,bkc->bc", half, weights, values.reshape(len(middle), len(nodes), CELLS))
    # What quadrature lost, and the tails beyond the last bins, go back in proportion: columns are distributions.
    return made / made.sum(axis=0)


def _cell_means(mechanism: Any, z: np.ndarray) -> np.ndarray:
    """Return the mean of q(z|y) over each cell, a row for each z."""
    values, top = cell_likelihood(mechanism, z, edges_of(mechanism.bounds))
    return values * np.exp(top)[:, None]


def release_edges(mechanism: Mechanism) -> np.ndarray:
    """Return edges of bins that hold all but a sliver of the released numbers."""
    if mechanism.release_range is not None:
        return np.linspace(*mechanism.release_range, BINS + 1)
    lower, upper = mechanism.bounds
    spread = mechanism.noise_spread()
    if spread is None:
        raise ValueError(f"{type(mechanism).__name__} cannot be planned: it does not say how far its releases reach.")
    # Inside the bounds every kink of the noise tells; beyond them it falls off the same way whatever the record.
    beyond = spread * np.arange(1, BINS_BEYOND + 1) * REACH / BINS_BEYOND
    return np.concatenate([lower - beyond[::-1], np.linspace(lower, upper, BINS + 1), upper + beyond])


def _shares_of_bins(mechanism: Mechanism) -> np.ndarray:
    """Return how much of each cell lies in each bin of a histogram."""
    edges, cells = np.asarray(mechanism.counted_edges), edges_of(mechanism.bounds)
    inside = np.clip(cells[None, :], edges[:-1, None], edges[1:, None])
    return np.diff(inside, axis=1) / np.diff(cells)


def _means_of_bits(mechanism: Any) -> np.ndarray:
    """Return the probability that each bit is one, in the middle of each cell."""
    edges = edges_of(mechanism.bounds)
    return mechanism.bit_means(0.5 * (edges[:-1] + edges[1:])).T
