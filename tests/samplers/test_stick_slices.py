"""How wide the first slice of a stick is, on counts of any number of records that tell much or little of it."""

import types

import numpy as np
import pytest
from scipy import special, stats

from privmix.numerics.steps import make_slice_step
from privmix.samplers.binned import bins, bits
from privmix.samplers.binned.mixture import WIDEST_SLICE, slice_width, width_of_counts, width_of_records

BINS, STICK, LEFT = 20, 0.3, 0.4


def counts_of(n, difference):
    """Return counts at their expectation, of a stick whose bins differ from those of all later ones by so much."""
    flat = np.full(BINS, 1.0 / BINS)
    slope = flat * difference * np.linspace(-1.0, 1.0, BINS)
    first = (1.0 - LEFT) * flat
    chance = first + LEFT * (STICK * (flat + slope) + (1.0 - STICK) * (flat - slope))
    # No weight: a width that read where the stick is would fail.
    return types.SimpleNamespace(
        counts=np.round(n * chance), row=(flat + slope)[None], rest=(flat - slope)[None], fresh=first
    )


def log_target(state, logit):
    share = special.expit(logit)
    chance = state.fresh + LEFT * (share * state.row[0] + (1.0 - share) * state.rest[0])
    return float(state.counts @ np.log(chance) + np.log(share) + np.log1p(-share))


@pytest.mark.parametrize("n", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("difference", [0.9, 0.3])
def test_width_is_that_of_the_posterior(n, difference):
    state, at, e = counts_of(n, difference), special.logit(STICK), 1e-4
    low, middle, high = (log_target(state, at + k * e) for k in (-1, 0, 1))
    sd = (-(low - 2.0 * middle + high) / e**2) ** -0.5
    assert 2.0 < width_of_counts(state, 0, LEFT, n) / sd < 4.5


def test_width_has_a_limit_where_counts_tell_nothing():
    assert width_of_counts(counts_of(1e9, 0.0), 0, LEFT, 1e9) == WIDEST_SLICE
    assert width_of_counts(counts_of(3.0, 0.9), 0, LEFT, 3.0) == WIDEST_SLICE
    empty = counts_of(1e9, 0.5)
    empty.counts = np.zeros(BINS)
    assert 0.0 < width_of_counts(empty, 0, LEFT, 1.0) <= WIDEST_SLICE


def test_few_evaluations_and_the_right_law():
    asked = []

    def target(state, logit):
        asked.append(logit)
        return log_target(state, logit)

    n = 1e9
    state, rng, logit, seen = counts_of(n, 0.01), np.random.default_rng(1), special.logit(STICK), []
    step = make_slice_step(target, most_steps=60)
    for _ in range(3000):
        logit = step(state, rng, logit, width_of_counts(state, 0, LEFT, n))
        seen.append(logit)
    assert len(asked) / 3000 < 8.0
    asked.clear()
    for _ in range(100):
        step(state, rng, logit, width_of_records(state, 0, LEFT, n))
    assert len(asked) / 100 > 30.0
    shares = special.expit(np.array(seen))[::3]
    information = np.sum((LEFT * (state.row[0] - state.rest[0])) ** 2 * n**2 / state.counts)
    assert stats.kstest((shares - STICK) * np.sqrt(information), "norm").pvalue > 1e-4


def sticks_of_cells_that_were_drawn(width, chains=1500, moves=15, n=10_000):
    """Return sticks after some moves of what rows of bits tell nothing of: each draws cells, then moves the stick.

    They began at the prior, and must follow it.
    """
    rng, ended = np.random.default_rng(2), np.zeros(chains)
    step = make_slice_step(lambda state, logit: -abs(logit) - 2.0 * np.log1p(np.exp(-abs(logit))), most_steps=60)
    state = types.SimpleNamespace(row=np.array([[1.0, 0.0]]), rest=np.array([[0.0, 1.0]]), fresh=np.zeros(2))
    for chain in range(chains):
        stick = rng.random()
        for _ in range(moves):
            first = rng.binomial(n, stick)
            state.counts = np.array([first, n - first], float)
            stick = special.expit(step(state, rng, special.logit(stick), width(state, 0, 1.0, n)))
        ended[chain] = stick
    return ended


def test_cells_that_were_drawn_given_the_sticks_say_nothing_of_a_width():
    right, wrong = (abs(sticks_of_cells_that_were_drawn(w) - 0.5) for w in (width_of_records, width_of_counts))
    assert stats.kstest(2.0 * right, "uniform").pvalue > 1e-3
    assert stats.kstest(2.0 * wrong, "uniform").pvalue < 1e-6
    assert bits.OF_BITS[slice_width] is width_of_records
    assert bins.OF_COUNTS[slice_width] is width_of_counts
