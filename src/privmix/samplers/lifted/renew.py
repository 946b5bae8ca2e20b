"""Sticks and atoms of little weight, drawn anew from the prior and accepted by the likelihood of the counts.

Of a billion records a stick of weight 1e-7 holds a hundred, and labels would hold it in place; but counts with noise
on them hardly see it. While these sticks stand still so do the concentration and the base measure, which are drawn
given all of them: with Laplace noise of ε = 1 and a billion records both had 10 effective draws in 1,000 sweeps.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import draw_atom
from privmix.numerics.steps import accepts
from privmix.priors.slots import stick
from privmix.samplers.binned.mixture import (
    LEAST_CHANCE,
    LEAST_EXPECTED_RECORDS,
    fill_rests,
    fill_row,
    log_likelihood,
)
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.sticks import STICKS

# Mass, in units of 1/√n, beyond which a draw from the prior is hardly ever accepted, so that none is tried.
MOST_MASS = 30.0


def renew(parts, data, state, rng, n):
    """Propose every stick that records can reach, and its atom, from the prior, where there is little mass.

    Whether a stick is tried depends on the mass that is left before it, and for its atom on its weight: neither is
    changed by the move.
    """
    fill_rests(state)
    log_most = math.log(MOST_MASS) - 0.5 * math.log(n)
    for b in range(len(state.counts)):
        state.fresh[b] = 0.0  # what earlier sticks give
    current = log_likelihood(state.counts, state.chance)
    log_before, log_old = 0.0, 0.0
    for h in range(state.cursor[STICKS]):
        log_stick = math.log(max(state.weight[h], LEAST_CHANCE)) - log_old
        state.weight[h] = math.exp(log_before + log_stick)
        state.log_left[h] = log_before + state.log_old[h] - log_old
        if n * math.exp(log_before) >= LEAST_EXPECTED_RECORDS and h + 1 < state.cursor[STICKS]:
            if log_before < log_most:
                current = renew_stick(parts, state, rng, h, log_before, current)
            if LEAST_EXPECTED_RECORDS <= n * state.weight[h] < n * math.exp(log_most):
                current = renew_atom(parts, data, state, rng, h, current)
        for b in range(len(state.counts)):
            state.fresh[b] += state.weight[h] * state.row[h, b]
        log_before, log_old = state.log_left[h], state.log_old[h]
    for b in range(len(state.counts)):
        state.chance[b] = state.fresh[b]


def renew_stick(parts, state, rng, h, log_before, current):
    """Propose stick h from the prior, later ones keeping their shares of what is left; return the log likelihood."""
    log_stick, log_rest = stick(parts.prior, rng, state.concentration, h)
    fill_trial(state, h, math.exp(log_before + log_stick), state.row[h], math.exp(log_before + log_rest))
    value = log_likelihood(state.counts, state.trial)
    if accepts(rng, value - current):
        state.weight[h], state.log_left[h] = math.exp(log_before + log_stick), log_before + log_rest
        return value
    return current


def renew_atom(parts, data, state, rng, h, current):
    """Propose the atom of stick h from the base measure; return the log likelihood."""
    theta, row = state.scratch[0], state.new_row[0]
    draw_atom(parts.kernel, rng, theta, state.hyper)
    fill_row(parts, data, state, theta, row)
    fill_trial(state, h, state.weight[h], row, math.exp(state.log_left[h]))
    value = log_likelihood(state.counts, state.trial)
    if accepts(rng, value - current):
        copy_row(state.theta, h, state.scratch, 0)
        for b in range(len(row)):
            state.row[h, b] = row[b]
        return value
    return current


def fill_trial(state, h, weight, row, left):
    """Write the probabilities of bins if stick h had this weight and this row, and this much were left beyond it."""
    for b in range(len(row)):
        state.trial[b] = state.fresh[b] + weight * row[b] + left * state.rest[h, b]
