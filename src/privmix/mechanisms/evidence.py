"""How well proposed records explain the release: what a sampler asks of a mechanism, local or global.

A sampler that moves record i asks for the `evidence` of the proposal, compares it with the number it keeps for the
current value, and, on accepting, keeps what `settle` returns. For a local mechanism the evidence is the log of
(1/m) Σ_j q(z_i|ỹ_j), an unbiased estimate of g(z_i|θ) where the ỹ_j are draws of f(·|θ).
"""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.mechanisms.base import at_record, log_q


@slot
def evidence(mechanism, data, i, current, proposed):
    """Return the log evidence of proposed values of record i."""


@slot
def settle(mechanism, data, i, current, proposed, value):
    """Take note that record i moves from current to proposed; return the number to keep for it."""


def local_evidence(mechanism, data, i, current, proposed):
    """Return log (1/m) Σ_j q(z_i|ỹ_j)."""
    part = at_record(mechanism, i)
    m = len(proposed)
    top = log_q(part, data.z[i], proposed[0])
    if m == 1:
        return top
    total = 1.0
    if top == -math.inf:
        total = 0.0
    for j in range(1, m):
        value = log_q(part, data.z[i], proposed[j])
        if value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -math.inf:
            total += math.exp(value - top)
    return top + math.log(total) - math.log(m)


def local_settle(mechanism, data, i, current, proposed, value):
    """Keep the evidence itself."""
    return value
