"""Heights of sticks: slice variables lie below them, and only sticks that rise above one can take its record."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.jit import slot
from privmix.samplers.moves.sticks import LEAST_WEIGHT, STICKS, is_needed, mass_is_left


@slot
def height(state, h):
    """Return the height below which the slice variables of the records at stick h lie."""


@slot
def log_above(state, h):
    """Return the log of a stick's weight over its height."""


@slot
def sticks_to_keep(state):
    """Return how many sticks a draw writes; what lies beyond is written as the rest."""


def all_sticks(state):
    """Return all sticks of the state."""
    return state.cursor[STICKS]


def sticks_with_records(state):
    """Return the sticks up to the last that holds a record: now and then heights reach thousands beyond it."""
    last = state.cursor[STICKS]
    while last > 1 and state.size[last - 1] == 0:
        last -= 1
    return last


def weight_as_height(state, h):
    """Return the weight of the stick."""
    return state.weight[h]


def nothing_above(state, h):
    """Return 0: the height is the weight."""
    return 0.0


HEIGHTS: dict[Callable, Callable] = {
    height: weight_as_height,
    log_above: nothing_above,
    is_needed: mass_is_left,
    sticks_to_keep: all_sticks,
}


def fixed_height(state, h):
    """Return (1 + h)^−2, whatever the weight is.

    Under a heavy-tailed prior the mass beyond the sticks falls so slowly that slices below the weights could reach
    millions of them; fixed heights (Kalli, Griffin and Walker 2011, Section 3) need some √n for each that holds
    records.
    """
    return 1.0 / ((1.0 + h) * (1.0 + h))


def weight_above_fixed(state, h):
    """Return log w_h − log ξ_h."""
    return math.log(max(state.weight[h], LEAST_WEIGHT)) - math.log(fixed_height(state, h))


def reaches_least(state, h):
    """Return whether the least slice variable lies below the height of stick h."""
    return fixed_height(state, h) >= state.least[0]


FIXED_HEIGHTS: dict[Callable, Callable] = {
    height: fixed_height,
    log_above: weight_above_fixed,
    is_needed: reaches_least,
    sticks_to_keep: sticks_with_records,
}
