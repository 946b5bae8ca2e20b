"""Distribution functions of the staircase mechanism's releases under normal components, whole or cut at the bounds.

Noise whose density falls in steps has a distribution function N that is linear between steps, of which a few at most
lie within the bounds. On a piece from a to c, where the noise has density q, the mean of N(z − Y) over the records in
it is N(z − a) P(a < Y ≤ c) − q R(a, c), with R(a, c) = ∫_a^c (y − a) f(y) dy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from privmix.jit import slot
from privmix.kernels import Kernel, NormalKernel, TruncatedNormal
from privmix.kernels.slots import lower_tail, mass, upper_tail
from privmix.mechanisms import Staircase
from privmix.mechanisms.cells import cell_count, cell_edge, cell_log_q
from privmix.pairs.normal_moments import moment_from, whole_moment_from


@slot
def moment_between(kernel, left, right, theta):
    """Return ∫ (y − left) f(y) dy from left to right."""


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z|θ); what lies outside the bounds counts as the nearest bound."""
    lower, upper = mechanism.bounds
    total = noise_cdf(mechanism, z - lower) * lower_tail(kernel, lower, theta)
    total += noise_cdf(mechanism, z - upper) * upper_tail(kernel, upper, theta)
    cells, left = cell_count(mechanism, z), lower
    for j in range(cells):
        right = min(max(cell_edge(mechanism, z, j + 1), left), upper) if j + 1 < cells else upper
        if left < right:
            total += noise_cdf(mechanism, z - left) * mass(kernel, left, right, theta)
            total -= math.exp(cell_log_q(mechanism, z, j)) * moment_between(kernel, left, right, theta)
        left = right
    return min(max(total, 0.0), 1.0)


def noise_cdf(mechanism, x):
    """Return the probability that the noise is at most x.

    Of the half on either side e^{−εm} lies beyond m widths of the bounds, and a width has a step inside.
    """
    width = mechanism.bounds[1] - mechanism.bounds[0]
    far, fall = abs(x) / width, math.exp(-mechanism.drop)
    whole = math.floor(far)
    first = min(far - whole, mechanism.gamma)
    near = width * math.exp(mechanism.log_top) * (first + fall * (far - whole - first))
    beyond = math.exp(-mechanism.drop * whole) * max(0.5 - near, 0.0)
    return beyond if x < 0.0 else 1.0 - beyond


def staircase_cdf(mechanism: Any, kernel: Kernel) -> tuple[Callable | None, dict[Callable, Callable]]:
    """Return the distribution function of a staircase's releases and its hooks, where there is one for this kernel."""
    if isinstance(mechanism, Staircase) and isinstance(kernel, TruncatedNormal):
        return cdf, {moment_between: moment_from}
    if isinstance(mechanism, Staircase) and isinstance(kernel, NormalKernel):
        return cdf, {moment_between: whole_moment_from}
    return None, {}
