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
from privmix.kernels.truncated_normal import HALF_PRECISION, HIGH, INVERSE_MASS, INVERSE_SD, LOW, MIRROR, PEAK, SD
from privmix.numerics import uniform
from privmix.numerics.normal_intervals import NARROW_AROUND, POINT, mass_around, scaled_tail, tail_draw, tail_mass
from privmix.pairs.base import Convolution
from privmix.pairs.laplace_normal import cdf as whole_cdf
from privmix.pairs.laplace_normal import halves
from privmix.pairs.laplace_normal import tail as whole_tail
from privmix.pairs.tails import between_by


@inline
def halves_inside(kernel, theta, r, z):
    """Return (t, A, B) for z inside the bounds: e^t A of 2b·g·Z' comes from μ's side of z, e^t B from the other.

    Z' is the kernel's mass scaled at its peak m: the integral of e^{−|z−y|/b} φ((y−μ)/σ)/σ, without Z, over the bounds
    is φ(m)/φ(0)·e^t (A + B). All is counted from μ in standard deviations, mirrored where z is below μ.
    """
    inverse = theta[INVERSE_SD]
    d, near, away = abs(z - theta[0]) * inverse, (z - kernel.bounds[0]) * inverse, (kernel.bounds[1] - z) * inverse
    start = theta[LOW]
    if z < theta[0]:
        near, away, start = away, near, -theta[HIGH]
    peak = max(start, 0.0)
    if d <= r:
        return -0.5 * abs(z - theta[PEAK]) * inverse * (d + peak), tail_mass(r - d, near), tail_mass(r + d, away)
    if peak > r:  # the mode of the near half is beyond the bound, which is the peak
        fall = near * (0.5 * (d + peak) - r)
        return -r * near, tail_mass(peak - r, near), math.exp(-fall) * tail_mass(d + r, away)
    gap = d - r
    bell = math.exp(-0.5 * gap * gap) if gap < POINT else 0.0
    other = bell * tail_mass(d + r, away) if away > 0.0 and bell > 0.0 else 0.0
    return 0.5 * (r - peak) * (r - peak) - r * (d - peak), mass_near(gap, r - start, bell), other


@inline
def mass_near(gap, rest, bell):
    """Return Φ(rest) − Φ(−gap) for positive gap and rest, with bell = e^{−gap²/2} or 0 where that is lost."""
    if gap + rest < NARROW_AROUND:
        return mass_around(-gap, rest)
    total = 1.0
    if bell > 0.0:
        total -= bell * scaled_tail(gap)
    if rest < POINT:
        total -= math.exp(-0.5 * rest * rest) * scaled_tail(rest)
    return total


@inline
def is_whole(theta, r):
    """Return whether the bounds hold all but 1e-17 of Y, whatever z is.

    Y given z grows with z, and lies below the lower bound with a probability that tends to Φ((lower − μ)/σ + r) as z
    falls; likewise above.
    """
    return theta[LOW] + r < -POINT and theta[HIGH] - r > POINT


@inline
def log_g(mechanism, kernel, z, theta):
    """Return log g(z | μ, σ²)."""
    rate = 1.0 / mechanism.scale
    r = theta[SD] * rate
    if is_whole(theta, r):
        top, below, above = halves((z - theta[0]) * theta[INVERSE_SD], r)
        return top + math.log(0.5 * rate * (below + above))
    inside = min(max(z, kernel.bounds[0]), kernel.bounds[1])
    top, near, away = halves_inside(kernel, theta, r, inside)
    return top - rate * abs(z - inside) + math.log(0.5 * rate * theta[INVERSE_MASS] * (near + away))


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: below z it is N(μ + σ²/b, σ²), above it N(μ − σ²/b, σ²), truncated at z and at the bounds."""
    lower, upper = kernel.bounds
    z = min(max(z, lower), upper)
    r, inverse = theta[SD] / mechanism.scale, theta[INVERSE_SD]
    _, near, away = halves_inside(kernel, theta, r, z)
    d, is_near = (z - theta[0]) * inverse, uniform(rng) * (near + away) < near
    if is_near == (d >= 0.0):
        y = draw_half(rng, theta[SD], r - d, (z - lower) * inverse, theta[LOW] - r, z, lower)
    else:
        y = draw_half(rng, theta[SD], r + d, (upper - z) * inverse, -theta[HIGH] - r, z, upper)
    return min(max(y, lower), upper)


def draw_half(rng, sd, start, width, beyond, z, bound):
    """Draw Y between z and a bound: by its distance from z or, where the mode lies beyond the bound, from there."""
    sign = 1.0 if bound > z else -1.0
    if beyond > 0.5:
        return bound - sign * sd * tail_draw(rng, beyond, width)
    return z + sign * sd * tail_draw(rng, start, width)


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z) = F(z) + b(g₊ − g₋), g₊ and g₋ what records above and below z give; accurate below the bounds."""
    r = theta[SD] / mechanism.scale
    if is_whole(theta, r):
        return whole_cdf(mechanism, kernel, z, theta)
    inside = min(max(z, kernel.bounds[0]), kernel.bounds[1])
    top, near, away = halves_inside(kernel, theta, r, inside)
    half = 0.5 * math.exp(top - abs(z - inside) / mechanism.scale) * theta[INVERSE_MASS]
    if z != inside:
        return half * (near + away) if z < inside else 1.0 - half * (near + away)
    tail = tail_away(kernel, theta, z) + half * (near - away)
    return tail if z < theta[0] else 1.0 - tail


