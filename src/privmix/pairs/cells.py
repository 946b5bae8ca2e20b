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

from privmix.kernels import Kernel
from privmix.mechanisms import LocalMechanism
from privmix.mechanisms.cells import cell_count, cell_edge, cell_hooks, cell_log_q
from privmix.numerics import uniform
from privmix.pairs.base import Convolution
from privmix.pairs.slots import (
    kernel_cdf,
    kernel_mass,
    lower_tail,
    sample_between,
    upper_tail,
)

# A sum of masses times e^{log q − top} below this may have lost terms that underflowed; then it is taken in logarithms.
SAFE = 1e-280
# Cost of log g in that of the normal-Laplace pair: for a number with some three cells, and for a row of numbers.
FEW_CELLS, MANY_CELLS = 4.0, 15.0


def right_tails(mechanism, kernel, z, theta, j, low):
    """Return (P(Y ≤ e), P(Y > e)) at the right edge e of cell j, given P(Y ≤ left edge)."""
    if j + 1 == cell_count(mechanism, z):
        return 1.0, 0.0
    edge = cell_edge(mechanism, z, j + 1)
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


def lower_tail_of_mass(kernel, y, theta):
    """Return P(Y ≤ y) from the kernel's mass (a slot's filling)."""
    return kernel_mass(kernel, -math.inf, y, theta)


def upper_tail_of_mass(kernel, y, theta):
    """Return P(Y > y) from the kernel's mass (a slot's filling)."""
    return kernel_mass(kernel, y, math.inf, theta)


def lower_tail_of_cdf(kernel, y, theta):
    """Return P(Y ≤ y) (a slot's filling)."""
    return kernel_cdf(kernel, y, theta)


def upper_tail_of_cdf(kernel, y, theta):
    """Return P(Y > y) to the absolute precision of the distribution function (a slot's filling)."""
    return 1.0 - kernel_cdf(kernel, y, theta)


def bisect_between(kernel, rng, theta, lower, upper):
    """Draw Y between lower and upper by bisection of the distribution function (a slot's filling)."""
    low = kernel_cdf(kernel, lower, theta) if lower > -math.inf else 0.0
    high = kernel_cdf(kernel, upper, theta) if upper < math.inf else 1.0
    target = low + (high - low) * uniform(rng)
    left, right = bracket(kernel, theta, target, lower, upper)
    for _ in range(200):
        middle = 0.5 * (left + right)
        if middle in (left, right):
            break
        if kernel_cdf(kernel, middle, theta) < target:
            left = middle
        else:
            right = middle
    return right


def bracket(kernel, theta, target, lower, upper):
    """Return finite ends of [lower, upper] between which the distribution function passes the target."""
    step = 1.0
    left, right = lower, upper
    if left == -math.inf:
        left = min(right, 0.0) - step
        while step < 1e300 and kernel_cdf(kernel, left, theta) > target:
            step *= 2.0
            left -= step
    step = 1.0
    if right == math.inf:
        right = max(left, 0.0) + step
        while step < 1e300 and kernel_cdf(kernel, right, theta) < target:
            step *= 2.0
            right += step
    return left, right


def cells_convolution(mechanism: LocalMechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a mechanism with cells and a kernel with a distribution function, else None.

    A mechanism has cells if it has the hooks ``cell_count(self, z)``, ``cell_edge(self, z, j)`` (the left edge of cell
    j > 0) and ``cell_log_q(self, z, j)``. A kernel serves with ``cdf(self, y, theta)``; with
    ``mass(self, lower, upper, theta)`` and ``sample_between(self, rng, theta, lower, upper)`` it is also accurate far
    out and fast.
    """
    extra, tails = cell_hooks(mechanism), kernel_hooks(kernel)
    if tails is None or kernel.dimension > 1 or not extra:
        return None
    cost = FEW_CELLS if mechanism.row_length is None else MANY_CELLS
    return Convolution("piecewise constant", log_g, sample, extra={**extra, **tails}, cost=cost)


def kernel_hooks(kernel: Kernel) -> dict[Callable, Callable] | None:
    """Return the fillings of the tails and the truncated draw from a kernel's optional hooks, or None."""
    mass, cdf, between = (getattr(type(kernel), name, None) for name in ("mass", "cdf", "sample_between"))
    if mass is None and cdf is None:
        return None
    if mass is None:
        fillings: dict[Callable, Any] = {kernel_cdf: cdf, lower_tail: lower_tail_of_cdf, upper_tail: upper_tail_of_cdf}
    else:
        fillings = {kernel_mass: mass, lower_tail: lower_tail_of_mass, upper_tail: upper_tail_of_mass}
        fillings[kernel_cdf] = cdf or lower_tail_of_mass
    return {**fillings, sample_between: between or bisect_between}
