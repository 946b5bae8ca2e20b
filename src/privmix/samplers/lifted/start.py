"""The start of a chain: up the posterior, with the counts as if they were those of few records, then of more and more.

A start that is far from the counts has a likelihood that no trajectory can climb. Levenberg and Marquardt's method can:
it takes the curvature of the counts, n JJ'/p, and of the prior, about 1 in each coordinate. What the counts do not know
it leaves where the start put it, so that chains that start apart stay apart there.
"""

from __future__ import annotations

import math

from privmix.numerics.linear import solve
from privmix.samplers.binned.mixture import LEAST_CHANCE, log_likelihood
from privmix.samplers.lifted.coordinates import (
    REACH,
    fill_slope,
    log_prior,
    propose_place,
    read_place,
    sticks_to_move,
    take_place,
)
from privmix.samplers.lifted.warmup import fill_jacobian

# Records that the counts are first taken for, and the factor by which they become more.
FIRST_RECORDS, MORE_RECORDS = 30.0, 3.0
# Steps at each number of records, and how many small gains in a row are enough.
MOST_CLIMBS, SMALL_GAIN, ENOUGH_SMALL = 30, 0.01, 3
# Damping: at first, its least, beyond which no step helps, and how it changes.
DAMPING, LEAST_DAMPING, LARGEST_DAMPING, EASED, TIGHTENED = 1.0, 1e-6, 1e8, 0.3, 5.0
# Longest step in any coordinate.
LONGEST = 1.0


def climb(parts, data, state, n):
    """Move sticks and atoms up the posterior of these counts."""
    records = FIRST_RECORDS
    while True:
        records = min(records, n * 1.0)
        climb_at(parts, data, state, n, records)
        if records >= n:
            return
        records *= MORE_RECORDS


def climb_at(parts, data, state, n, records):
    """Climb with the counts as if they were those of so many records."""
    count = sticks_to_move(state, state.lift[REACH])
    if count == 0:
        return
    share, damping, small = records / n, DAMPING, 0
    fill_jacobian(parts, data, state, count)
    x = state.spot
    value = share * log_likelihood(state.counts, state.chance) + log_prior(parts, state, x, count, state.theta)
    for _ in range(MOST_CLIMBS):
        fill_normal(parts, state, count, share, 1.0 + damping)
        if not (solve(state.normal, state.ascent, 3 * count) and move_up(state, count)):
            return
        propose_place(parts, data, state, x, count)
        found = log_prior(parts, state, x, count, state.new_theta)
        found += share * log_likelihood(state.counts, state.trial)
        if found > value:
            small = small + 1 if found - value < SMALL_GAIN else 0
            take_place(state, count)
            fill_jacobian(parts, data, state, count)
            value, damping = found, max(EASED * damping, LEAST_DAMPING)
            if small == ENOUGH_SMALL:
                return
        else:
            damping *= TIGHTENED
            if damping > LARGEST_DAMPING:
                return


def fill_normal(parts, state, count, share, damping):
    """Write the curvature of the log posterior and its slope at the place of the state."""
    read_place(state, count, state.spot)
    fill_slope(parts, state, state.spot, count, state.rise)
    bins = len(state.counts)
    total = 0.0
    for b in range(bins):
        total += state.counts[b]
    for i in range(3 * count):
        slope = state.rise[i // 3, i % 3]
        for b in range(bins):
            chance = max(state.chance[b], LEAST_CHANCE)
            slope += share * state.jacobian[i, b] * (state.counts[b] / chance - total)
            state.fresh[b] = share * total * state.jacobian[i, b] / chance
        state.ascent[i] = slope
        for j in range(i + 1):
            product = 0.0
            for b in range(bins):
                product += state.fresh[b] * state.jacobian[j, b]
            state.normal[i, j], state.normal[j, i] = product, product
        state.normal[i, i] += damping


def move_up(state, count):
    """Move the place by the solution, but by no more than LONGEST; return whether it is a number."""
    longest = 0.0
    for i in range(3 * count):
        if not abs(state.ascent[i]) < math.inf:
            return False
        longest = max(longest, abs(state.ascent[i]))
    factor = min(1.0, LONGEST / max(longest, 1e-300))
    for i in range(3 * count):
        state.spot[i // 3, i % 3] += factor * state.ascent[i]
    return True
