"""Exact laws of random partitions under the Chinese restaurant process.

Ground truth for the tests of samplers: every partition of a handful of records, its prior probability, and
the law of the number of clusters for any number of records, at a fixed concentration or under a gamma
hyperprior.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad_vec
from scipy.special import gammainccinv, gammaln

Concentration = float | tuple[float, float]

# Prior mass left out at each end of a gamma hyperprior: below the rounding of a double.
_TAIL = 1e-17


def set_partitions(n: int) -> list[tuple[int, ...]]:
    """Return every partition of n records, as labels in restricted-growth form.

    The first label is 0, and each further label is at most one more than the largest before it, so that
    every partition appears once. The order is lexicographic.

    Parameters
    ----------
    n : int
        Number of records, at least 1. The list has Bell(n) entries: 15 for n = 4, 52 for n = 5.

    Returns
    -------
    list of tuple of int
        The label vectors.
    """
    if n < 1:
        raise ValueError(f"n = {n} records were given; a partition needs at least 1.")
    partitions: list[tuple[int, ...]] = [(0,)]
    for _ in range(n - 1):
        partitions = [(*labels, new) for labels in partitions for new in range(max(labels) + 2)]
    return partitions


def canonical(allocation: Iterable[Hashable]) -> tuple[int, ...]:
    """Return the restricted-growth form of a label vector: labels numbered in order of appearance.

    Parameters
    ----------
    allocation : iterable
        One label a record; two records share a cluster if and only if their labels are equal.

    Returns
    -------
    tuple of int
        The entry of :func:`set_partitions` that is the same partition.
    """
    seen: dict[Hashable, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in allocation)


def partition_index(allocations: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the position in ``set_partitions(n)`` of each row of labels.

    Parameters
    ----------
    allocations : array_like of int, shape (r, n)
        One allocation a row, with arbitrary labels.
    n : int
        Number of records.

    Returns
    -------
    ndarray of int, shape (r,)
        Indices into ``set_partitions(n)``.
    """
    labels = np.asarray(allocations)
    if labels.ndim != 2 or labels.shape[1] != n:
        raise ValueError(f"allocations have shape {labels.shape}; one row of {n} labels a draw is needed.")
    # Restricted-growth labels read as digits in base n increase along set_partitions.
    digits = n ** np.arange(n - 1, -1, -1)
    codes = np.array(set_partitions(n)) @ digits
    return np.searchsorted(codes, _restricted_growth(labels) @ digits)


def _restricted_growth(labels: NDArray) -> NDArray[np.int64]:
    """Return the canonical form of every row."""
    rows, n = labels.shape
    first = np.empty((rows, n), dtype=np.int64)
    for i in range(n):
        first[:, i] = np.argmax(labels[:, : i + 1] == labels[:, i : i + 1], axis=1)
    rank = np.cumsum(first == np.arange(n), axis=1) - 1
    return np.take_along_axis(rank, first, axis=1)


def log_crp(partition: Sequence[int], concentration: float) -> float:
    """Return the log probability of a partition under the Chinese restaurant process.

    The law is α^k / (α)_(n) · ∏_h (n_h − 1)!, where (α)_(n) = α (α + 1) … (α + n − 1) runs over the n
    records, not over the k clusters; only so do the probabilities sum to one.

    Parameters
    ----------
    partition : sequence of int
        One label a record.
    concentration : float
        The concentration α > 0.

    Returns
    -------
    float
        The log probability.
    """
    alpha = _positive("concentration", concentration)
    _, sizes = np.unique(np.asarray(partition), return_counts=True)
    rising = np.log(alpha + np.arange(len(partition))).sum()
    return float(len(sizes) * np.log(alpha) - rising + gammaln(sizes).sum())


def cluster_count_pmf(n: int, concentration: Concentration) -> NDArray[np.float64]:
    """Return the law of the number of clusters K of n records.

    P(K = k) = |s(n, k)| α^k / (α)_(n) with |s(n, k)| the unsigned Stirling numbers of the first kind,
    averaged over α under a hyperprior.

    Parameters
    ----------
    n : int
        Number of records, at least 1.
    concentration : float or (float, float)
        The concentration α, or the (shape, rate) of its gamma hyperprior.

    Returns
    -------
    ndarray of float, shape (n + 1,)
        Entry k is P(K = k); entry 0 is zero.
    """
    log_stirling = _log_stirling(n)
    clusters, others = np.arange(1, n + 1), np.arange(1, n)

    def pmf(log_alpha: float) -> NDArray[np.float64]:
        # One factor α cancels between α^k and (α)_(n), so that α = 0 is no special case.
        rising = np.log(np.exp(log_alpha) + others).sum()
        return np.exp(log_stirling + (clusters - 1) * log_alpha - rising)

    return np.concatenate([[0.0], _average(pmf, concentration)])


def expected_clusters(n: int, concentration: Concentration) -> float:
    """Return the expected number of clusters of n records, E[Σ_{i<n} α / (α + i)].

    Parameters
    ----------
    n : int
        Number of records, at least 1.
    concentration : float or (float, float)
        The concentration α, or the (shape, rate) of its gamma hyperprior.

    Returns
    -------
    float
        The expectation.
    """
    others = np.arange(1, n)

    def expectation(log_alpha: float) -> NDArray[np.float64]:
        alpha = np.exp(log_alpha)
        return np.array([1.0 + (alpha / (alpha + others)).sum()])

    return float(_average(expectation, concentration)[0])


def _average(function: Callable[[float], NDArray], concentration: Concentration) -> NDArray[np.float64]:
    """Return a function of log α at a fixed α, or its mean over a gamma hyperprior."""
    if not isinstance(concentration, tuple):
        return function(np.log(_positive("concentration", concentration)))
    shape = _positive("shape", concentration[0])
    rate = _positive("rate", concentration[1])
    constant = shape * np.log(rate) - gammaln(shape)

    def integrand(log_alpha: float) -> NDArray[np.float64]:
        return np.exp(constant + shape * log_alpha - rate * np.exp(log_alpha)) * function(log_alpha)

    # P(α < x) ≤ (rate·x)^shape / Γ(shape + 1): unlike that of the exact law, the logarithm of its quantile is
    # finite at a small shape.
    low = (np.log(_TAIL) + gammaln(shape + 1)) / shape - np.log(rate)
    high = np.log(gammainccinv(shape, _TAIL) / rate)
    return quad_vec(integrand, low, high, epsabs=1e-13, epsrel=1e-12, norm="max")[0]


@lru_cache(maxsize=32)
def _log_stirling(n: int) -> NDArray[np.float64]:
    """Return log |s(n, k)| for k = 1 … n, by |s(i + 1, k)| = i |s(i, k)| + |s(i, k − 1)|."""
    if n < 1:
        raise ValueError(f"n = {n} records were given; a partition needs at least 1.")
    row = np.zeros(1)
    for i in range(1, n):
        padded = np.concatenate([[-np.inf], row, [-np.inf]])
        row = np.logaddexp(np.log(i) + padded[1:], padded[:-1])
    row.flags.writeable = False
    return row


def _positive(name: str, value: float) -> float:
    """Return a number that must be positive and finite."""
    if not 0 < value < np.inf:
        raise ValueError(f"{name} = {value} was given; it must be a positive, finite number.")
    return float(value)
