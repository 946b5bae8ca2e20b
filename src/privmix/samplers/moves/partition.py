"""Bookkeeping of a partition: rows of atoms that are opened, joined and closed, and the draw that it gives.

Works on any state with ``allocation``, ``size``, ``theta``, ``free``, ``cursor``, ``offset`` and ``concentration``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.kernels.slots import draw_atom
from privmix.numerics import gamma, log_gamma_variate, uniform, uniform_index
from privmix.priors.slots import new_weight, reduction, rest_weight, update_given_partition, update_unseen
from privmix.samplers.base import empty_records, empty_tuning, in_range
from privmix.samplers.moves.atoms import (
    adopt_law,
    copy_row,
    rest_room,
    update_atoms,
    update_base,
    write_common,
    write_rest,
)

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Entries of State.cursor: clusters, height of the stack of free rows, rows ever used
CLUSTERS, FREE, ROWS = 0, 1, 2


def empty_partition(model: PrivateMixture, n: int, rows: int, members: int, statistics: int) -> dict[str, np.ndarray]:
    """Return the arrays of a state that hold a partition of n records, its atoms and what all such states have.

    Parameters
    ----------
    model, n
        The model and its number of records.
    rows
        Room for clusters, proposed ones included.
    members
        Room for the records of one cluster.
    statistics
        Numbers that a sweep reports.
    """
    columns = model.kernel.columns
    return {
        "allocation": np.zeros(n, np.int64),
        "size": np.zeros(rows, np.int64),
        "theta": np.zeros((rows, columns)),
        "free": np.zeros(rows, np.int64),
        "cursor": np.zeros(3, np.int64),
        "members": empty_records(model, members),
        "order": np.zeros(n, np.int64),
        "offset": np.zeros(rows, np.int64),
        "scratch": np.zeros((rows if model.kernel.hyperparameters else 1, columns)),
        "concentration": np.zeros(model.prior.law_size(n)),
        "hyper": np.zeros(len(model.kernel.hyperparameters)),
        "tune": empty_tuning(model),
        "statistic": np.zeros(statistics),
    }


def check_partition(n: int, state: Any) -> str:
    """Return what is wrong with the partition of a state, or "" where nothing is."""
    rows = len(state.size)
    if not in_range(state.allocation, rows) or not np.array_equal(
        np.bincount(state.allocation, None, rows), state.size
    ):
        return "allocation and size are not those of a partition"
    occupied = np.flatnonzero(state.size)
    clusters, height, used = state.cursor
    if clusters != len(occupied) or height != rows - clusters or not occupied[-1] < used <= rows:
        return "cursor does not count the clusters"
    if not np.array_equal(np.sort(state.free[:height]), np.flatnonzero(state.size == 0)):
        return "free is not the stack of free rows"
    if not in_range(state.order, n) or not in_range(state.offset + 1, n + rows + 1):
        return "order or offset points nowhere"
    return ""


def adopt_partition(state, latent):
    """Set the partition and its atoms to those of a latent configuration; rows 0, 1, … in order of appearance."""
    adopt_law(state, latent)
    for h in range(len(state.size)):
        state.size[h] = 0
        state.offset[h] = -1
    used = 0
    for i in range(len(state.allocation)):
        row = 0
        while row < used and state.offset[row] != latent.labels[i]:
            row += 1
        if row == used:
            state.offset[row] = latent.labels[i]
            copy_row(state.theta, row, latent.atoms, latent.labels[i])
            used += 1
        state.allocation[i] = row
        state.size[row] += 1
    rows = len(state.size)
    for h in range(rows - used):  # the lowest free row on top
        state.free[h] = rows - 1 - h
    state.cursor[CLUSTERS] = used
    state.cursor[FREE] = rows - used
    state.cursor[ROWS] = used


def propose_row(parts, state, rng, i):
    """Draw a cluster from the urn of the other records: an old one, or the row on top of the free stack, opened.

    A new row is only looked at here; `join` takes it off the stack.
    """
    n, clusters = len(state.allocation), clusters_without(state, i)
    weight = new_weight(parts.prior, state.concentration, n - 1, clusters)
    less = reduction(parts.prior, state.concentration)
    if uniform(rng) * (weight + n - 1 - clusters * less) < weight:
        row = free_row(state, 0)
        draw_atom(parts.kernel, rng, state.theta[row], state.hyper)
        return row
    if less < 0.0 and uniform(rng) * (n - 1 - clusters * less) >= n - 1:
        return draw_cluster(state, rng, i)
    row = copy_label(state, rng, i)
    while less > 0.0 and uniform(rng) * size_without(state, row, i) < less:
        row = copy_label(state, rng, i)
    return row


def copy_label(state, rng, i):
    """Return the row of a random other record: a cluster ∝ its size n_h, without visiting the clusters.

    Kept with probability 1 − d/n_h it is a cluster ∝ n_h − d.
    """
    other = uniform_index(rng, len(state.allocation) - 1)
    return state.allocation[other + (other >= i)]


def draw_cluster(state, rng, i):
    """Return one of the clusters that hold another record than i, each as likely as any other."""
    row = uniform_index(rng, state.cursor[ROWS])
    while size_without(state, row, i) == 0:
        row = uniform_index(rng, state.cursor[ROWS])
    return row


def size_without(state, row, i):
    """Return the records of a row, record i not counted."""
    return state.size[row] - (state.allocation[i] == row)


def join(state, i, old, row):
    """Move record i from its old row to another, opening and closing clusters as needed.

    A row that is opened must be the one on top of the free stack.
    """
    if row == old:
        return
    if state.size[row] == 0:
        open_row(state, row)
    state.allocation[i] = row
    state.size[row] += 1
    state.size[old] -= 1
    if state.size[old] == 0:
        close_row(state, old)


def clusters_without(state, i):
    """Return the number of clusters that hold another record than i."""
    return state.cursor[CLUSTERS] - (state.size[state.allocation[i]] == 1)


def free_row(state, k):
    """Return the row that is k-th from the top of the free stack, and leave it there."""
    return state.free[state.cursor[FREE] - 1 - k]


def open_row(state, row):
    """Take the row on top off the free stack: a cluster begins."""
    state.cursor[FREE] -= 1
    state.cursor[CLUSTERS] += 1
    state.cursor[ROWS] = max(state.cursor[ROWS], row + 1)


def close_row(state, row):
    """Put a row on top of the free stack: its cluster ended."""
    state.free[state.cursor[FREE]] = row
    state.cursor[FREE] += 1
    state.cursor[CLUSTERS] -= 1


def bring_to_top(state, row):
    """Exchange a free row with the one on top of the free stack, where `join` expects it."""
    top = state.cursor[FREE] - 1
    k = top
    while state.free[k] != row:
        k -= 1
    state.free[k] = state.free[top]
    state.free[top] = row


def update_clusters(parts, state, rng, records):
    """Update atoms, base measure and concentration given the partition and the records, m for each (Algorithm 1)."""
    update_atoms(parts.kernel, rng, state, state.cursor[ROWS], records)
    update_base(parts.kernel, rng, state, state.cursor[ROWS])
    update_concentration(parts, state, rng)


def update_concentration(parts, state, rng):
    """Redraw the concentration, and what else the prior keeps, given the sizes of the clusters."""
    law, n, k = state.concentration, len(state.allocation), state.cursor[CLUSTERS]
    law[0] = update_given_partition(parts.prior, rng, law, n, k, state.size[: state.cursor[ROWS]])
    update_unseen(parts.prior, rng, law, n, k)


def keep_partition(parts, data, state, rng, draws, d):
    """Draw the mixing measure given the partition and write it.

    Given clusters of sizes n_1…n_k the weights are Dirichlet(n_1 − d, …, n_k − d, r), the last being that of a fresh
    mixing measure, with the sticks k, k + 1, … of the prior: so a marginal sampler gives bands like any other. For a
    Dirichlet process d = 0 and r = α.
    """
    k = state.cursor[CLUSTERS]
    if k + rest_room(parts, state, k) > draws.weight.shape[1]:
        return False
    less = reduction(parts.prior, state.concentration)
    rest = rest_weight(parts.prior, state.concentration, len(state.allocation), k)
    log_rest = log_gamma_variate(rng, rest) if rest > 0.0 else -math.inf
    total = math.exp(log_rest)
    component = 0
    for h in range(state.cursor[ROWS]):
        if state.size[h] > 0:
            draws.weight[d, component] = gamma(rng, state.size[h] - less)
            total += draws.weight[d, component]
            copy_row(draws.atom[d], component, state.theta, h)
            state.offset[h] = component
            component += 1
    for h in range(k):
        draws.weight[d, h] /= total
    components = write_rest(parts, rng, state, draws, d, k, log_rest - math.log(total))
    if draws.allocation.shape[1] > 0:
        for i in range(len(state.allocation)):
            draws.allocation[d, i] = state.offset[state.allocation[i]]
    write_common(state, draws, d, k, components)
    return True
