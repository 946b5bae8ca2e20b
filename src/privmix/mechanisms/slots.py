"""Slots of a mechanism: the names by which generic code reaches it, and what samplers ask of it.

A sampler that moves record i asks for the `evidence` of the proposal, how well it explains the release, compares it
with the number it keeps for the current value, and, on accepting, keeps what `settle` returns.

For a local mechanism the evidence is the log of (1/m) Σ_j q(z_i|ỹ_j), an unbiased estimate of g(z_i|θ) where the ỹ_j
are draws of f(·|θ). For a global one it is the log ratio of the release's density with the proposed record to that with
the current one, so that the number to keep is always 0; `seen` is what the mechanism sees of all records.
"""

from __future__ import annotations

from privmix.jit import slot


@slot
def log_q(mechanism, z, y):
    """Return log q(z|y) for one record: a mechanism's hook."""


@slot
def log_between(mechanism, low, high, y):
    """Return log P(low < Z ≤ high|y) for one record, accurate however far out: a mechanism's hook."""


@slot
def at_record(mechanism, i):
    """Return the mechanism's parameters as record i sees them."""


@slot
def log_ratio(mechanism, z, statistic, old, new):
    """Return log q(z|data with new) − log q(z|data with old); the statistic is that of the data with old."""


@slot
def replace(mechanism, statistic, old, new):
    """Change the statistic in place to that of the data in which one record moves from `old` to `new`."""


@slot
def begin(mechanism, data, seen, ys, m):
    """Set `seen` to what the mechanism sees of the records, of which ys holds m for each (one, if it is global)."""


@slot
def evidence(mechanism, data, seen, i, current, proposed):
    """Return the log evidence of proposed values of record i."""


@slot
def settle(mechanism, data, seen, i, current, proposed, value):
    """Take note that record i moves from current to proposed; return the number to keep for it."""
