"""The credible ball around an estimate of the clusters: how far the posterior reaches from it, and in which directions.

Wade and Ghahramani, "Bayesian cluster analysis: point estimation and credible balls", Bayesian Analysis 13 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privmix.clusters.estimate import Clustering
from privmix.clusters.losses import Loss, distances
from privmix.clusters.partitions import Partitions, number_by_size

# Distances that differ by less are the same but for rounding.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class CredibleBall:
    """The smallest ball around an estimate that holds the true partition with a given posterior probability.

    A bound is an array (partition, record): usually of one partition, of several where they tie. Rows are numbered like
    the labels of a `Clustering`.

    Parameters
    ----------
    radius
        Largest distance from the estimate inside the ball.
    level
        Probability that was asked for.
    probability
        Share of the draws inside the ball, at least the level.
    loss
        The distance: "vi" in bits, or "binder".
    lower
        Vertical lower bound: of the partitions in the ball with the most clusters, the most distant.
    upper
        Vertical upper bound: of the partitions in the ball with the fewest clusters, the most distant.
    horizontal
        Horizontal bound: the most distant partitions in the ball.
    """

    radius: float
    level: float
    probability: float
    loss: str
    lower: np.ndarray
    upper: np.ndarray
    horizontal: np.ndarray

    def __repr__(self) -> str:
        few, many = int(self.upper[0].max()) + 1, int(self.lower[0].max()) + 1
        return (
            f"<privmix.CredibleBall: {self.level:.0%} within {self.loss} distance {self.radius:.4g}, "
            f"{few} to {many} clusters>"
        )


def credible_ball(partitions: Partitions, clustering: Clustering, level: float) -> CredibleBall:
    """Return the ball of an estimate; `Posterior.credible_ball` documents it."""
    # The unweighted loss: a metric, which the weighted ones are not.
    distance = distances(Loss(clustering.loss), partitions.labels, clustering.labels)
    radius = smallest_radius(distance, partitions.counts, level)
    inside = distance <= radius + SAME
    labels, distance = partitions.labels[inside], distance[inside]
    clusters = labels.max(axis=1) + 1
    return CredibleBall(
        radius=radius,
        level=level,
        probability=int(partitions.counts[inside].sum()) / partitions.draws,
        loss=clustering.loss,
        lower=most_distant(labels, distance, clusters == clusters.max()),
        upper=most_distant(labels, distance, clusters == clusters.min()),
        horizontal=most_distant(labels, distance, np.ones(len(labels), bool)),
    )


def smallest_radius(distance: np.ndarray, counts: np.ndarray, level: float) -> float:
    """Return the smallest distance within which at least the level of all draws lie."""
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(counts[order]) / counts.sum() >= level
    return float(distance[order][np.argmax(reached)])


def most_distant(labels: np.ndarray, distance: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return the most distant of some partitions, all of them where they tie."""
    chosen = among & (distance >= distance[among].max() - SAME)
    rows = np.stack([number_by_size(row) for row in labels[chosen]])
    rows.setflags(write=False)
    return rows
