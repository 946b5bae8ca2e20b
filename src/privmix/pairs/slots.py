"""Slots through which convolutions of any kernel or any mechanism reach optional hooks."""

from __future__ import annotations

from privmix.jit import slot


@slot
def kernel_cdf(kernel, y, theta):
    """Return P(Y ≤ y|θ)."""


@slot
def kernel_mass(kernel, lower, upper, theta):
    """Return P(lower < Y ≤ upper|θ), accurate in both tails."""


@slot
def lower_tail(kernel, y, theta):
    """Return P(Y ≤ y|θ)."""


@slot
def upper_tail(kernel, y, theta):
    """Return P(Y > y|θ)."""


@slot
def sample_between(kernel, rng, theta, lower, upper):
    """Draw Y given that it lies between lower and upper."""


@slot
def cell_count(mechanism, z):
    """Return the number of cells of y on which q(z|y) is constant."""


@slot
def cell_edge(mechanism, z, j):
    """Return the left edge of cell j, 0 < j < cells."""


@slot
def cell_log_q(mechanism, z, j):
    """Return log q(z|cell j)."""
