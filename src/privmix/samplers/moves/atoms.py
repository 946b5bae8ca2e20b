"""Update the atoms of all clusters given the confidential records in them."""

from __future__ import annotations

from privmix.kernels.slots import copy_y, update_atom, update_hyper


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
