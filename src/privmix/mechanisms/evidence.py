"""How well proposed records explain the release: what a sampler asks of a mechanism, local or global.

A sampler that moves record i asks for the `evidence` of the proposal, compares it with the number it keeps for the
current value, and, on accepting, keeps what `settle` returns.

For a local mechanism the evidence is the log of (1/m) Σ_j q(z_i|ỹ_j), an unbiased estimate of g(z_i|θ) where the ỹ_j
are draws of f(·|θ). For a global one it is the log ratio of the release's density with the proposed record to that with
the current one, so that the number to keep is always 0; `seen` is what the mechanism sees of all records.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.mechanisms.slots import at_record, begin, evidence, log_q, log_ratio, replace, settle


def local_begin(mechanism, data, seen, ys, m):
    """Do nothing: a local mechanism sees one record at a time."""


def local_evidence(mechanism, data, seen, i, current, proposed):
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


def local_settle(mechanism, data, seen, i, current, proposed, value):
    """Keep the evidence itself."""
    return value


def global_begin(mechanism, data, seen, ys, m):
    """Move every record in turn from the reference value to its own."""
    for c in range(len(seen)):
        seen[c] = data.origin[c]
    for i in range(len(ys)):
        replace(mechanism, seen, data.reference[0], ys[i])


def global_evidence(mechanism, data, seen, i, current, proposed):
    """Return the log ratio of the release's density, proposed against current."""
    return log_ratio(mechanism, data.z, seen, current[0], proposed[0])


def global_settle(mechanism, data, seen, i, current, proposed, value):
    """Move the record in what the mechanism sees; the current value is the next comparison's zero."""
    replace(mechanism, seen, current[0], proposed[0])
    return 0.0


LOCAL: dict[Callable, Callable] = {begin: local_begin, evidence: local_evidence, settle: local_settle}
GLOBAL: dict[Callable, Callable] = {begin: global_begin, evidence: global_evidence, settle: global_settle}
