"""Update the atoms of all clusters given the confidential records in them."""

from __future__ import annotations

from privmix.kernels.slots import copy_y, update_atom, update_hyper


def group_records(allocation, size, rows, records, members, offset):
    """Sort records by cluster: those of row h go to members[offset[h] : offset[h] + size[h]·m].

    `records` holds m values for each of n records, as (n·m,) numbers or (n·m, d) rows; a counting sort.
    """
    n = len(allocation)
    m = len(records) // n
    position = 0
    for h in range(rows):
        offset[h] = position
        position += size[h] * m
    for i in range(n):
        h = allocation[i]
        for j in range(m):
            copy_y(members, offset[h], records, i * m + j)
            offset[h] += 1
    for h in range(rows):
        offset[h] -= size[h] * m


def update_atoms(kernel, rng, state, rows, records):
    """Make a step on the atom of each occupied row given its records (Algorithm 1, last loop).

    With m auxiliaries a record, all of them take part: p(θ*_h | …) ∝ ∏_{i: c_i = h} ∏_j f(ỹ_ij|θ*_h) G₀(θ*_h).
    """
    group_records(state.allocation, state.size, rows, records, state.members, state.offset)
    m = len(records) // len(state.allocation)
    for h in range(rows):
        if state.size[h] > 0:
            first = state.offset[h]
            ys = state.members[first : first + state.size[h] * m]
            update_atom(kernel, rng, state.theta[h], ys, state.tune, state.hyper)


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
