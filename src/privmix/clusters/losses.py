"""Losses between partitions: variation of information and Binder's, with a weight on the two kinds of mistake.

For a true partition with clusters s and an estimate with clusters t, n_st the records in both,

    L = a Σ_s φ(n_s) + b Σ_t φ(n_t) − (a + b) Σ_st φ(n_st),  b = 2 − a,

over n with φ(x) = x log₂ x is the generalised variation of information a·H(estimate|truth) + b·H(truth|estimate), and
over n² with φ(x) = x² the generalised Binder loss, 2/n² times the pairs wrongly separated, each at a cost a, and
wrongly joined, each at b (Dahl, Johnson and Müller, 2022). So one code serves all: a loss is its φ and its scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.clusters.partitions import Partitions
from privmix.jit import bind

LOSSES = ("vi", "binder")


@dataclass(frozen=True)
class Loss:
    """A loss between partitions.

    Parameters
    ----------
    name
        "vi", the variation of information in bits, or "binder", the share of pairs (of all n²) on which two partitions
        disagree.
    weight
        Cost a of a separation that is wrong, between 0 and 2; that of a joining that is wrong is b = 2 − a. Above one
        gives fewer clusters, below one more. At one both losses are metrics.
    """

    name: str = "vi"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}; got {self.name!r}.")
        object.__setattr__(self, "weight", check_weight(self.weight))

    def phi(self, n: int) -> np.ndarray:
        """Return φ(0), …, φ(n)."""
        x = np.arange(n + 1, dtype=np.float64)
        return x**2 if self.name == "binder" else x * np.log2(np.maximum(x, 1.0))

    def scale(self, n: int) -> float:
        """Return what the sums are divided by."""
        return float(n) ** 2 if self.name == "binder" else float(n)


def check_weight(weight: Any) -> float:
    """Return the weight as a number between 0 and 2."""
    try:
        value = float(weight)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 < value < 2.0:
        raise ValueError(
            f"weight, the cost of a wrong separation, must be between 0 and 2; got {weight!r}. A wrong joining costs "
            "2 − weight: at 0 every record would be a cluster of its own, at 2 all would be one."
        )
    return value


def distances(loss: Loss, labels: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """Return the loss of one estimate for each partition (row) taken as the truth.

    Both are labels counted from 0.
    """
    n = labels.shape[1]
    clusters, groups = int(estimate.max()) + 1, int(labels.max()) + 1
    out = np.empty(len(labels))
    table = np.zeros((groups, clusters), np.int32)
    phi = loss.phi(n)
    bind(loss_each, {})(labels, np.ascontiguousarray(estimate, dtype=np.int64), phi, loss.weight, table, out)
    joined = (2.0 - loss.weight) * phi[np.bincount(estimate)].sum()
    # Equal partitions are at distance zero but for rounding, which must not make them negative.
    return np.maximum((out + joined) / loss.scale(n), 0.0)


def loss_each(labels, estimate, phi, weight, table, out):
    """Fill out[d] with a Σ_s φ(n_s) − 2 Σ_st φ(n_st) for each partition (compiled); table is scratch of zeros."""
    for d in range(len(out)):
        groups = 0
        for i in range(len(estimate)):
            table[labels[d, i], estimate[i]] += 1
            groups = max(groups, labels[d, i] + 1)
        total = 0.0
        for s in range(groups):
            size = 0
            for t in range(table.shape[1]):
                size += table[s, t]
                total -= 2.0 * phi[table[s, t]]
                table[s, t] = 0
            total += weight * phi[size]
        out[d] = total


def expected_loss(loss: Loss, partitions: Partitions, estimate: np.ndarray) -> float:
    """Return the posterior expectation of the loss of an estimate: exact over the draws."""
    return float(partitions.probability @ distances(loss, partitions.labels, estimate))


def expected_bounds(loss: Loss, partitions: Partitions, similarity: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Return for each candidate partition (row) a lower bound of its expected loss; under Binder's loss it is exact.

    With ψ(x) = φ(x)/x the sums over clusters are sums over records, and as ψ is concave (linear for Binder's loss),
    E ψ(n_st) ≤ ψ(E n_st), where E n_st for record i is the sum of its similarities to the members of its cluster
    (Wade and Ghahramani, 2018, for the variation of information).
    """
    n = partitions.records
    phi = loss.phi(n)
    sizes = np.array([phi[np.bincount(row)].sum() for row in partitions.labels])
    out = np.empty(len(candidates))
    scratch = np.zeros(n), np.zeros(n + 2, np.int64), np.zeros(n, np.int64)
    run = bind(joint_bound, {})
    run(np.ascontiguousarray(candidates), similarity, phi, loss.weight, loss.name == "vi", *scratch, out)
    return (out + loss.weight * float(partitions.probability @ sizes)) / loss.scale(n)


def joint_bound(candidates, similarity, phi, weight, psi_is_log, sums, first, members, out):
    """Fill out[c] with b Σ_t φ(n_t) − 2 Σ_i ψ(Σ_j p_ij 1(same cluster)) (compiled; scratch before out)."""
    for c in range(len(out)):
        list_members(candidates[c], first, members)
        value = 0.0
        for k in range(len(sums)):
            value += (2.0 - weight) * phi[first[k + 1] - first[k]]
            for place in range(first[k], first[k + 1]):
                sums[place] = 1.0
            for place in range(first[k], first[k + 1]):
                for other in range(first[k], place):
                    p = similarity[members[place], members[other]]
                    sums[place] += p
                    sums[other] += p
        for place in range(len(sums)):
            value -= 2.0 * (math.log2(sums[place]) if psi_is_log else sums[place])
        out[c] = value


def list_members(labels, first, members):
    """Sort the records by label: those of cluster k are members[first[k]:first[k + 1]] (compiled)."""
    for k in range(len(first)):
        first[k] = 0
    for i in range(len(labels)):
        first[labels[i] + 2] += 1
    for k in range(2, len(first)):
        first[k] += first[k - 1]
    for i in range(len(labels)):
        k = labels[i]
        members[first[k + 1]] = i
        first[k + 1] += 1
