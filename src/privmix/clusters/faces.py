"""What a posterior answers about clusters: checks of what was asked, then the work of this room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from privmix.clusters.ball import CredibleBall, credible_ball
from privmix.clusters.certainty import certainty
from privmix.clusters.estimate import Clustering, estimate_clusters
from privmix.clusters.losses import Loss, expected_loss
from privmix.clusters.partitions import Partitions, canonical, check_labels, gather, pooled_allocations
from privmix.clusters.predict import membership
from privmix.clusters.similarity import similarity_matrix
from privmix.frames import labels_of
from privmix.frames.read import coords_of, read_labels, record_index
from privmix.parts.checks import check_count

if TYPE_CHECKING:
    from privmix.posterior.run import Run


def similarity(posterior: Run) -> xr.DataArray:
    """Return the similarity matrix with named dimensions."""
    labels = canonical(pooled_allocations(posterior.model, posterior.datatree))
    found = read_labels(posterior.datatree)
    coords = coords_of(found) | coords_of(found, "record2")
    return xr.DataArray(similarity_matrix(labels), coords, dims=("record", "record2"), name="similarity")


def clustering(
    posterior: Run, loss: str, weight: float, max_clusters: Any, runs: Any, visited: Any, seed: Any
) -> Clustering:
    """Return the estimate of least expected loss."""
    chosen = Loss(loss, weight)
    check_count("runs", runs, 0)
    for name, value in (("max_clusters", max_clusters), ("visited", visited)):
        if value is not None:
            check_count(name, value, 1)
    partitions = _partitions(posterior)
    found = estimate_clusters(partitions, chosen, max_clusters=max_clusters, runs=runs, visited=visited, seed=seed)
    return replace(found, index=record_index(posterior.datatree))


def ball(posterior: Run, estimate: Any, level: float, loss: str) -> CredibleBall:
    """Return the credible ball of an estimate."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    return credible_ball(_partitions(posterior), as_clustering(posterior, estimate, loss), level)


def predict_proba(posterior: Run, z: Any, estimate: Any, mechanism: Any, seed: Any) -> xr.DataArray:
    """Return the probability of each cluster for new records."""
    allocation = pooled_allocations(posterior.model, posterior.datatree)
    labels = np.array(as_clustering(posterior, estimate, "vi").labels)
    found = membership(posterior.model, posterior.arrays, allocation, labels, z, mechanism, seed)
    return found.assign_coords(coords_of(labels_of(z)))


def predict(posterior: Run, z: Any, estimate: Any, mechanism: Any, seed: Any) -> np.ndarray:
    """Return the most probable cluster of new records, −1 for a new one."""
    probability = predict_proba(posterior, z, estimate, mechanism, seed)
    return probability["cluster"].values[probability.values.argmax(axis=1)]


def as_clustering(posterior: Run, estimate: Any, loss: str) -> Clustering:
    """Return an estimate as a Clustering of this posterior's records: the default one, one given, or given labels."""
    if estimate is None:
        return clustering(posterior, loss, 1.0, None, 16, None, 0)
    partitions = _partitions(posterior)
    labels = estimate.labels if isinstance(estimate, Clustering) else estimate
    labels = check_labels(labels, partitions.records, "clustering")
    if isinstance(estimate, Clustering):
        return estimate
    chosen = Loss(loss)
    value = expected_loss(chosen, partitions, labels)
    sure, index = certainty(partitions, labels), record_index(posterior.datatree)
    return Clustering(labels, value, chosen.name, 1.0, sure, partitions.draws, 0, index)


def _partitions(posterior: Run) -> Partitions:
    return gather(pooled_allocations(posterior.model, posterior.datatree))