def tail(mechanism, kernel, z, theta):
    """Return whether the tail is the lower one, and its log: away from μ inside the bounds, outwards beyond them."""
    r = theta[SD] / mechanism.scale
    if is_whole(theta, r):
        return whole_tail(mechanism, kernel, z, theta)
    inside = min(max(z, kernel.bounds[0]), kernel.bounds[1])
    top, near, away = halves_inside(kernel, theta, r, inside)
    if z != inside:
        beyond = abs(z - inside) / mechanism.scale
        return z < inside, top - beyond + math.log(0.5 * theta[INVERSE_MASS] * (near + away))
    end = kernel.bounds[0] if z < theta[0] else kernel.bounds[1]
    bell = -theta[HALF_PRECISION] * (z - theta[PEAK]) * (z - theta[MIRROR])
    mass = tail_mass(abs(z - theta[0]) * theta[INVERSE_SD], abs(z - end) * theta[INVERSE_SD])
    most = max(top, bell)
    value = math.exp(bell - most) * mass + 0.5 * math.exp(top - most) * (near - away)
    return z < theta[0], most + math.log(value * theta[INVERSE_MASS])


@inline
def tail_away(kernel, theta, z):
    """Return the kernel's mass between z inside the bounds and the bound that is farther from μ."""
    end = kernel.bounds[0] if z < theta[0] else kernel.bounds[1]
    bell = math.exp(-theta[HALF_PRECISION] * (z - theta[PEAK]) * (z - theta[MIRROR])) * theta[INVERSE_MASS]
    return bell * tail_mass(abs(z - theta[0]) * theta[INVERSE_SD], abs(z - end) * theta[INVERSE_SD])


@inline
def outside_mass(kernel, theta, r, bound):
    """Return P(Z beyond a bound)."""
    top, near, away = halves_inside(kernel, theta, r, bound)
    return 0.5 * math.exp(top) * theta[INVERSE_MASS] * (near + away)


def masses(mechanism, kernel, edges, theta, out):
    """Write P(e_b < Z ≤ e_{b+1}|θ): outside the bounds the noise alone decides, and a bin costs one exponential."""
    lower, upper = kernel.bounds
    rate = 1.0 / mechanism.scale
    at_lower = outside_mass(kernel, theta, theta[SD] * rate, lower)
    at_upper = outside_mass(kernel, theta, theta[SD] * rate, upper)
    low, rest = 0.0, -1.0
    for b in range(len(out)):
        edge = edges[b + 1]
        if edge < upper:
            inside = edge > lower
            high = cdf(mechanism, kernel, edge, theta) if inside else at_lower * math.exp((edge - lower) * rate)
            out[b] = max(high - low, 0.0)
            low = high
        else:
            before = 1.0 - low if rest < 0.0 else rest
            rest = at_upper * math.exp((upper - edge) * rate)
            out[b] = max(before - rest, 0.0)


LAPLACE_TRUNCATED_NORMAL = Convolution(
    "truncated-normal-Laplace", log_g, sample, cdf, masses=masses, cost=1.25, **between_by(tail)
)
