"""Update the true counts of a histogram where the number of records is not known.

n | λ ~ Poisson(λ) with λ ~ Gamma(shape, rate). With λ integrated out the counts have the weight
Γ(n + shape) (1 + rate)^−n ∏_j p_j^{c_j}/c_j!, n = Σ_j c_j ≥ 1: no sum is fixed. So beside the exchanges, which keep n,
every count moves alone, by slice sampling on whole numbers, at a cost that does not grow with n.
"""

from __future__ import annotations

import math

from privmix.numerics.steps import make_slice_step
from privmix.samplers.binned.counts import log_of_one, set_count, update_counts


def update_counts_and_total(parts, data, state, rng):
    """Let every bin exchange records with another, then gain or lose some."""
    update_counts(parts, data, state, rng)
    total = 0.0
    for j in range(len(state.counts)):
        total += state.counts[j]
    for j in range(len(state.counts)):
        total = redraw_count(parts, data, state, rng, j, total)


def count_in_bins(state, n):
    """Return the number of records by the counts of the bins: steps that follow may depend on no older one."""
    total = 0.0
    for b in range(len(state.counts)):
        total += state.counts[b]
    return int(total)


def redraw_count(parts, data, state, rng, j, total):
    """Redraw the count of bin j given all others, and return the new total."""
    place = state.counts[j]
    others = total - place
    # What the other counts let expect; of the width only this and what warm-up found, not the place itself.
    expected = (others + 1.0) * state.chance[j] / max(1.0 - state.chance[j], 1e-9)
    width = 1 + int(min(3.0 * state.reach[j], math.sqrt(expected + 1.0)))
    moved = slice_total((parts, data, state, j, others), rng, place, width)
    state.reach[j] += state.tune[0] * (abs(moved - place) - state.reach[j])
    set_count(parts, state, j, moved)
    return others + moved


def count_target(about, place):
    """Return the log weight of `place` records in bin j, the other counts as they are."""
    parts, data, state, j, others = about
    if place < 0.0 or others + place < 1.0:
        return -math.inf
    shape, rate = parts.mechanism.expected
    value = log_of_one(parts, data, state, j, place) - math.lgamma(place + 1.0)
    value += place * (math.log(max(state.chance[j], 1e-300)) - math.log1p(rate))
    return value + math.lgamma(others + place + shape)


slice_total = make_slice_step(count_target, whole=True)
