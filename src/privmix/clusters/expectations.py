"""What the search asks of the draws: E Σ_st φ(n_st) for an estimate, and its change when a record moves.

For any φ the tables n_st of the estimate against all draws are kept as one array: a row for each cluster of each draw,
a column for each cluster of the estimate. Moving a record changes one row for each draw. For φ(x) = x² the similarity
matrix is enough: E Σ n_st² is the sum of the similarities within clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from privmix.clusters.partitions import Partitions
from privmix.clusters.slots import expected_joint, expected_steps, forget_places, note, rename


class Tables(NamedTuple):
    """The tables of the estimate against all draws.

    ``rows[i, d]`` is the row of ``table`` for the cluster of record i in draw d; ``row_probability`` is the probability
    of the draw of each row.
    """

    rows: np.ndarray
    probability: np.ndarray
    row_probability: np.ndarray
    table: np.ndarray


def make_tables(partitions: Partitions, most: int) -> Tables:
    """Return empty tables for estimates of at most so many clusters."""
    n = partitions.records
    groups = partitions.labels.max(axis=1).astype(np.int64) + 1
    first = np.concatenate([[0], np.cumsum(groups)])
    return Tables(
        rows=np.ascontiguousarray((partitions.labels + first[:-1, None]).T.astype(np.int32)),
        probability=partitions.probability,
        row_probability=np.repeat(partitions.probability, groups),
        table=np.zeros((first[-1], most), np.int16 if n < 2**15 else np.int32),
    )


def clear_tables(draws):
    """Set all counts to zero."""
    for g in range(draws.table.shape[0]):
        for k in range(draws.table.shape[1]):
            draws.table[g, k] = 0


def note_tables(draws, i, k, change):
    """Count record i in or out of cluster k."""
    for d in range(len(draws.probability)):
        draws.table[draws.rows[i, d], k] += change


def rename_tables(draws, k, last):
    """Move a column."""
    for g in range(draws.table.shape[0]):
        draws.table[g, k] = draws.table[g, last]
        draws.table[g, last] = 0


def steps_by_tables(draws, work, i):
    """Average φ(n_st + 1) − φ(n_st) over the draws."""
    used, own = work.used[0], work.label[i]
    for k in range(used):
        work.gain[k] = 0.0
    mine = 0.0
    for d in range(len(draws.probability)):
        row, p = draws.rows[i, d], draws.probability[d]
        for k in range(used):
            work.gain[k] += p * work.step[draws.table[row, k]]
        if own >= 0:
            mine += p * work.step[draws.table[row, own] - 1]
    if own >= 0:
        work.gain[own] = mine


def joint_by_tables(draws, work):
    """Add φ of all counts."""
    total = 0.0
    for g in range(draws.table.shape[0]):
        within = 0.0
        for k in range(work.used[0]):
            within += work.phi[draws.table[g, k]]
        total += draws.row_probability[g] * within
    return total


class Matrix(NamedTuple):
    """The similarity matrix."""

    similarity: np.ndarray


def clear_nothing(draws):
    """Do nothing: the matrix does not depend on the estimate."""


def note_nothing(draws, i, k, change):
    """Do nothing."""


def rename_nothing(draws, k, last):
    """Do nothing."""


def steps_by_matrix(draws, work, i):
    """Fill 1 + 2 Σ_j p_ij over the members of each cluster: E (n_st + 1)² − n_st²."""
    for k in range(work.used[0]):
        work.gain[k] = 1.0
    for j in range(len(work.label)):
        if work.label[j] >= 0 and j != i:
            work.gain[work.label[j]] += 2.0 * draws.similarity[i, j]


def joint_by_matrix(draws, work):
    """Add the similarities of all pairs within clusters, each way, and of records to themselves."""
    total = 0.0
    for i in range(len(work.label)):
        for j in range(i):
            if work.label[i] == work.label[j]:
                total += 2.0 * draws.similarity[i, j]
        total += 1.0
    return total


BY_TABLES: dict[Callable, Any] = {
    forget_places: clear_tables,
    note: note_tables,
    rename: rename_tables,
    expected_steps: steps_by_tables,
    expected_joint: joint_by_tables,
}
BY_MATRIX: dict[Callable, Any] = {
    forget_places: clear_nothing,
    note: note_nothing,
    rename: rename_nothing,
    expected_steps: steps_by_matrix,
    expected_joint: joint_by_matrix,
}
