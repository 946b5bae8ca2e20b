"""What samplers ask of a mechanism that perturbs each record by itself: the evidence of a proposed record."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.mechanisms.slots import at_record, begin, evidence, log_q, settle


def log_q_each(mechanism, z, y, out):
    """Evaluate log q record by record (compiled)."""
    for i in range(len(out)):
        out[i] = log_q(at_record(mechanism, i), z[i], y[i])


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


#: what samplers ask of every mechanism that perturbs each record by itself
LOCAL_HOOKS: dict[Callable, Callable] = {begin: local_begin, evidence: local_evidence, settle: local_settle}
