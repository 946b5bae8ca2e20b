"""Laplace noise on a normal kernel: the normal-Laplace distribution.

With d = (z − μ)/σ and r = σ/b, 2b·g = e^{L(d)} + e^{L(−d)}, where e^{L(d)} is the part of the integral over y < z:
e^{L(d)} = e^{−d²/2}·½ erfcx((r − d)/√2) = e^{−rd + r²/2}·Φ(d − r) (Reed and Jorgensen 2004). The first form is used
for |d| ≤ r and the second beyond, so that nothing overflows and no digits cancel.
"""

from __future__ import annotations

import math

from privmix.jit import inline
from privmix.numerics import normal_cdf, uniform
from privmix.numerics.normal_tails import ROOT_HALF, erfcx, normal_excess
from privmix.pairs.base import Convolution
from privmix.pairs.tails import between_by

# Beyond this many standard deviations the kernel's tail is lost beside 1: Φ(−8.5) = 1e-17.
POINT = 8.5


@inline
def halves(d, r):
    """Return (t, A, B) with e^{L(d)} = e^t A and e^{L(−d)} = e^t B."""
    far = abs(d)
    if far <= r:
        return -0.5 * d * d, 0.5 * erfcx((r - d) * ROOT_HALF), 0.5 * erfcx((r + d) * ROOT_HALF)
    gap = far - r
    top = r * (0.5 * r - far)
    near, away = 1.0, 0.0
    if gap < POINT:
        bell = 0.5 * math.exp(-0.5 * gap * gap)
        near, away = 1.0 - bell * erfcx(gap * ROOT_HALF), bell * erfcx((far + r) * ROOT_HALF)
    return (top, near, away) if d > 0.0 else (top, away, near)


@inline
def log_g(mechanism, kernel, z, theta):
    """Return log g(z | μ, σ²)."""
    top, below, above = halves((z - theta[0]) / theta[2], theta[2] / mechanism.scale)
    return top + math.log(0.5 * (below + above) / mechanism.scale)


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: below z it is N(μ + σ²/b, σ²), above it N(μ − σ²/b, σ²), both truncated at z.

    The distance from z is drawn, which keeps its digits where σ is many times the noise.
    """
    d, r = (z - theta[0]) / theta[2], theta[2] / mechanism.scale
    _, below, above = halves(d, r)
    if uniform(rng) * (below + above) < below:
        return z - theta[2] * normal_excess(rng, r - d, math.inf)
    return z + theta[2] * normal_excess(rng, r + d, math.inf)


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z) = Φ(d) + ½(e^{L(−d)} − e^{L(d)}), accurate in the lower tail."""
    d, r = (z - theta[0]) / theta[2], theta[2] / mechanism.scale
    top, below, above = halves(-abs(d), r)
    tail = normal_cdf(-abs(d)) + 0.5 * math.exp(top) * (above - below)
    return tail if d < 0.0 else 1.0 - tail


def tail(mechanism, kernel, z, theta):
    """Return whether z is below μ, and the log of the tail on its side: that of `cdf`, the exponent taken out."""
    d, r = (z - theta[0]) / theta[2], theta[2] / mechanism.scale
    far = abs(d)
    top, below, above = halves(-far, r)
    gap = max(far - r, 0.0)
    value = 0.5 * math.exp(-0.5 * gap * gap) * erfcx(far * ROOT_HALF) + 0.5 * (above - below)
    return d < 0.0, top + math.log(value)


LAPLACE_NORMAL = Convolution("normal-Laplace", log_g, sample, cdf, **between_by(tail))
