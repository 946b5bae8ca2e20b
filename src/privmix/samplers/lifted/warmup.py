"""Warm-up: windows of sweeps, after each of which the stiff coordinates are tabulated anew from where the chain was.

A table that was made far from where the chain is now holds trajectories along the wrong combinations, and steps stay
short for ever, although as many are accepted as should be: so windows are many, and each is longer than the last.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import prepare
from privmix.samplers.binned.mixture import fill_rests, fill_row, log_shares
from privmix.samplers.lifted.coordinates import (
    LENGTH,
    REACH,
    REACHED,
    STAGE,
    STICK_UNIT,
    SWEEPS,
    read_place,
    sticks_reached,
    sticks_to_move,
    write_atom,
)
from privmix.samplers.lifted.trajectory import LAST_STEP, LOG_STEP

# What is done about the table: none yet; directions are wanted, which Python finds; values are wanted, which compiled
# code computes; a filter is wanted, which is Python's again; all is there. A state that was stored has no table.
EMPTY, DIRECTIONS, VALUES, FILTER, READY, STORED = range(6)
# Sweeps of the first window; each later one is longer by this factor.
FIRST_WINDOW, GROWTH = 30, 1.25
# Places of a window, in its second half, from which the stiff combinations are found.
PLACES_IN_A_WINDOW = 40
# Sticks that move beyond those that were reached.
SPARE_STICKS = 2
# Distance at which probabilities of bins are compared to get their slopes.
NEARBY = 1e-4


def adapt(parts, data, state, n):
    """Take note of where the chain is; at the end of a window ask for a new table."""
    if state.tune[0] <= 0.0:
        return
    state.lift[SWEEPS] += 1
    state.lift[REACHED] += sticks_reached(state, n)
    length, made = state.lift[LENGTH], state.lift[SWEEPS]
    if 2 * made > length and made % (1 + length // (2 * PLACES_IN_A_WINDOW)) == 0:
        observe(parts, data, state, n)
    if made == length:
        state.lift[LENGTH] = int(GROWTH * length)
        close_window(state, length)


def close_window(state, sweeps):
    """Ask for a table from what was seen in so many sweeps, for about as many sticks as were reached."""
    state.gear[LAST_STEP] = state.gear[LOG_STEP]
    state.lift[REACH] = min(SPARE_STICKS + state.lift[REACHED] // sweeps, len(state.new_weight))
    state.lift[REACHED], state.lift[SWEEPS] = 0, 0
    state.lift[STAGE] = DIRECTIONS


def observe(parts, data, state, n):
    """Add the slopes of p at the present place to their mean squares and products, and p to its mean."""
    count = sticks_now(state, n)
    fill_jacobian(parts, data, state, count)
    bins = len(state.counts)
    for b in range(bins):
        state.mean_chance[b] += state.chance[b]
    for i in range(3 * count):
        for b in range(bins):
            for a in range(bins):
                state.moment[b, a] += state.jacobian[i, b] * state.jacobian[i, a]
    state.moment_count[0] += 1.0


def sticks_now(state, n):
    """Return how many sticks there are to move at the present place, however many another place had."""
    return sticks_to_move(state, min(sticks_reached(state, n) + SPARE_STICKS, len(state.new_weight)))


def fill_jacobian(parts, data, state, count):
    """Write the slopes of p in the coordinates of a place: of sticks exactly, of atoms by differences."""
    fill_rests(state)
    x = state.spot
    read_place(state, count, x)
    bins = len(state.counts)
    for h in range(count):
        log_stick, log_rest = log_shares(STICK_UNIT * x[h, 0])
        gain, loss = STICK_UNIT * math.exp(log_rest), STICK_UNIT * math.exp(log_stick)
        left = math.exp(state.log_left[h])
        for b in range(bins):
            state.jacobian[3 * h, b] = gain * state.weight[h] * state.row[h, b] - loss * left * state.rest[h, b]
        for c in range(1, 3):
            fill_difference(parts, data, state, x, h, c)


def fill_difference(parts, data, state, x, h, c):
    """Write the slope of p in parameter c of atom h."""
    theta, kept = state.scratch[0], x[h, c]
    out = state.jacobian[3 * h + c]
    x[h, c] = kept + NEARBY
    write_atom(state, x[h, 1], x[h, 2], theta)
    prepare(parts.kernel, theta)
    fill_row(parts, data, state, theta, out)
    x[h, c] = kept - NEARBY
    write_atom(state, x[h, 1], x[h, 2], theta)
    prepare(parts.kernel, theta)
    fill_row(parts, data, state, theta, state.fresh)
    x[h, c] = kept
    for b in range(len(out)):
        slope = state.weight[h] * (out[b] - state.fresh[b]) / (2.0 * NEARBY)
        # An atom of an extreme size may have no slope in floating point; then it says nothing of what is stiff.
        out[b] = slope if abs(slope) < math.inf else 0.0
