"""Redraw confidential records when the mechanism sees nothing of them but the bin of a histogram.

Given its cluster and the other records, record i is in bin j with weight P(B_j|θ_i)·q(z|c + e_j)/q(z|c), where c counts
the other records; inside its bin it follows the kernel. Both are drawn exactly, so nothing is rejected.
"""

from __future__ import annotations

import math

from privmix.mechanisms.histogram import bin_at, log_bin
from privmix.pairs.slots import bin_masses, draw_in_bin
from privmix.samplers.moves.labels import draw_index


def redraw_in_bins(parts, data, state, rng):
    """Redraw every record given its cluster and the counts of the others."""
    bins = len(state.seen)
    fill_log_masses(parts, data, state)
    for j in range(bins):
        state.gain[j] = log_gain(parts.mechanism, data.z, state.seen, j)
    for i in range(len(state.allocation)):
        h = state.allocation[i]
        take_from_bin(parts, data, state, bin_at(parts.mechanism, state.y[i]), -1.0)
        j = draw_bin(state, rng, h)
        take_from_bin(parts, data, state, j, 1.0)
        draw_in_bin(parts.mechanism, parts.kernel, rng, state.theta[h], j, state.y, i)


def fill_log_masses(parts, data, state):
    """Write the log mass of every bin under each occupied atom."""
    for h in range(state.cursor[0]):
        if state.size[h] > 0:
            bin_masses(parts.mechanism, parts.kernel, data.z, state.theta[h], state.mass[h])
            for j in range(len(state.seen)):
                mass = state.mass[h, j]
                state.mass[h, j] = math.log(mass) if mass > 0.0 else -math.inf


def log_gain(mechanism, z, counts, j):
    """Return log q(z|c + e_j) − log q(z|c)."""
    return log_bin(mechanism, z, j, counts[j] + 1.0) - log_bin(mechanism, z, j, counts[j])


def take_from_bin(parts, data, state, j, change):
    """Change the count of a bin by one, and what one record more in it would gain."""
    state.seen[j] += change
    state.gain[j] = log_gain(parts.mechanism, data.z, state.seen, j)


def draw_bin(state, rng, h):
    """Draw a bin with weight P(B_j|θ_h) times the gain of one record more in it."""
    top = -math.inf
    for j in range(len(state.seen)):
        state.ballot[j] = state.mass[h, j] + state.gain[j]
        top = max(top, state.ballot[j])
    return draw_index(rng, state.ballot, len(state.seen), top)
