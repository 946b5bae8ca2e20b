"""Skeleton of a sampler: an urn that proposes to each record a cluster and a confidential value from it.

Copy it, then change what is marked CHANGE. Run it to test the result.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privmix import PrivateMixture, mechanisms
from privmix.samplers import toolkit
from privmix.samplers.toolkit import (
    accepts,
    adopt_partition,
    at_record,
    copy_y,
    draw_y,
    join,
    log_q,
    propose_row,
    update_clusters,
)
from privmix.testing import check_sampler

SHARED = "allocation size theta free cursor members order offset scratch concentration hyper tune statistic"
# CHANGE: what the state has beside the partition of the records and its atoms. Arrays, changed in place.
State = NamedTuple("State", [(name, np.ndarray) for name in (*SHARED.split(), "y", "proposal")])


@dataclass(frozen=True)
class Urn(toolkit.Sampler):
    """A marginal sampler for mechanisms that perturb each record."""

    # CHANGE: what other rooms ask of a sampler; see the base class.
    proposes_records = True

    def check(self, model):
        if model.mechanism.is_global or model.mechanism.reveals:
            raise ValueError("Urn proposes the value of each record: it needs a mechanism that adds noise to each.")

    def allocate(self, model, n):
        shared = toolkit.empty_partition(model, n, rows=n + 1, members=n, statistics=len(self.statistics))
        return State(**shared, y=toolkit.empty_records(model, n), proposal=toolkit.empty_records(model, 1))

    def hooks(self, model):
        own = {toolkit.adopt: adopt, toolkit.sweep: sweep, toolkit.impute: impute}
        return {**own, toolkit.keep: toolkit.keep_partition}


def adopt(parts, data, state, latent, rng):
    """Start at a latent configuration: its partition, atoms and records."""
    adopt_partition(state, latent)
    for i in range(len(state.y)):
        copy_y(state.y, i, latent.y, i)


def sweep(parts, data, state, rng):
    """Move every record, then what the clusters share. Return False where the state needs more room: never here."""
    accepted = 0
    for i in range(len(state.y)):
        accepted += move_record(parts, data, state, rng, i)
    state.statistic[0] = accepted / len(state.y)
    update_clusters(parts, state, rng, state.y)
    return True


# CHANGE: the step itself.
def move_record(parts, data, state, rng, i):
    """Propose a cluster from the urn and a value from the cluster; accept by the ratio of q(z|y)."""
    row, mechanism = propose_row(parts, state, rng, i), at_record(parts.mechanism, i)
    draw_y(parts.kernel, rng, state.theta[row], state.proposal, 0)
    if accepts(rng, log_q(mechanism, data.z[i], state.proposal[0]) - log_q(mechanism, data.z[i], state.y[i])):
        copy_y(state.y, i, state.proposal, 0)
        join(state, i, state.allocation[i], row)
        return True
    return False


def impute(parts, data, state, rng, ys, labels):
    """Write a draw of the records, and the row of each."""
    for i in range(len(ys)):
        copy_y(ys, i, state.y, i)
        labels[i] = state.allocation[i]


if __name__ == "__main__":
    print(check_sampler(PrivateMixture(mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))), Urn()))
