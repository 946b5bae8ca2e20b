"""The normal distribution on an interval, however far out, narrow or wide: scaled masses, and moments.

A mass Φ(u) − Φ(l) is handed on as φ(m)/φ(0) times a *scaled* mass, m the point of [l, u] nearest to 0: the scaled mass
neither underflows nor loses digits, and exponents are combined by whoever divides two of them.
"""

from __future__ import annotations

import math

import numpy as np

from privmix.jit import inline
from privmix.numerics.normal_tails import ROOT_HALF, ROOT_TWO_PI, erfcx_positive

# Beyond this many standard deviations the normal's tail is lost beside 1: Φ(−8.5) = 1e-17.
POINT = 8.5
# A factor below exp(−38) = 3e-17 is lost beside 1.
LOST = 38.0
# Where the density falls by less than this exponent the mass is a series; beyond it a difference loses a digit at most.
NARROW = 0.2
# Width of an interval around 0 that counts as narrow, likewise.
NARROW_AROUND = 0.6
# Nodes on [−1, 1] that integrate exp(−40 (1+x)/2), or a normal density over 18 standard deviations, to 1e-15.
NODES, WEIGHTS = (tuple(values.tolist()) for values in np.polynomial.legendre.leggauss(48))


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
def tail_mass(x, width):
    """Return ∫_0^width e^{−xt − t²/2} dt/√2π for x ≥ 0: the mass from x to x + width, scaled at x."""
    fall = width * (x + 0.5 * width)
    if fall > LOST:
        return 0.5 * erfcx_positive(x * ROOT_HALF)
    if fall > NARROW:
        beyond = math.exp(-fall) * erfcx_positive((x + width) * ROOT_HALF)
        return 0.5 * (erfcx_positive(x * ROOT_HALF) - beyond)
    half = 0.5 * width
    return math.exp(-half * (x + 0.5 * half)) * series_mass(x + half, half)


@inline
def mass_around(lower, upper):
    """Return Φ(upper) − Φ(lower) for lower ≤ 0 ≤ upper."""
    if upper - lower < NARROW_AROUND:
        middle = 0.5 * (lower + upper)
        return math.exp(-0.5 * middle * middle) * series_mass(middle, 0.5 * (upper - lower))
    total = 1.0
    if upper < POINT:
        total -= 0.5 * math.erfc(upper * ROOT_HALF)
    if lower > -POINT:
        total -= 0.5 * math.erfc(-lower * ROOT_HALF)
    return total


def scaled_mass(lower, upper, width):
    """Return (Φ(upper) − Φ(lower))·φ(0)/φ(m), m the point nearest to 0; the width is handed in with its digits."""
    if lower > 0.0:
        return tail_mass(lower, width)
    if upper < 0.0:
        return tail_mass(-upper, width)
    return mass_around(lower, upper)


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
