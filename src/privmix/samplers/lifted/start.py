"""The start of a chain: up the posterior, with the counts as if they were those of few records, then of more and more.

A start that is far from the counts has a likelihood that no trajectory can climb. Levenberg and Marquardt's method can:
it takes the curvature of the counts, n JJ'/p, and of the prior, about 1 in each coordinate. What the counts do not know
it leaves where the start put it, so that chains that start apart stay apart there.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import draw_atom
from privmix.numerics.linear import solve
from privmix.samplers.binned.mixture import LEAST_CHANCE, fill_row, log_likelihood, sum_chances
from privmix.samplers.lifted.coordinates import (
    REACH,
    fill_slope,
    log_prior,
    propose_place,
    read_place,
    sticks_to_move,
    take_place,
)
from privmix.samplers.lifted.table import FARTHEST_LOCATION, LARGEST_SIZE
from privmix.samplers.lifted.warmup import fill_jacobian
from privmix.samplers.moves.atoms import copy_row

# Records that the counts are first taken for, and the factor by which they become more.
FIRST_RECORDS, MORE_RECORDS = 30.0, 3.0
# Steps at each number of records, and how many small gains in a row are enough.
MOST_CLIMBS, SMALL_GAIN, ENOUGH_SMALL = 30, 0.01, 3
# Damping: at first, its least, beyond which no step helps, and how it changes.
DAMPING, LEAST_DAMPING, LARGEST_DAMPING, EASED, TIGHTENED = 1.0, 1e-6, 1e8, 0.3, 5.0
# How often a start that ends too many standard deviations from the counts is tried again, the weight of a stick below
# which it gets another atom then, and the most that rounding may leave a stick to take.
MOST_REVIVALS, LARGEST_EXCESS, LEAST_WEIGHT, MOST_OF_A_STICK = 8, 30.0, 1e-3, 1.0 - 1e-12
# Atoms of which such a stick gets the best, and the share of the records for which the counts are first taken then: for
# few of them the prior would let the new atoms go again.
CANDIDATES, SHARE_TRIED_AGAIN = 24, 1.0 / 27.0
# Longest step in any coordinate, and how far out a start may leave an atom: inside the table. Where the counts want a
# flat component, its location may be anywhere; beyond the table the steps of a chain would be short for ever.
LONGEST, OUTERMOST_LOCATION = 1.0, 0.5 * FARTHEST_LOCATION


def climb(parts, data, state, rng, n):
    """Move sticks and atoms up the posterior of these counts; where that ends far from them, try again."""
    climb_from(parts, data, state, n, FIRST_RECORDS)
    for _ in range(MOST_REVIVALS):
        if excess(state, n) < LARGEST_EXCESS:
            return
        revive(parts, data, state, rng, sticks_to_move(state, state.lift[REACH]))
        climb_from(parts, data, state, n, max(FIRST_RECORDS, n * SHARE_TRIED_AGAIN))


def climb_from(parts, data, state, n, records):
    """Climb with the counts as if they were those of some records, then of more and more."""
    while True:
        records = min(records, n * 1.0)
        climb_at(parts, data, state, n, records)
        if records >= n:
            return
        records *= MORE_RECORDS


def excess(state, n):
    """Return by how many standard deviations the deviance of the counts is above what chance makes it.

    It is 2 Σ c log(c/np), at the true p about the number of bins, with twice that as variance.
    """
    deviance, bins = -2.0 * log_likelihood(state.counts, state.chance), len(state.counts)
    for b in range(bins):
        if state.counts[b] > 0.0:
            deviance += 2.0 * state.counts[b] * math.log(state.counts[b] / n)
    return (deviance - bins) / math.sqrt(2.0 * bins)


def revive(parts, data, state, rng, count):
    """Give half of the mass to all sticks in equal parts, and those that had none an atom where records are missing.

    A stick without mass has no slope: what few records did not need would else be missing for all of them.
    """
    log_before, equal = 0.0, 0.5 * (1.0 - math.exp(state.log_left[count - 1])) / count
    for h in range(count):
        if state.weight[h] < LEAST_WEIGHT:
            draw_missing_atom(parts, data, state, rng, h, equal)
        state.weight[h] = equal + 0.5 * state.weight[h]
        if h + 1 < count:
            state.log_left[h] = log_before + math.log1p(-min(state.weight[h] * math.exp(-log_before), MOST_OF_A_STICK))
        log_before = state.log_left[h]
    sum_chances(state)


def draw_missing_atom(parts, data, state, rng, h, share):
    """Give a stick that of some atoms of the base measure whose share would raise the likelihood fastest.

    That is the one with the largest Σ c F/p; the share is then part of p, so that the next one is another.
    """
    theta, row, best = state.scratch[0], state.fresh, -math.inf
    for _ in range(CANDIDATES):
        draw_atom(parts.kernel, rng, theta, state.hyper)
        fill_row(parts, data, state, theta, row)
        gain = 0.0
        for b in range(len(row)):
            gain += state.counts[b] * row[b] / max(state.chance[b], LEAST_CHANCE)
        if gain > best:
            best = gain
            copy_row(state.theta, h, state.scratch, 0)
            for b in range(len(row)):
                state.row[h, b] = row[b]
    for b in range(len(row)):
        state.chance[b] = (1.0 - share) * state.chance[b] + share * state.row[h, b]


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
    for h in range(count):
        state.spot[h, 1] = min(max(state.spot[h, 1], -OUTERMOST_LOCATION), OUTERMOST_LOCATION)
        state.spot[h, 2] = min(state.spot[h, 2], LARGEST_SIZE)
    return True
