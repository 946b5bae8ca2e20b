"""The probability of each bin of a release under an atom: one way for each kind of bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix.jit import bind, slot
from privmix.mechanisms.cells import cell_count, cell_hooks, cell_log_q
from privmix.pairs.cells import mass_between, right_tails
from privmix.pairs.slots import bin_masses, log_g
from privmix.samplers.binned.mixture import LEAST_CHANCE

# Parts of the whole range over each of which g is integrated, at least.
LEAST_PIECES = 256
# Places of the two points of Gauss's rule in a part of unit width.
LOWER_GAUSS_POINT, UPPER_GAUSS_POINT = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)


@slot
def release_cdf(mechanism, kernel, z, theta):
    """Return G(z|θ), the distribution function of a released record."""


@slot
def release_masses(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin of a released record."""


def row_of_histogram(parts, data, state, theta, out):
    """Write the kernel's mass in each bin."""
    bin_masses(parts.mechanism, parts.kernel, data.z, theta, out)


def row_of_values(parts, data, state, theta, out):
    """Write the probability of each output."""
    for b in range(len(out)):
        out[b] = math.exp(log_g(parts.mechanism, parts.kernel, state.node[b], theta))


def row_of_edges(parts, data, state, theta, out):
    """Write the differences of the distribution function."""
    low = 0.0
    for b in range(len(out)):
        high = 1.0
        if b + 1 < len(out):
            high = release_cdf(parts.mechanism, parts.kernel, state.node[b + 1], theta)
        out[b] = max(high - low, 0.0)
        low = high


def row_of_intervals(parts, data, state, theta, out):
    """Write the probability of each bin, a published value of its own."""
    for b in range(len(out)):
        out[b] = math.exp(log_g(parts.mechanism, parts.kernel, state.node[b : b + 2], theta))


def row_of_cells(parts, data, state, theta, out):
    """Write the probability of each bin from that of each cell of a record, and of each bin given the cell."""
    low, above = 0.0, 1.0
    for b in range(len(out)):
        out[b] = 0.0
    for j in range(len(state.share)):
        high, rest = right_tails(parts.mechanism, parts.kernel, state.node, theta, j, low)
        mass = mass_between(low, above, high, rest)
        for b in range(len(out)):
            out[b] += mass * state.share[j, b]
        low, above = high, rest


def shares_of_cells(mechanism: Any, edges: np.ndarray) -> np.ndarray:
    """Return P(bin|cell) of every cell and bin: it depends on no atom, so that each sweep need not compute it."""
    hooks, numbers = {**mechanism.hooks(), **cell_hooks(mechanism)}, mechanism.numbers()
    cells = bind(cell_count, hooks, compiled=False)(numbers, edges[:2])
    out = np.zeros((cells, len(edges) - 1))
    bind(fill_shares, hooks, owner=type(mechanism).__name__)(numbers, edges, out)
    return out


def fill_shares(mechanism, edges, out):
    """Write P(bin|cell) of every cell and bin (compiled)."""
    for j in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[j, b] = math.exp(cell_log_q(mechanism, edges[b : b + 2], j))


def row_at_once(parts, data, state, theta, out):
    """Write the probabilities of all bins."""
    release_masses(parts.mechanism, parts.kernel, state.node, theta, out)


def row_by_quadrature(parts, data, state, theta, out):
    """Write the integral of g over each bin by Gauss's rule with two points, as a share of their sum.

    Wide bins are cut into parts, since g may have kinks and peaks inside: with 6 bins of a square wave a component half
    as wide as a bin had .037 in place of .058. Near the ends of the bounds g has kinks, and the integrals add up to
    1 ± 1e-5. A billion records would see in that 10,000 units of log likelihood, and prefer whatever components add up
    to more.
    """
    total, pieces = 0.0, max(1, (LEAST_PIECES + len(out) - 1) // len(out))
    for b in range(len(out)):
        left, width = state.node[b], (state.node[b + 1] - state.node[b]) / pieces
        out[b] = 0.0
        for _ in range(pieces):
            first = math.exp(log_g(parts.mechanism, parts.kernel, left + LOWER_GAUSS_POINT * width, theta))
            second = math.exp(log_g(parts.mechanism, parts.kernel, left + UPPER_GAUSS_POINT * width, theta))
            out[b] += 0.5 * width * (first + second)
            left += width
        total += out[b]
    for b in range(len(out)):
        out[b] /= max(total, LEAST_CHANCE)
