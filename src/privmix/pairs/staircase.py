"""Distribution functions of the staircase mechanism's releases under normal components, whole or cut at the bounds.

Noise whose density falls in steps has a distribution function N that is linear between steps, of which a few at most
lie within the bounds. On a piece from a to c, where the noise has density q, the mean of N(z − Y) over the records in
it is N(z − a) P(a < Y ≤ c) − q R(a, c), with R(a, c) = ∫_a^c (y − a) f(y) dy.
"""

from __future__ import annotations

import math
from typing import Any

from privmix.jit import slot
from privmix.kernels import Kernel, NormalKernel, TruncatedNormal
from privmix.kernels.slots import lower_tail, mass, upper_tail
from privmix.mechanisms import Staircase
from privmix.mechanisms.cells import cell_count, cell_edge, cell_log_q
from privmix.pairs.normal_moments import moment_of_cut, moment_of_whole

# By how much the number of bins in a width may differ from a whole one: then bins are off by less than rounding is.
LARGEST_MISFIT = 1e-9


@slot
def moment_between(kernel, left, right, inside, theta):
    """Return ∫ (y − left) f(y) dy from left to right, between which this mass lies."""


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z|θ); what lies outside the bounds counts as the nearest bound."""
    lower, upper = mechanism.bounds
    total = noise_cdf(mechanism, z - lower) * lower_tail(kernel, lower, theta)
    total += noise_cdf(mechanism, z - upper) * upper_tail(kernel, upper, theta)
    cells, left = cell_count(mechanism, z), lower
    for j in range(cells):
        right = min(max(cell_edge(mechanism, z, j + 1), left), upper) if j + 1 < cells else upper
        if left < right:
            inside = mass(kernel, left, right, theta)
            total += noise_cdf(mechanism, z - left) * inside
            total -= math.exp(cell_log_q(mechanism, z, j)) * moment_between(kernel, left, right, inside, theta)
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


def masses_of_staircase(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin.

    Beyond the bounds a release that is a width of them further out is less likely by e^−ε, whatever the record is: if
    a whole number of bins is as wide, those further out than one width follow from those before.
    """
    last, per = len(out) - 1, bins_in_a_width(mechanism, edges)
    start, stop = 1, last
    if per > 0:
        width = mechanism.bounds[1] - mechanism.bounds[0]
        while start + 1 <= last and edges[start + 1] <= mechanism.bounds[0] - width:
            start += 1
        while stop - 1 >= start and edges[stop - 1] >= mechanism.bounds[1] + width:
            stop -= 1
        # A span that ends before a bound has no such bins.
        start = start if start - 1 + per < stop else 1
        stop = stop if stop - per >= start else last
    low = cdf(mechanism, kernel, edges[start], theta)
    for b in range(start, stop):
        high = cdf(mechanism, kernel, edges[b + 1], theta)
        out[b] = max(high - low, 0.0)
        low = high
    fall = math.exp(-mechanism.drop)
    for b in range(start - 1, 0, -1):
        out[b] = fall * out[b + per]
    for b in range(stop, last):
        out[b] = fall * out[b - per]
    out[0] = cdf(mechanism, kernel, edges[1], theta)
    out[last] = 1.0 - (cdf(mechanism, kernel, edges[last], theta) if last > 0 else 0.0)


def bins_in_a_width(mechanism, edges):
    """Return how many bins are as wide as the bounds, 0 where no whole number is."""
    if len(edges) < 4:
        return 0
    bins = (mechanism.bounds[1] - mechanism.bounds[0]) * (len(edges) - 3) / (edges[len(edges) - 2] - edges[1])
    whole = math.floor(bins + 0.5)
    return whole if abs(bins - whole) < LARGEST_MISFIT else 0


def staircase_law(mechanism: Any, kernel: Kernel) -> dict[str, Any]:
    """Return what is known of a staircase's releases under a kernel: functions, and the hooks that they call."""
    if isinstance(mechanism, Staircase) and isinstance(kernel, TruncatedNormal | NormalKernel):
        moment = moment_of_cut if isinstance(kernel, TruncatedNormal) else moment_of_whole
        return {"cdf": cdf, "masses": masses_of_staircase, "extra": {moment_between: moment}}
    return {}
