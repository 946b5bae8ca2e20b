"""Update the true counts of a histogram given its noisy release and the probabilities of the bins.

c ~ Multinomial(n, p), and the release sees each count by itself. Two bins exchange records at a time, so that the total
stays n: the count of the first is a binomial variable with the release's likelihood, drawn by slice sampling on whole
numbers, at a cost that does not grow with n. It is exact for any noise, of several peaks too.
"""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.mechanisms.histogram import log_bin
from privmix.numerics import uniform_index
from privmix.numerics.steps import make_slice_step

# Entry of State.statistic: the number of records, which is learned where it is not known
RECORDS = 1


@slot
def log_of_two(parts, data, state, j, k, place, other):
    """Return what the release says of bins j and k whose counts are `place` and `other`, up to a constant."""


@slot
def log_of_one(parts, data, state, j, place):
    """Return what the release says of bin j whose count is `place`, up to a constant."""


@slot
def set_count(parts, state, j, count):
    """Set the count of a bin."""


def two_in_bins(parts, data, state, j, k, place, other):
    """Return what a histogram says of two bins: each by itself."""
    return log_bin(parts.mechanism, data.z, j, place) + log_bin(parts.mechanism, data.z, k, other)


def one_in_bins(parts, data, state, j, place):
    """Return what a histogram says of a bin."""
    return log_bin(parts.mechanism, data.z, j, place)


def set_in_bins(parts, state, j, count):
    """Set the count of a bin of a histogram."""
    state.counts[j] = count


def update_counts(parts, data, state, rng):
    """Let every bin exchange records with another, chosen at random."""
    bins = len(state.counts)
    for j in range(bins):
        k = uniform_index(rng, bins - 1)
        exchange_records(parts, data, state, rng, j, k + (k >= j))


def exchange_records(parts, data, state, rng, j, k):
    """Redraw the counts of bins j and k given their sum."""
    total, place = state.counts[j] + state.counts[k], state.counts[j]
    if total == 0.0:
        return
    share = state.chance[j] / max(state.chance[j] + state.chance[k], 1e-300)
    width = 1 + int(min(3.0 * state.reach[j], math.sqrt(total * share * (1.0 - share))))
    moved = slice_count((parts, data, state, j, k, total), rng, place, width)
    # tune[0] is the gain, 0 after warm-up. Where the release is exact the counts move by far less than the binomial.
    state.reach[j] += state.tune[0] * (abs(moved - place) - state.reach[j])
    set_count(parts, state, j, moved)
    set_count(parts, state, k, total - moved)


def exchange_target(about, place):
    """Return the log weight of `place` of the records in bin j and the others in bin k."""
    parts, data, state, j, k, total = about
    if place < 0.0 or place > total:
        return -math.inf
    other = total - place
    value = log_of_two(parts, data, state, j, k, place, other)
    if place > 0.0:
        value += place * math.log(max(state.chance[j], 1e-300))
    if other > 0.0:
        value += other * math.log(max(state.chance[k], 1e-300))
    return value - math.lgamma(place + 1.0) - math.lgamma(other + 1.0)


slice_count = make_slice_step(exchange_target, whole=True)
