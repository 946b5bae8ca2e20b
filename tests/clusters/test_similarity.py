"""The similarity matrix equals a count pair by pair."""

import numpy as np
import pytest

from privmix.clusters.partitions import canonical
from privmix.clusters.similarity import similarity_matrix


def by_loop(labels):
    total = np.zeros((labels.shape[1], labels.shape[1]))
    for row in labels:
        total += row[:, None] == row[None, :]
    return total / len(labels)


# One tile and several, one byte's worth of draws and more, more clusters than a byte names, single precision.
@pytest.mark.parametrize(
    ("n", "draws", "clusters"),
    [(1, 1, 1), (2, 3, 2), (127, 5, 3), (128, 254, 4), (300, 255, 5), (129, 513, 2), (90, 600, 1), (700, 6, 600)],
)
def test_equals_a_loop(n, draws, clusters):
    labels = np.random.default_rng(n).integers(0, clusters, (draws, n))
    matrix = similarity_matrix(canonical(labels))
    assert matrix.dtype == np.float64
    assert np.array_equal(matrix, by_loop(labels))


def test_single_precision_beyond_2000_records():
    labels = np.random.default_rng(1).integers(0, 9, (259, 2050))
    matrix = similarity_matrix(canonical(labels))
    assert matrix.dtype == np.float32
    assert np.array_equal(matrix, matrix.T)
    assert np.array_equal(matrix, by_loop(labels).astype(np.float32))


def test_names_of_clusters_play_no_part():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 6, (40, 50))
    renamed = np.stack([rng.permutation(6)[row] for row in labels])
    assert np.array_equal(canonical(labels), canonical(renamed))
    assert np.array_equal(canonical(labels), canonical(1000 - 7 * labels))
    assert not np.array_equal(labels, renamed)
