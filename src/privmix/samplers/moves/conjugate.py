"""Sufficient statistics of the clusters, kept along with a partition: what conjugate samplers share."""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.kernels.slots import prepare
from privmix.pairs.slots import add, clear, draw_posterior, log_marginal, remove
from privmix.priors.slots import new_weight, reduction
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.labels import draw_index
from privmix.samplers.moves.partition import ROWS, clusters_without, free_row, join, update_concentration

# Last column of a row of statistics: the log marginal of its records
CACHED = -1


@slot
def cluster_score(parts, data, state, h, i):
    """Return the log density of z_i in the cluster of row h, which does not hold record i."""


def conjugate_sweep(parts, data, state, rng):
    """Draw the label of every record, then atoms and concentration."""
    rebuild_statistics(parts, data, state)
    moved = 0
    for i in range(len(state.allocation)):
        moved += draw_label(parts, data, state, rng, i)
    state.statistic[0] = moved / len(state.allocation)
    for h in range(state.cursor[ROWS]):
        if state.size[h] > 0:
            draw_row(parts, state, rng, h)
    update_concentration(parts, state, rng)
    return True


def draw_label(parts, data, state, rng, i):
    """Draw record i's cluster: P(h) ∝ (n_h − d) p(z_i|cluster h), r p(z_i) for a new one; return whether it moved."""
    old = state.allocation[i]
    take_record(parts, data, state, old, i)
    alone = state.size[old] == 1
    less = reduction(parts.prior, state.concentration)
    candidates = 0
    top = -math.inf
    for h in range(state.cursor[ROWS]):
        others = state.size[h] - (h == old)
        if others > 0:
            state.score[candidates] = math.log(others - less) + cluster_score(parts, data, state, h, i)
            state.offset[candidates] = h
            top = max(top, state.score[candidates])
            candidates += 1
    weight = new_weight(parts.prior, state.concentration, len(state.allocation) - 1, clusters_without(state, i))
    state.score[candidates] = math.log(weight) + log_predictive_alone(parts, data, state, i)
    state.offset[candidates] = old if alone else free_row(state, 0)
    top = max(top, state.score[candidates])
    chosen = draw_index(rng, state.score, candidates + 1, top)
    row = state.offset[chosen]
    if chosen == candidates:
        clear(state.stat[row])
    join(state, i, old, row)
    put_record(parts, data, state, row, i)
    if chosen == candidates:
        draw_row(parts, state, rng, row)
    return row != old


def rebuild_statistics(parts, data, state):
    """Make the statistics of every row anew: updates by single records lose digits in the long run."""
    for h in range(state.cursor[ROWS]):
        clear(state.stat[h])
    for i in range(len(state.allocation)):
        add(parts.mechanism, parts.kernel, state.stat[state.allocation[i]], data.z[i])
    for h in range(state.cursor[ROWS]):
        if state.size[h] > 0:
            refresh(parts, state, h)


def refresh(parts, state, h):
    """Keep the log marginal of a row with its statistics."""
    state.stat[h, CACHED] = 0.0
    if state.stat[h, 0] > 0.0:
        state.stat[h, CACHED] = log_marginal(parts.mechanism, parts.kernel, state.stat[h])


def put_record(parts, data, state, h, i):
    """Take record i into the statistics of a row."""
    add(parts.mechanism, parts.kernel, state.stat[h], data.z[i])
    refresh(parts, state, h)


def take_record(parts, data, state, h, i):
    """Take record i out of the statistics of a row."""
    remove(parts.mechanism, parts.kernel, state.stat[h], data.z[i])
    refresh(parts, state, h)


def log_predictive(parts, data, state, h, i):
    """Return the log density of z_i given the records in a row."""
    spare = len(state.stat) - 1
    copy_row(state.stat, spare, state.stat, h)
    add(parts.mechanism, parts.kernel, state.stat[spare], data.z[i])
    return log_marginal(parts.mechanism, parts.kernel, state.stat[spare]) - state.stat[h, CACHED]


def log_predictive_alone(parts, data, state, i):
    """Return the log density of z_i in a cluster of its own."""
    spare = len(state.stat) - 1
    clear(state.stat[spare])
    add(parts.mechanism, parts.kernel, state.stat[spare], data.z[i])
    return log_marginal(parts.mechanism, parts.kernel, state.stat[spare])


def draw_row(parts, state, rng, h):
    """Draw the atom of a row given the records in it."""
    draw_posterior(parts.mechanism, parts.kernel, rng, state.stat[h], state.theta[h])
    prepare(parts.kernel, state.theta[h])
