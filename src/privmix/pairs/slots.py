"""Slots of what is known of a mechanism and a kernel together."""

from __future__ import annotations

from privmix.jit import slot


@slot
def log_g(mechanism, kernel, z, theta):
    """Return log g(z|θ) for one record; the mechanism as that record sees it."""


@slot
def draw_given(mechanism, kernel, rng, z, theta):
    """Draw Y given z and θ for one record."""


@slot
def draw_given_at(mechanism, kernel, rng, z, theta, ys, i):
    """Draw Y given z and θ for one record into ys[i], whether it is a number or a row."""


@slot
def draw_reported_at(mechanism, kernel, rng, z, theta, ys, i):
    """Draw the same, but write NaN for an entry whose release is missing: an update of θ leaves it out."""


@slot
def redraw_at(mechanism, kernel, rng, z, theta, ys, i):
    """Move ys[i] by a Markov step that leaves the law of Y given z and θ as it is."""


@slot
def walk_columns(mechanism, kernel, rng, z, theta, passes, members, hyper, log_step, gain, sharers, tune, spare):
    """Move θ by Metropolis steps on G₀(θ) ∏ g(z_i|θ) over the members of a cluster, one column after another.

    A column whose base measure has no density is updated by its kernel, given entries that are drawn for that into
    spare records.
    """


@slot
def clear(stat):
    """Empty a row of sufficient statistics."""


@slot
def add(mechanism, kernel, stat, z):
    """Take a record into a row of sufficient statistics."""


@slot
def remove(mechanism, kernel, stat, z):
    """Take a record out of a row of sufficient statistics."""


@slot
def log_marginal(mechanism, kernel, stat):
    """Return the log marginal density of the records in a row of sufficient statistics, θ integrated out."""


@slot
def draw_posterior(mechanism, kernel, rng, stat, theta):
    """Draw θ given the records in a row of sufficient statistics, without its constants."""


@slot
def bin_masses(mechanism, kernel, z, theta, out):
    """Write P(Y in bin j|θ) of every bin."""


@slot
def draw_in_bin(mechanism, kernel, rng, theta, j, ys, i):
    """Draw Y given θ and that it is in bin j into ys[i], whether it is a number or a row."""
