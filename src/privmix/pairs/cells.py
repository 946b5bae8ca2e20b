"""Mechanisms that are piecewise constant in y, with any kernel that has a distribution function.

g(z|θ) = Σ_j q(z|cell j)·P(Y in cell j|θ); Y given z is drawn by its cell, then from the kernel truncated to it. The
outermost cells reach to −∞ and +∞: y outside the bounds counts as the nearest bound.

Cells are visited from left to right and each edge is looked at once, through the smaller of its two tails, so masses
far out keep their digits. Nothing is stored: the cell is chosen on the way, each with probability its weight over the
sum so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from privmix.kernels import Kernel, TruncatedNormal
from privmix.kernels.slots import lower_tail, sample_between, upper_tail
from privmix.mechanisms import SquareWave
from privmix.mechanisms.cell_grid import CellGrid, grid_edge
from privmix.mechanisms.cells import cell_count, cell_edge, cell_hooks, cell_log_q
from privmix.numerics import uniform
from privmix.pairs.base import Convolution
from privmix.pairs.square_wave_masses import masses_of_wave
from privmix.pairs.staircase import staircase_law

# A sum of masses times e^{log q − top} below this may have lost terms that underflowed; then it is taken in logarithms.
SAFE = 1e-280
# Cost of log g in that of the normal-Laplace pair: for a number with some three cells, and for a row of numbers.
FEW_CELLS, MANY_CELLS = 4.0, 15.0


def right_tails(mechanism, kernel, z, theta, j, low):
    """Return (P(Y ≤ e), P(Y > e)) at the right edge e of cell j, given P(Y ≤ left edge)."""
    if j + 1 == cell_count(mechanism, z):
        return 1.0, 0.0
    return tails_at(kernel, cell_edge(mechanism, z, j + 1), theta, low)


def tails_at(kernel, edge, theta, low):
    """Return (P(Y ≤ e), P(Y > e)) at an edge, given P(Y ≤ e') at one to its left."""
    if low < 0.5:
        below = lower_tail(kernel, edge, theta)
        if below < 0.5:
            return below, 1.0 - below
    above = upper_tail(kernel, edge, theta)
    return 1.0 - above, above


def mass_between(low, above, high, rest):
    """Return the mass between two edges from the tails (P(Y ≤ e), P(Y > e)) of each."""
    return max(high - low if high < 0.5 else above - rest, 0.0)


def log_g(mechanism, kernel, z, theta):
    """Return log Σ_j q(z|cell j) P(Y in cell j|θ)."""
    top, total, low, above = -math.inf, 0.0, 0.0, 1.0
    for j in range(cell_count(mechanism, z)):
        high, rest = right_tails(mechanism, kernel, z, theta, j, low)
        log_q = cell_log_q(mechanism, z, j)
        if log_q > top:
            total *= math.exp(top - log_q)
            top = log_q
        if log_q > -math.inf:
            total += mass_between(low, above, high, rest) * math.exp(log_q - top)
        low, above = high, rest
    if total > SAFE:
        return top + math.log(total)
    return log_g_in_logs(mechanism, kernel, z, theta)


def log_g_in_logs(mechanism, kernel, z, theta):
    """Return the same with every term in logarithms: for masses that underflow beside their q."""
    top, total, low, above = -math.inf, 0.0, 0.0, 1.0
    for j in range(cell_count(mechanism, z)):
        high, rest = right_tails(mechanism, kernel, z, theta, j, low)
        mass = mass_between(low, above, high, rest)
        value = cell_log_q(mechanism, z, j) + (math.log(mass) if mass > 0.0 else -math.inf)
        if value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -math.inf:
            total += math.exp(value - top)
        low, above = high, rest
    return top + math.log(total) if total > 0.0 else -math.inf


def masses_of_sets(mechanism, kernel, outputs, theta, out):
    """Write the probability of every set of cells, on each grid: q outside, and what the cells that it holds add.

    The mass of a cell is found once for all sets: of 2 out of 18 cells on two grids, a tenth of the time.
    """
    outside, sets = math.exp(mechanism.log_outside), len(mechanism.sets)
    more = math.exp(mechanism.log_inside) - outside
    for grid in range(len(out) // sets):
        first, low, above = grid * sets, 0.0, 1.0
        for b in range(sets):
            out[first + b] = outside
        for j in range(mechanism.cells):
            high, rest = 1.0, 0.0
            if j + 1 < mechanism.cells:
                high, rest = tails_at(kernel, grid_edge(mechanism, float(grid), j + 1), theta, low)
            mass = more * mass_between(low, above, high, rest)
            for b in range(sets):
                if mechanism.sets[b, j]:
                    out[first + b] += mass
            low, above = high, rest


def choose_cell(mechanism, kernel, rng, z, theta):
    """Draw the cell of Y given z."""
    top, total, low, above, chosen = -math.inf, 0.0, 0.0, 1.0, 0
    for j in range(cell_count(mechanism, z)):
        high, rest = right_tails(mechanism, kernel, z, theta, j, low)
        mass = mass_between(low, above, high, rest)
        value = cell_log_q(mechanism, z, j) + (math.log(mass) if mass > 0.0 else -math.inf)
        if value > -math.inf:
            if value > top:
                total *= math.exp(top - value)
                top = value
            weight = math.exp(value - top)
            total += weight
            if uniform(rng) * total < weight:
                chosen = j
        low, above = high, rest
    return chosen


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: its cell, then the kernel truncated to the cell."""
    j = choose_cell(mechanism, kernel, rng, z, theta)
    lower = cell_edge(mechanism, z, j) if j > 0 else -math.inf
    upper = cell_edge(mechanism, z, j + 1) if j + 1 < cell_count(mechanism, z) else math.inf
    return sample_between(kernel, rng, theta, lower, upper)


def cells_convolution(mechanism: Any, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a mechanism with hooks of cells and a kernel with a distribution function, else None.

    Parameters
    ----------
    mechanism, kernel
        The parts; see `privmix.mechanisms.cells` for the hooks.
    """
    extra = cell_hooks(mechanism)
    if not extra or not kernel.has("cdf") or kernel.dimension > 1:
        return None
    cost = getattr(mechanism, "cell_cost", None) or (FEW_CELLS if mechanism.row_length is None else MANY_CELLS)
    law = {"masses": _masses(mechanism, kernel), **staircase_law(mechanism, kernel)}
    law["extra"] = {**extra, **law.get("extra", {})}
    return Convolution("piecewise constant", log_g, sample, cost=cost, **law)


def _masses(mechanism: Any, kernel: Kernel) -> Callable | None:
    """Return what writes the probabilities of all outputs or bins at once, where there is such a function."""
    if isinstance(mechanism, CellGrid) and hasattr(mechanism, "sets"):
        return masses_of_sets
    return masses_of_wave if isinstance(mechanism, SquareWave) and isinstance(kernel, TruncatedNormal) else None
