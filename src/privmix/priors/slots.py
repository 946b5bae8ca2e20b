"""Slots through which samplers reach a prior."""

from __future__ import annotations

from privmix.jit import slot


@slot
def draw_concentration(prior, rng):
    """Draw the concentration from its prior (or return the fixed one)."""


@slot
def new_weight(prior, concentration, n, k):
    """Return the urn's weight of a new cluster, where an old one weighs its size."""


@slot
def stick(prior, rng, concentration, h):
    """Draw (log ν_h, log(1 − ν_h)) from the prior."""


@slot
def log_stick_density(prior, concentration, h, log_stick, log_rest):
    """Return the log density of ν_h in its logit, up to a constant, from log ν_h and log(1 − ν_h)."""


@slot
def stick_given(prior, rng, concentration, h, size, beyond):
    """Draw (log ν_h, log(1 − ν_h)) given the records at stick h and beyond it."""


@slot
def update_given_partition(prior, rng, concentration, n, k):
    """Redraw the concentration given that n records form k clusters."""


@slot
def update_given_sticks(prior, rng, concentration, count, log_rest):
    """Redraw the concentration given the first `count` sticks, with log_rest = Σ log(1 − ν_h)."""
