"""The point estimate of the clusters: the partition of least posterior expected loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.clusters.certainty import certainty
from privmix.clusters.expectations import BY_MATRIX, BY_TABLES, Matrix, make_tables
from privmix.clusters.losses import Loss, expected_bounds, expected_loss
from privmix.clusters.partitions import Partitions, number_by_size
from privmix.clusters.search import descend, make_work
from privmix.clusters.similarity import similarity_matrix
from privmix.jit import bind

if TYPE_CHECKING:
    import pandas as pd

# Every visited partition competes while partitions² × records is below this (20 s, were none ruled out by its bound);
# else as many, evenly spaced, as a quarter of it pays for.
MOST_LABELS_COMPARED = 2e10
# Runs that start from visited partitions, the best by their bounds.
FROM_VISITED = 4
# Clusters destroyed and built anew in a run, as in SALSO.
ZEALOUS = 10


@dataclass(frozen=True, eq=False)
class Clustering:
    """An estimate of the clusters of the records.

    Parameters
    ----------
    labels
        Cluster of each record: 0 is the largest cluster, and so on; of equal ones the first to appear comes first.
    expected_loss
        Posterior expectation of the loss of these labels, exact over the draws.
    loss, weight
        The loss that was minimised: "vi" (in bits) or "binder", and the cost of a wrong separation (a wrong joining
        costs 2 − weight).
    certainty
        For each record the expected share of the other records of its cluster that truly are with it: the mean of its
        posterior similarities to them. For a record alone in its cluster, the posterior probability that it is alone.
    draws
        Draws used, all chains together.
    visited
        Distinct partitions among the draws that the estimate was compared with; it is no worse than any of them.
    index
        Labels of the records, where the release came with labels.
    """

    labels: np.ndarray
    expected_loss: float
    loss: str
    weight: float
    certainty: np.ndarray
    draws: int
    visited: int
    index: pd.Index | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return cluster and certainty of each record by its label, to join to the frame of the release.

        Without labels the records are numbered from 0.
        """
        import pandas as pd

        return pd.DataFrame({"cluster": self.labels, "certainty": self.certainty}, index=self.index)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> np.ndarray:
        """Records of each cluster."""
        return np.bincount(self.labels)

    def __repr__(self) -> str:
        return (
            f"<privmix.Clustering: {self.n_clusters} clusters of {len(self.labels)} records, expected {self.loss} loss "
            f"{self.expected_loss:.4g}, {self.draws} draws>"
        )


class Search:
    """A search for the partition of least expected loss over fixed draws: its tables, and the best so far."""

    def __init__(self, partitions: Partitions, loss: Loss, most: int, matrix: np.ndarray | None, seed: Any) -> None:
        n = partitions.records
        self.partitions, self.loss = partitions, loss
        self.rng = np.random.default_rng(seed)
        self.work = make_work(loss.phi(n + 1), loss.weight, n, most)
        self.draws: Any
        if loss.name == "binder" and matrix is not None:
            self.draws, hooks = Matrix(matrix), BY_MATRIX
        else:
            self.draws, hooks = make_tables(partitions, most), BY_TABLES
        self.descend = bind(descend, hooks)
        self.best, self.value = np.zeros(n, np.int64), np.inf

    def run(self, start: np.ndarray) -> None:
        """Run from a start, and keep the result if its exact expected loss is less than the best so far."""
        self.descend(self.draws, self.work, self.rng, np.ascontiguousarray(start, dtype=np.int64), ZEALOUS)
        value = expected_loss(self.loss, self.partitions, self.work.label)
        # Another partition of the same loss, but for rounding, does not take the place.
        if value < self.value - 1e-12:
            self.best, self.value = self.work.label.copy(), value

    def compare(self, candidates: np.ndarray, bounds: np.ndarray) -> None:
        """Run from every candidate that is better than the best so far; bounds of their losses rule most out."""
        for c in np.argsort(bounds, kind="stable"):
            # Similarities in single precision are good to six digits.
            if bounds[c] > self.value * (1.0 + 1e-5) + 1e-6:
                break
            if expected_loss(self.loss, self.partitions, candidates[c]) < self.value:
                self.run(candidates[c])


def estimate_clusters(
    partitions: Partitions,
    loss: Loss,
    *,
    max_clusters: int | None = None,
    runs: int = 16,
    visited: int | None = None,
    seed: Any = 0,
) -> Clustering:
    """Search for the partition of least expected loss; `Posterior.clustering` documents the parameters."""
    n = partitions.records
    most = n if max_clusters is None else min(n, max_clusters)
    if loss.name == "vi" and max_clusters is None:
        most = min(n, 2 * int(partitions.labels.max() + 1) + 16)
    candidates = competitors(partitions, most, visited)
    matrix = similarity_of(partitions) if loss.name == "binder" or n <= len(partitions.labels) else None
    bounds = rank(loss, partitions, matrix, candidates)
    search = Search(partitions, loss, most, matrix, seed)
    nearest = candidates[np.argsort(bounds, kind="stable")[:FROM_VISITED]]
    for start in starts(nearest, n, min(most, int(partitions.labels.max()) + 1), runs, search.rng):
        search.run(start)
    search.compare(candidates, bounds)
    labels = number_by_size(search.best)
    labels.setflags(write=False)
    sure = certainty(partitions, labels)
    return Clustering(labels, search.value, loss.name, loss.weight, sure, partitions.draws, len(candidates))


def similarity_of(partitions: Partitions) -> np.ndarray:
    """Return the similarity matrix of all draws."""
    return similarity_matrix(np.repeat(partitions.labels, partitions.counts, axis=0))


def competitors(partitions: Partitions, most: int, visited: int | None) -> np.ndarray:
    """Return the visited partitions of at most so many clusters that the estimate is compared with."""
    allowed = partitions.labels[partitions.labels.max(axis=1) < most]
    if visited is None:
        distinct, n = partitions.labels.shape
        everything = distinct * distinct * n <= MOST_LABELS_COMPARED
        visited = len(allowed) if everything else max(FROM_VISITED, int(MOST_LABELS_COMPARED / 4 / (distinct * n)))
    if visited >= len(allowed):
        return allowed
    return allowed[np.linspace(0, len(allowed) - 1, visited).round().astype(int)]


def rank(loss: Loss, partitions: Partitions, matrix: np.ndarray | None, candidates: np.ndarray) -> np.ndarray:
    """Return lower bounds of the candidates' expected losses by the similarity matrix, or exact losses without one.

    The bound takes about records²/clusters steps, the exact loss partitions × records.
    """
    if matrix is not None:
        return expected_bounds(loss, partitions, matrix, candidates)
    return np.array([expected_loss(loss, partitions, candidate) for candidate in candidates])


def starts(visited: np.ndarray, n: int, most: int, runs: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return where runs start: visited partitions, one cluster, and by turns nothing placed and random labels."""
    found = [*visited.astype(np.int64), np.zeros(n, np.int64)]
    for run in range(runs):
        if run % 2 == 0:
            found.append(np.full(n, -1))
        else:
            labels = rng.integers(0, rng.integers(1, most + 1), n)
            found.append(np.unique(labels, return_inverse=True)[1])
    return found
