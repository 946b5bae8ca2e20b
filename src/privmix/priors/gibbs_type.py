"""The number of clusters under a Gibbs-type prior: P(partition) = V_n(k) ∏ (1 − d)(2 − d)…(n_h − 1 − d).

Gnedin, A. and Pitman, J. (2006). Exchangeable Gibbs partitions and Stirling triangles. Journal of Mathematical Sciences
138.
"""

from __future__ import annotations

import numpy as np

# Records times clusters beyond which the triangle of sums is not filled: some seconds.
LARGEST_TRIANGLE = 25_000_000


def log_size_sums(n: int, less: float | np.ndarray, most: int) -> np.ndarray:
    """Return log Σ ∏ (1 − d)…(n_h − 1 − d) over the partitions of n records into 1, …, `most` clusters.

    Record n + 1 joins one of k clusters, whose weights add up to n − kd, or opens one:
    S(n + 1, k) = (n − kd) S(n, k) + S(n, k − 1).
    """
    k = np.arange(1, most + 1)
    sums = np.full((*np.shape(less), most), -np.inf)
    sums[..., 0] = 0.0
    with np.errstate(divide="ignore"):
        for records in range(1, n):
            joined = np.log(np.maximum(records - k * np.asarray(less)[..., None], 0.0))
            opened = np.concatenate([np.full((*np.shape(less), 1), -np.inf), sums[..., :-1]], axis=-1)
            sums = np.logaddexp(sums + joined, opened)
    return sums


def is_too_large(n: int, most: int, rows: int = 1) -> bool:
    """Return whether the triangles of `rows` values of d would take more than some seconds to fill."""
    return n * most * rows > LARGEST_TRIANGLE


def cluster_law(n: int, less: float | np.ndarray, log_v: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the law of the number of clusters from 0 on, the weighted mean over the rows of log V_n(1), V_n(2), ….

    `less` is d, or one for each row.
    """
    return np.append(0.0, weights @ np.exp(log_size_sums(n, less, log_v.shape[1]) + log_v))
