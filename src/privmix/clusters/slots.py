"""Slots through which the search reaches the draws, whatever form they are kept in."""

from __future__ import annotations

from privmix.jit import slot


@slot
def forget_places(draws):
    """Forget the places of all records."""


@slot
def note(draws, i, k, change):
    """Take note that record i joins (+1) or leaves (−1) cluster k."""


@slot
def rename(draws, k, last):
    """Give the name k, of an empty cluster, to cluster last."""


@slot
def expected_steps(draws, work, i):
    """Fill work.gain[k] with E φ(n_st + 1) − φ(n_st) for record i in each cluster, counts without the record."""


@slot
def expected_joint(draws, work):
    """Return E Σ_st φ(n_st)."""
