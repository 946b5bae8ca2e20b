"""The partitions of a posterior: the clusters of all records in all draws, in one form whatever names they had."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from privmix.jit import bind
from privmix.model import PrivateMixture


class Partitions(NamedTuple):
    """Distinct partitions of the records with their posterior probabilities.

    ``labels`` is (partition, record), each row numbered by first appearance; ``counts`` says how many draws show a
    partition. Rows are in the order in which the draws first visit them, so names of clusters play no part.
    """

    labels: np.ndarray
    counts: np.ndarray

    @property
    def draws(self) -> int:
        """Number of draws, repeated ones counted."""
        return int(self.counts.sum())

    @property
    def probability(self) -> np.ndarray:
        """Share of the draws that each partition has."""
        return self.counts / self.counts.sum()

    @property
    def records(self) -> int:
        """Number of records."""
        return self.labels.shape[1]


def check_local(model: PrivateMixture) -> None:
    """Refuse a model whose release is of the whole data set: it does not identify the labels of records."""
    if model.mechanism.is_counted:
        raise ValueError(
            "the release is a table of counts: which record is in which bin was not kept, so records have no clusters "
            "to show. Densities and bands are served: use posterior.density(). For clusters fit the released records."
        )
    if model.mechanism.is_global:
        raise ValueError(
            f"{type(model.mechanism).__name__} releases a summary of the whole data set, which carries no information "
            "on individual records, so the clusters of records are not identified. Densities and bands are served: "
            "use posterior.density()."
        )


def pooled_allocations(model: PrivateMixture, tree: xr.DataTree) -> np.ndarray:
    """Return the component of every record in every draw as an array (draw, record), chains one after the other."""
    check_local(model)
    posterior = tree["posterior"].to_dataset()
    if "allocation" not in posterior:
        raise ValueError(
            "the clusters of the records were not kept in this posterior. Sample again with allocations=True: "
            "model.sample(z, allocations=True) or privmix.fit(z, mechanism, allocations=True); it takes 4 bytes a "
            "record and draw, and `thin` or fewer `draws` make it smaller."
        )
    allocation = posterior["allocation"].values
    return np.ascontiguousarray(allocation.reshape(-1, allocation.shape[-1]))


def canonical(labels: np.ndarray) -> np.ndarray:
    """Return labels (partition, record) numbered by first appearance: equal rows are equal partitions."""
    labels = np.ascontiguousarray(labels, dtype=np.int32)
    out = np.empty_like(labels)
    # Any whole numbers serve as names; made ranks where they would not do as indices.
    if labels.min() < 0 or labels.max() > 16 * labels.shape[1] + 1024:
        labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int32)
    bind(number_by_appearance, {})(labels, np.full(labels.max() + 1, -1, np.int32), out)
    return out


def number_by_appearance(labels, name, out):
    """Write each row with its labels numbered by first appearance (compiled); name is scratch, filled with −1."""
    for d in range(labels.shape[0]):
        used = 0
        for i in range(labels.shape[1]):
            if name[labels[d, i]] < 0:
                name[labels[d, i]] = used
                used += 1
            out[d, i] = name[labels[d, i]]
        for i in range(labels.shape[1]):
            name[labels[d, i]] = -1


def gather(labels: np.ndarray) -> Partitions:
    """Return the distinct partitions among draws (draw, record), in order of first visit."""
    rows = canonical(labels)
    found: dict[bytes, int] = {}
    index = np.array([found.setdefault(row.tobytes(), len(found)) for row in rows])
    first = np.unique(index, return_index=True)[1]
    return Partitions(rows[first], np.bincount(index))


def number_by_size(labels: np.ndarray) -> np.ndarray:
    """Return the labels of one partition numbered by size: 0 the largest; of equal ones, that of the first record."""
    rows = canonical(np.asarray(labels)[None, :])[0]
    order = np.argsort(-np.bincount(rows), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[rows]


def check_labels(labels: Any, records: int, name: str) -> np.ndarray:
    """Return a partition of the records as an array of whole numbers, or say what is wrong with it."""
    array = np.asarray(labels)
    if array.shape != (records,) or array.dtype.kind not in "iu":
        shown = f"an array of {array.dtype} of shape {array.shape}" if array.ndim else repr(labels)
        raise ValueError(f"{name} must be a Clustering or one whole number for each of {records} records; got {shown}.")
    return number_by_size(array)
