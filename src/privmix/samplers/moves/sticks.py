"""The sticks of a mixing measure that is part of the state: drawn given the sizes of clusters, extended, recorded.

Works on any state with ``size``, ``theta``, ``weight``, ``log_left``, ``offset``, ``cursor``, ``least``, ``hyper`` and
``concentration``, whose rows are sticks in their order.
"""

from __future__ import annotations

import math
from typing import Any

from privmix.jit import slot
from privmix.kernels.slots import draw_atom
from privmix.numerics import exponential
from privmix.priors.slots import log_stick_density, stick, stick_given, update_given_labels, update_given_sticks
from privmix.samplers.moves.atoms import copy_row, rest_room, write_common, write_rest

# Entries of State.cursor: sticks instantiated, and whether a sweep stopped for want of room
STICKS, WAITING = 0, 1


#: what is wrong where the sizes do not add up to the number of records
MISCOUNTED = "size is not that of sticks that hold all records"


def check_sticks(n: int, state: Any) -> str:
    """Return what is wrong with the sticks of a state, or "" where nothing is."""
    sticks, waiting = state.cursor[STICKS], state.cursor[WAITING]
    if not 1 <= sticks <= len(state.size) or waiting not in (0, 1):
        return "cursor does not count the sticks"
    if state.size.sum() != n or state.size[sticks:].any():
        return MISCOUNTED
    weight, log_left = state.weight[:sticks], state.log_left[:sticks]
    if not ((weight >= 0) & (weight <= 1)).all() or not (log_left <= 0).all():
        return "a weight or what is left beyond a stick is no probability"
    if not 0 < state.least[0] <= 1:
        return "least, down to which sticks are broken, is no probability above 0"
    return ""


def forget_empty(state):
    """Keep the sticks up to the last that holds a record; those beyond are drawn anew."""
    last = state.cursor[STICKS]
    while last > 0 and state.size[last - 1] == 0:
        last -= 1
    state.cursor[STICKS] = last


def update_sticks(parts, state, rng, n):
    """Draw the sticks given the allocations, then the concentration given the sticks; refresh empty atoms."""
    law = state.concentration
    law[0] = update_given_labels(parts.prior, rng, law, n, state.size[: state.cursor[STICKS]])
    beyond = n
    log_left = 0.0
    for h in range(state.cursor[STICKS]):
        beyond -= state.size[h]
        log_stick, log_rest = stick_given(parts.prior, rng, law, h, state.size[h], beyond)
        state.weight[h] = math.exp(log_left + log_stick)
        log_left += log_rest
        state.log_left[h] = log_left
        if state.size[h] == 0:
            draw_atom(parts.kernel, rng, state.theta[h], state.hyper)
    law[0] = update_given_sticks(parts.prior, rng, law, state.cursor[STICKS], log_left)


def extend_sticks(parts, state, rng):
    """Break sticks until none beyond them matters; return False when out of room."""
    h = state.cursor[STICKS]
    while is_needed(state, h):
        if h == len(state.weight):
            return False
        log_stick, log_rest = stick(parts.prior, rng, state.concentration, h)
        state.weight[h] = math.exp(state.log_left[h - 1] + log_stick)
        state.log_left[h] = state.log_left[h - 1] + log_rest
        state.size[h] = 0
        draw_atom(parts.kernel, rng, state.theta[h], state.hyper)
        h += 1
        state.cursor[STICKS] = h
    return True


@slot
def is_needed(state, h):
    """Return whether stick h may matter, those before it being broken."""


def mass_is_left(state, h):
    """Return whether the mass that is left for stick h is not below ``least``."""
    return state.log_left[h - 1] >= math.log(state.least[0])


@slot
def may_exchange(state, h):
    """Return whether sticks h and h + 1 may be exchanged; the answer must be the same after the exchange."""


@slot
def exchange_more(state, h, k):
    """Exchange what else a sampler keeps of two sticks."""


def swap_sticks(parts, state, rng, least):
    """Propose to exchange neighbouring sticks, with weights, atoms and records, as far as `least` mass is left.

    The mixture stays what it is, so the prior of the sticks alone decides. Without this a large cluster that starts at
    a late stick stays there, and the sticks before it hold records that they should not (Papaspiliopoulos and Roberts
    2008). With ν' the sticks after the exchange, the ratio is p(ν')/p(ν) times the Jacobian (1 − ν_h)/(1 − ν'_h). The
    last stick of a finite mixture is 1: with it only ν_h is free, becomes 1 − ν_h, and the Jacobian is 1.
    """
    for h in range(state.cursor[STICKS] - 1):
        before = state.log_left[h - 1] if h > 0 else 0.0
        if before < math.log(least):
            break
        if not may_exchange(state, h):
            continue
        log_rest, log_rest_next = state.log_left[h] - before, state.log_left[h + 1] - state.log_left[h]
        log_stick = math.log(max(state.weight[h], LEAST_WEIGHT)) - before
        log_stick_next = math.log(max(state.weight[h + 1], LEAST_WEIGHT)) - state.log_left[h]
        new = log_stick_next + log_rest
        new_rest = math.log1p(-math.exp(new))
        new_next, new_rest_next = log_stick - new_rest, log_rest + log_rest_next - new_rest
        log_ratio = log_density(parts, state, h, new, new_rest)
        log_ratio += log_density(parts, state, h + 1, new_next, new_rest_next)
        log_ratio -= log_density(parts, state, h, log_stick, log_rest)
        log_ratio -= log_density(parts, state, h + 1, log_stick_next, log_rest_next)
        if log_rest_next > -math.inf:
            log_ratio = log_ratio + log_rest - new_rest
        if exponential(rng) > -log_ratio:
            state.log_left[h] = before + new_rest
            exchange_sticks(state, h, h + 1)
            exchange_more(state, h, h + 1)


# The least weight whose logarithm is taken.
LEAST_WEIGHT = 1e-300


def log_density(parts, state, h, log_stick, log_rest):
    """Return the log density of ν_h itself: that of its logit, less the Jacobian ν(1 − ν)."""
    if log_rest == -math.inf:  # the last of a finite mixture is 1, whatever the others are
        return 0.0
    in_logit = log_stick_density(parts.prior, state.concentration, h, log_stick, log_rest)
    return in_logit - log_stick - log_rest


def exchange_sticks(state, h, k):
    """Exchange the weights, atoms and sizes of two sticks."""
    kept, size = state.weight[h], state.size[h]
    state.weight[h], state.size[h] = state.weight[k], state.size[k]
    state.weight[k], state.size[k] = kept, size
    copy_row(state.scratch, 0, state.theta, h)
    copy_row(state.theta, h, state.theta, k)
    copy_row(state.theta, k, state.scratch, 0)


def keep_sticks(parts, state, rng, draws, d, sticks):
    """Write the first sticks, the occupied ones first, then what lies beyond; offset[h] is the component of stick h."""
    if sticks + rest_room(parts, state, sticks) > draws.weight.shape[1]:
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
