"""Redraw the number of records that were withheld without a trace, given those that were published.

n | λ ~ Poisson(λ) with λ ~ Gamma(shape, rate). With m records published and p the probability of the withheld side, the
number c withheld has the weight Γ(m + c + shape) (p/(1 + rate))^c/c!: it is negative binomial, and one draw is exact. A
Poisson variable whose mean is Gamma(m + shape) times p/(1 + rate − p) has that law.
"""

from __future__ import annotations

from privmix.numerics import gamma, poisson

# What whole numbers of 64 bits and floats hold; only a prior of far larger numbers leads there.
LARGEST_MEAN = 1e15


def redraw_withheld(parts, data, state, rng):
    """Redraw the count of the withheld bin, the first or the last; all others are data."""
    shape, rate = parts.mechanism.expected
    unseen = 0 if parts.mechanism.withholds_low else len(state.counts) - 1
    published, seen = 0.0, 0.0
    for b in range(len(state.counts)):
        if b != unseen:
            published += state.counts[b]
            seen += state.chance[b]
    # 1 − p as the sum of all others: it keeps its digits where nearly all were withheld.
    mean = gamma(rng, published + shape) * state.chance[unseen] / (seen + rate)
    state.counts[unseen] = poisson(rng, min(mean, LARGEST_MEAN))
