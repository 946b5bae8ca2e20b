"""Atoms: updated given the confidential records of their clusters, and written as the mixing measure of a draw."""

from __future__ import annotations

import math

from privmix.kernels.slots import copy_y, draw_atom, update_atom, update_hyper
from privmix.priors.rest import LEAST_MASS_LEFT
from privmix.priors.slots import rest_atoms, rest_sticks, stick


def group_records(allocation, size, rows, order, offset):
    """Sort the records by cluster: those of row h are order[offset[h] : offset[h] + size[h]]; a counting sort."""
    position = 0
    for h in range(rows):
        offset[h] = position
        position += size[h]
    for i in range(len(allocation)):
        h = allocation[i]
        order[offset[h]] = i
        offset[h] += 1
    for h in range(rows):
        offset[h] -= size[h]


def update_atoms(kernel, rng, state, rows, records):
    """Make a step on the atom of each occupied row given its records (Algorithm 1, last loop).

    `records` holds m values for each of n records, one after the other. All of them take part:
    p(θ*_h | …) ∝ ∏_{i: c_i = h} ∏_j f(ỹ_ij|θ*_h) G₀(θ*_h).
    """
    group_records(state.allocation, state.size, rows, state.order, state.offset)
    m = len(records) // len(state.allocation)
    for h in range(rows):
        size = state.size[h]
        if size > 0:
            for k in range(size):
                i = state.order[state.offset[h] + k]
                for j in range(m):
                    copy_y(state.members, k * m + j, records, i * m + j)
            update_atom(kernel, rng, state.theta[h], state.members[: size * m], state.tune, state.hyper)


def update_base(kernel, rng, state, rows):
    """Redraw the hyperparameters of the base measure given the occupied atoms."""
    if len(state.hyper) == 0:
        return
    k = 0
    for h in range(rows):
        if state.size[h] > 0:
            copy_row(state.scratch, k, state.theta, h)
            k += 1
    update_hyper(kernel, rng, state.hyper, state.scratch[:k])


def copy_row(to, i, source, j):
    """Copy a row; a loop, because array assignment triples the compile time."""
    for c in range(min(to.shape[1], source.shape[1])):
        to[i, c] = source[j, c]


def adopt_law(state, latent):
    """Copy what a latent configuration has of the prior and of the base measure's hyperparameters."""
    for c in range(len(state.concentration)):
        state.concentration[c] = latent.concentration[c]
    for c in range(len(state.hyper)):
        state.hyper[c] = latent.hyper[c]


def rest_room(parts, state, k):
    """Return how many components the rest of a draw may take beyond the first k."""
    sticks = rest_sticks(parts.prior, state.concentration, k) - 1
    return sticks + rest_atoms(parts.prior, state.concentration, k + sticks)


def write_rest(parts, rng, state, draws, d, k, log_mass):
    """Break the mass exp(log_mass) that is left after k components; return the number of components written."""
    law = state.concentration
    last = k + rest_sticks(parts.prior, law, k) - 1
    h = k
    while h < last and log_mass > math.log(LEAST_MASS_LEFT):
        log_stick, log_left = stick(parts.prior, rng, law, h)
        write_fresh(parts, rng, state, draws, d, h, math.exp(log_mass + log_stick))
        log_mass += log_left
        h += 1
    if log_mass == -math.inf:  # all components of a finite mixture are written
        return h
    atoms = rest_atoms(parts.prior, law, h) if log_mass > math.log(LEAST_MASS_LEFT) else 1
    for _ in range(atoms):
        write_fresh(parts, rng, state, draws, d, h, math.exp(log_mass) / atoms)
        h += 1
    return h


def write_fresh(parts, rng, state, draws, d, h, weight):
    """Write a component whose atom is a draw of the base measure."""
    draw_atom(parts.kernel, rng, state.scratch[0], state.hyper)
    draws.weight[d, h] = weight
    copy_row(draws.atom[d], h, state.scratch, 0)


def write_common(state, draws, d, k, components):
    """Write what every sampler reports of a draw, and clear the components that it does not use."""
    draws.n_clusters[d] = k
    draws.components[d] = components
    draws.concentration[d] = state.concentration[0]
    for c in range(len(state.hyper)):
        draws.hyper[d, c] = state.hyper[c]
    for c in range(len(state.statistic)):
        draws.statistic[d, c] = state.statistic[c]
    for h in range(components, draws.weight.shape[1]):
        draws.weight[d, h] = 0.0
        for c in range(draws.atom.shape[2]):
            draws.atom[d, h, c] = math.nan
