"""Bookkeeping of a partition: rows of atoms that are opened, joined and closed, and the draw that it gives.

Works on any state with ``allocation``, ``size``, ``theta``, ``free``, ``cursor``, ``offset`` and ``concentration``.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import draw_atom
from privmix.numerics import gamma, log_gamma_variate, uniform, uniform_index
from privmix.priors.slots import new_weight
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.measure import rest_sticks, write_common, write_rest

# Entries of State.cursor: clusters, height of the stack of free rows, rows ever used
CLUSTERS, FREE, ROWS = 0, 1, 2


def adopt_partition(state, latent):
    """Set the partition and its atoms to those of a latent configuration; rows 0, 1, … in order of appearance."""
    state.concentration[0] = latent.concentration[0]
    for c in range(len(state.hyper)):
        state.hyper[c] = latent.hyper[c]
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
    """Draw a cluster from the urn of the other records: copy one's label, or open the row on top of the free stack.

    Copying the label of a random other record chooses a cluster with probability proportional to its size without
    visiting the clusters. A new row is only looked at here; `join` takes it off the stack.
    """
    n = len(state.allocation)
    clusters = state.cursor[CLUSTERS] - (state.size[state.allocation[i]] == 1)
    weight = new_weight(parts.prior, state.concentration[0], n - 1, clusters)
    if uniform(rng) * (weight + n - 1) < weight:
        row = state.free[state.cursor[FREE] - 1]
        draw_atom(parts.kernel, rng, state.theta[row], state.hyper)
        return row
    other = uniform_index(rng, n - 1)
    return state.allocation[other + (other >= i)]


def join(state, i, old, row):
    """Move record i from its old row to another, opening and closing clusters as needed.

    A row that is opened must be the one on top of the free stack.
    """
    if row == old:
        return
    if state.size[row] == 0:
        state.cursor[FREE] -= 1
        state.cursor[CLUSTERS] += 1
        state.cursor[ROWS] = max(state.cursor[ROWS], row + 1)
    state.allocation[i] = row
    state.size[row] += 1
    state.size[old] -= 1
    if state.size[old] == 0:
        state.free[state.cursor[FREE]] = old
        state.cursor[FREE] += 1
        state.cursor[CLUSTERS] -= 1


def record_partition(parts, data, state, rng, draws, d):
    """Draw the mixing measure given the partition and write it.

    Given clusters of sizes n_1…n_k the weights are Dirichlet(n_1, …, n_k, α), the last being that of a fresh
    Dirichlet process: so a marginal sampler gives bands like any other.
    """
    k = state.cursor[CLUSTERS]
    if k + rest_sticks(state.concentration[0]) > draws.weight.shape[1]:
        return False
    rest = new_weight(parts.prior, state.concentration[0], len(state.allocation), k)
    log_rest = log_gamma_variate(rng, rest)
    total = math.exp(log_rest)
    component = 0
    for h in range(state.cursor[ROWS]):
        if state.size[h] > 0:
            draws.weight[d, component] = gamma(rng, float(state.size[h]))
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
