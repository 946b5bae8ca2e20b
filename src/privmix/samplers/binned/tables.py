"""Counts of common bins under several tables: the sum that each bin of each table sees is kept along.

An exchange of two common bins changes two sums of each table, or none where both are in one bin of it. So a move costs
as much as there are tables, however many bins there are.
"""

from __future__ import annotations

from privmix.mechanisms.histogram import log_bin
from privmix.samplers.binned.counts import update_counts
from privmix.samplers.binned.unknown import update_counts_and_total


def update_counts_of_tables(parts, data, state, rng):
    """Let every common bin exchange records with another."""
    fill_sums(parts, state)
    update_counts(parts, data, state, rng)


def update_unknown_of_tables(parts, data, state, rng):
    """Let every common bin exchange records with another, then gain or lose some."""
    fill_sums(parts, state)
    update_counts_and_total(parts, data, state, rng)


def fill_sums(parts, state):
    """Write what each bin of each table sees: once a sweep, because handing out and a start change counts too."""
    for a in range(len(state.sums)):
        state.sums[a] = 0.0
    for j in range(len(state.counts)):
        for t in range(parts.mechanism.cover.shape[1]):
            state.sums[parts.mechanism.cover[j, t]] += state.counts[j]


def two_in_tables(parts, data, state, j, k, place, other):
    """Return what the tables say of two common bins whose counts are `place` and `other`."""
    total = 0.0
    for t in range(parts.mechanism.cover.shape[1]):
        a, b = parts.mechanism.cover[j, t], parts.mechanism.cover[k, t]
        if a != b:
            total += log_bin(parts.mechanism, data.z, a, state.sums[a] + (place - state.counts[j]))
            total += log_bin(parts.mechanism, data.z, b, state.sums[b] + (other - state.counts[k]))
    return total


def one_in_tables(parts, data, state, j, place):
    """Return what the tables say of a common bin whose count is `place`."""
    total = 0.0
    for t in range(parts.mechanism.cover.shape[1]):
        a = parts.mechanism.cover[j, t]
        total += log_bin(parts.mechanism, data.z, a, state.sums[a] + (place - state.counts[j]))
    return total


def set_in_tables(parts, state, j, count):
    """Set the count of a common bin, and the sums that it is in."""
    for t in range(parts.mechanism.cover.shape[1]):
        state.sums[parts.mechanism.cover[j, t]] += count - state.counts[j]
    state.counts[j] = count
