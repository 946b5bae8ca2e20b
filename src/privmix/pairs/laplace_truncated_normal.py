"""Laplace noise on a truncated normal kernel: the normal-Laplace distribution with its two halves cut at the bounds.

With d = (z − μ)/σ, r = σ/b and z inside the bounds, the integral of e^{−|z−y|/b} φ((y−μ)/σ)/σ over y < z is
φ(d) ∫_0^h e^{−(r−d)t − t²/2} dt, where h = (z − lower)/σ: the mass of a normal from r − d to r − d + h, scaled at its
near end. Over y > z it is its mirror image. The normal of the lower half has its mode at μ + σ²/b. Where that lies
inside the half, or beyond its far end, the exponent is taken at the mode or at that end, so that all exponents are
negative and none cancel. Outside the bounds one half is left, and falls as e^{−|z − bound|/b}. The kernel's Z divides
the sum at the end; its own exponent, at the kernel's peak inside the bounds, is taken out of all others.
"""

from __future__ import annotations

import math

from privmix.jit import inline
from privmix.kernels.truncated_normal import (
    HIGH,
    INVERSE_MASS,
    INVERSE_SD,
    LOW,
    PEAK,
    SD,
    mass_inside,
)
from privmix.numerics import uniform
from privmix.numerics.normal_intervals import mass_around, tail_mass
from privmix.numerics.normal_tails import normal_excess, tail_excess
from privmix.pairs.base import Convolution


@inline
def beyond_noise(d, r, near, away, peak):
    """Return (t, A, B) for d > r: the half on the kernel's side of z is e^t A, the other e^t B.

    `near` and `away` are the distances from z to the bounds on the two sides, `peak` ≥ 0 the place of the kernel's peak
    inside the bounds, all in standard deviations from μ.
    """
    gap = d - r
    if peak > r:  # the mode of the near half is beyond the bound, which is the peak
        top, fall = -r * near, near * (0.5 * (d + peak) - r)
        here = tail_mass(peak - r, near)
    else:
        top, fall = 0.5 * (r - peak) * (r - peak) - r * (d - peak), 0.5 * gap * gap
        here = mass_around(-gap, near - gap)
    return top, here, math.exp(-fall) * tail_mass(d + r, away)


@inline
def halves_inside(theta, r, z, lower, upper):
    """Return (t, A, B) for z inside the bounds: e^t A of 2b·g·Z' comes from y < z, and e^t B from y > z.

    Z' is the kernel's mass scaled at its peak m: the integral of e^{−|z−y|/b} φ((y−μ)/σ)/σ, without Z, over the bounds
    is φ(m)/φ(0)·e^t (A + B).
    """
    inverse = theta[INVERSE_SD]
    d, below, above = (z - theta[0]) * inverse, (z - lower) * inverse, (upper - z) * inverse
    peak = max(theta[LOW], 0.0) + min(theta[HIGH], 0.0)
    if d > r:
        return beyond_noise(d, r, below, above, peak)
    if -d > r:
        top, here, there = beyond_noise(-d, r, above, below, -peak)
        return top, there, here
    return -0.5 * (z - theta[PEAK]) * inverse * (d + peak), tail_mass(r - d, below), tail_mass(r + d, above)


@inline
def log_g(mechanism, kernel, z, theta):
    """Return log g(z | μ, σ²)."""
    nearest = min(max(z, kernel.bounds[0]), kernel.bounds[1])
    r = theta[SD] / mechanism.scale
    top, below, above = halves_inside(theta, r, nearest, kernel.bounds[0], kernel.bounds[1])
    outside = abs(z - nearest) / mechanism.scale
    return top - outside + math.log(0.5 * (below + above) * theta[INVERSE_MASS] / mechanism.scale)


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: below z it is N(μ + σ²/b, σ²), above it N(μ − σ²/b, σ²), truncated at z and at the bounds."""
    lower, upper = kernel.bounds
    z = min(max(z, lower), upper)
    r, inverse = theta[SD] / mechanism.scale, theta[INVERSE_SD]
    _, below, above = halves_inside(theta, r, z, lower, upper)
    d = (z - theta[0]) * inverse
    if uniform(rng) * (below + above) < below:
        y = draw_half(rng, theta[SD], r - d, (z - lower) * inverse, theta[LOW] - r, z, lower)
    else:
        y = draw_half(rng, theta[SD], r + d, (upper - z) * inverse, -theta[HIGH] - r, z, upper)
    return min(max(y, lower), upper)


def draw_half(rng, sd, start, width, beyond, z, bound):
    """Draw Y between z and a bound: by its distance from z or, where the mode lies beyond the bound, from there."""
    sign = 1.0 if bound > z else -1.0
    if beyond > 0.5:
        return bound - sign * sd * tail_excess(rng, beyond, width)
    return z + sign * sd * normal_excess(rng, start, width)


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z) = F(z) + b(g₊ − g₋), g₊ and g₋ what records above and below z give; accurate below the bounds."""
    nearest = min(max(z, kernel.bounds[0]), kernel.bounds[1])
    top, below, above = halves_inside(theta, theta[SD] / mechanism.scale, nearest, kernel.bounds[0], kernel.bounds[1])
    half = 0.5 * math.exp(top - abs(z - nearest) / mechanism.scale) * theta[INVERSE_MASS]
    inside = mass_inside(theta, kernel.bounds[0], kernel.bounds[1], -math.inf, nearest)
    return inside + half * (above - below)


LAPLACE_TRUNCATED_NORMAL = Convolution("truncated-normal-Laplace", log_g, sample, cdf, cost=1.5)
