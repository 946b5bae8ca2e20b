"""The sticks of a mixing measure that is part of the state: drawn given the sizes of clusters, extended, recorded.

Works on any state with ``size``, ``theta``, ``weight``, ``log_left``, ``offset``, ``cursor``, ``least``, ``hyper`` and
``concentration``, whose rows are sticks in their order.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import draw_atom
from privmix.priors.base import stick, stick_given, update_given_sticks
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.measure import rest_sticks, write_common, write_rest

# Entries of State.cursor: sticks instantiated, and whether a sweep stopped for want of room
STICKS, WAITING = 0, 1


def forget_empty(state):
    """Keep the sticks up to the last that holds a record; those beyond are drawn anew."""
    last = state.cursor[STICKS]
    while last > 0 and state.size[last - 1] == 0:
        last -= 1
    state.cursor[STICKS] = last


def update_sticks(parts, state, rng, n):
    """Draw the sticks given the allocations, then the concentration given the sticks; refresh empty atoms."""
    beyond = n
    log_left = 0.0
    for h in range(state.cursor[STICKS]):
        beyond -= state.size[h]
        log_stick, log_rest = stick_given(parts.prior, rng, state.concentration[0], h, state.size[h], beyond)
        state.weight[h] = math.exp(log_left + log_stick)
        log_left += log_rest
        state.log_left[h] = log_left
        if state.size[h] == 0:
            draw_atom(parts.kernel, rng, state.theta[h], state.hyper)
    state.concentration[0] = update_given_sticks(
        parts.prior, rng, state.concentration[0], state.cursor[STICKS], log_left
    )


def extend_sticks(parts, state, rng):
    """Break sticks until the mass beyond them is below ``least``; return False when out of room."""
    h = state.cursor[STICKS]
    log_least = math.log(state.least[0])
    while state.log_left[h - 1] >= log_least:
        if h == len(state.weight):
            return False
        log_stick, log_rest = stick(parts.prior, rng, state.concentration[0], h)
        state.weight[h] = math.exp(state.log_left[h - 1] + log_stick)
        state.log_left[h] = state.log_left[h - 1] + log_rest
        state.size[h] = 0
        draw_atom(parts.kernel, rng, state.theta[h], state.hyper)
        h += 1
        state.cursor[STICKS] = h
    return True


def record_sticks(parts, state, rng, draws, d, sticks):
    """Write the first sticks, the occupied ones first, then what lies beyond; offset[h] is the component of stick h."""
    if sticks + rest_sticks(state.concentration[0]) > draws.weight.shape[1]:
        return False
    component = 0
    for occupied in (True, False):
        for h in range(sticks):
            if (state.size[h] > 0) == occupied:
                draws.weight[d, component] = state.weight[h]
                copy_row(draws.atom[d], component, state.theta, h)
                state.offset[h] = component
                component += 1
        if occupied:
            clusters = component
    components = write_rest(parts, rng, state, draws, d, sticks, state.log_left[sticks - 1])
    write_common(state, draws, d, clusters, components)
    return True
