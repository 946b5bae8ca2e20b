"""The normal distribution on an interval, however far out, narrow or wide: scaled masses, and moments.

A mass Φ(u) − Φ(l) is handed on as φ(m)/φ(0) times a *scaled* mass, m the point of [l, u] nearest to 0: the scaled mass
neither underflows nor loses digits, and exponents are combined by whoever divides two of them.
"""

from __future__ import annotations

import math

import numpy as np

from privmix.jit import inline
from privmix.numerics.normal_tails import ROOT_HALF, ROOT_TWO_PI, erfcx_positive, normal_excess

# Beyond this many standard deviations the normal's tail is lost beside 1: Φ(−8.5) = 1e-17.
POINT = 8.5
# A factor below exp(−38) = 3e-17 is lost beside 1.
LOST = 38.0
# Where the density falls by less than this exponent the mass is a series; beyond it a difference loses a digit at most.
NARROW = 0.2
# Where e^{−xt} falls by more than this exponent, at most one draw in seven is made again.
LEAST_FALL_FOR_TRIES = 2.0
# Width of an interval around 0 that counts as narrow, likewise.
NARROW_AROUND = 0.6
# A polynomial for e^{x²/2} Φ(−x) on [0, .67], by Chebyshev's nodes; its error is below 7e-18.
NEAR_ZERO = 0.67
NEAR_ZERO_POLYNOMIAL = (
    -9.06986748254713481e-7,
    7.44742227349018804e-6,
    -3.46491052126786077e-5,
    1.27404881118255507e-4,
    -4.20678148576378813e-4,
    1.30152515764771195e-3,
    -3.79930101238809255e-3,
    1.0416638685729699e-2,
    -2.65961484523252662e-2,
    6.24999997032841921e-2,
    -1.32980760119021177e-1,
    2.49999999999614535e-1,
    -3.98942280401428714e-1,
    4.99999999999999993e-1,
)
# Nodes on [−1, 1] that integrate exp(−40 (1+x)/2), or a normal density over 18 standard deviations, to 1e-15.
NODES, WEIGHTS = (tuple(values.tolist()) for values in np.polynomial.legendre.leggauss(48))


def unit_rule(points: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the nodes of Gauss's rule on [0, 1] and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return tuple((0.5 + 0.5 * nodes).tolist()), tuple((0.5 * weights).tolist())


def series_mass(middle, half):
    """Return (Φ(m + h) − Φ(m − h))/φ(m)·φ(0) for h(|m| + h/2) ≤ .3: (2h/√2π) Σ_k He_{2k}(m) h^{2k}/(2k+1)!."""
    total, even, odd, power = 1.0, 1.0, middle, 1.0
    for k in range(1, 9):
        even = middle * odd - (2 * k - 1) * even
        odd = middle * even - 2 * k * odd
        power *= half * half / (2 * k * (2 * k + 1))
        total += even * power
    return 2.0 * half * total / ROOT_TWO_PI


@inline
def scaled_tail(x):
    """Return e^{x²/2} Φ(−x) for x ≥ 0."""
    if x > NEAR_ZERO:
        return 0.5 * erfcx_positive(x * ROOT_HALF)
    total = NEAR_ZERO_POLYNOMIAL[0]
    for k in range(1, len(NEAR_ZERO_POLYNOMIAL)):
        total = total * x + NEAR_ZERO_POLYNOMIAL[k]
    return total


@inline
def tail_mass(x, width):
    """Return ∫_0^width e^{−xt − t²/2} dt/√2π for x ≥ 0: the mass from x to x + width, scaled at x."""
    fall = width * (x + 0.5 * width)
    return scaled_tail(x) if fall > LOST else short_mass(x, width, fall)


def short_mass(x, width, fall):
    """Return it where the density falls by exp(−fall), not to nothing, over the width."""
    if width == 0.0:
        return 0.0
    if fall > NARROW:
        return scaled_tail(x) - math.exp(-fall) * scaled_tail(x + width)
    half = 0.5 * width
    return math.exp(-half * (x + 0.5 * half)) * series_mass(x + half, half)


def mass_around(lower, upper):
    """Return Φ(upper) − Φ(lower) for lower ≤ 0 ≤ upper."""
    if upper - lower < NARROW_AROUND:
        middle = 0.5 * (lower + upper)
        return math.exp(-0.5 * middle * middle) * series_mass(middle, 0.5 * (upper - lower))
    total = 1.0
    if upper < POINT:
        total -= math.exp(-0.5 * upper * upper) * scaled_tail(upper)
    if lower > -POINT:
        total -= math.exp(-0.5 * lower * lower) * scaled_tail(-lower)
    return total


def scaled_mass(lower, upper, width):
    """Return (Φ(upper) − Φ(lower))·φ(0)/φ(m), m the point nearest to 0; the width is handed in with its digits."""
    if lower > 0.0:
        return tail_mass(lower, width)
    if upper < 0.0:
        return tail_mass(-upper, width)
    return mass_around(lower, upper)


def log_mass(lower, upper, width):
    """Return log(Φ(upper) − Φ(lower)); either end may be infinite."""
    nearest = max(lower, -upper, 0.0)
    return -0.5 * nearest * nearest + math.log(scaled_mass(lower, upper, width))


def tail_draw(rng, x, width):
    """Draw t with density ∝ e^{−xt − t²/2} on [0, width].

    Where few get beyond the width they are drawn again: with an infinite width no logarithm is needed.
    """
    if x * width < LEAST_FALL_FOR_TRIES:
        return normal_excess(rng, x, width)
    while True:
        t = normal_excess(rng, x, math.inf)
        if t <= width:
            return t


def interval_moments(peak, lower, upper, out):
    """Write mean and second to fourth central moment of t with density ∝ e^{−(t − peak)²/2} on [lower, upper].

    The exponent is taken relative to its largest value there, so that nothing underflows.
    """
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    nearest = min(max(peak, lower), upper)
    total, first = 0.0, 0.0
    for j in range(len(NODES)):
        t = middle + half * NODES[j]
        weight = WEIGHTS[j] * math.exp(-0.5 * (t - nearest) * (t + nearest - 2.0 * peak))
        total += weight
        first += weight * t
    out[0], out[1], out[2], out[3] = first / total, 0.0, 0.0, 0.0
    for j in range(len(NODES)):
        t = middle + half * NODES[j]
        share = WEIGHTS[j] * math.exp(-0.5 * (t - nearest) * (t + nearest - 2.0 * peak)) / total
        deviation = t - out[0]
        square = deviation * deviation
        out[1] += share * square
        out[2] += share * square * deviation
        out[3] += share * square * square
