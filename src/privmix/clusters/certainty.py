"""How sure the place of each record in an estimate is."""

from __future__ import annotations

import numpy as np

from privmix.clusters.partitions import Partitions
from privmix.jit import bind


def certainty(partitions: Partitions, labels: np.ndarray) -> np.ndarray:
    """Return for each record the mean similarity to the other records of its cluster; see `Clustering`."""
    n = len(labels)
    out = np.zeros(n)
    table = np.zeros((int(partitions.labels.max()) + 1, int(labels.max()) + 1), np.int32)
    size = np.bincount(labels)
    bind(add_certainty, {})(partitions.labels, partitions.probability, labels, size, table, out)
    out = np.clip(out, 0.0, 1.0)
    out.setflags(write=False)
    return out


def add_certainty(draws, probability, labels, size, table, out):
    """Add up each draw's share of cluster mates that are with the record (compiled); table is scratch of zeros."""
    for d in range(len(draws)):
        for i in range(len(labels)):
            table[draws[d, i], labels[i]] += 1
        for i in range(len(labels)):
            mates = size[labels[i]] - 1
            if mates > 0:
                out[i] += probability[d] * (table[draws[d, i], labels[i]] - 1) / mates
            else:
                out[i] += probability[d] * is_alone(table[draws[d, i]])
        for i in range(len(labels)):
            table[draws[d, i], labels[i]] = 0


def is_alone(row):
    """Return 1 if a cluster of a draw holds one record, else 0."""
    total = 0
    for k in range(len(row)):
        total += row[k]
    return 1.0 if total == 1 else 0.0
