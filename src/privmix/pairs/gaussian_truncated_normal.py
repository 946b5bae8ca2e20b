"""Gaussian noise on a truncated normal kernel: N(z; μ, σ² + η²) times a ratio of normal masses.

Y given z is N(c, τ²) truncated to the bounds, with precision 1/τ² = 1/σ² + 1/η² and c between μ and z. The exponent is
taken at q, the point inside the bounds that is nearest to c: −(z−q)²/2η² − ((q−μ)² − (p−μ)²)/2σ², p the kernel's peak
inside the bounds. Both terms are negative, so that none cancel, however far out μ or z is.

The distribution function of z is a bivariate normal's and has no closed form. The probability of a bin is an integral
of g over panels of one length h ≤ η/10: on each, h (g + δ²g/24) from its middle and those of its neighbours. Its error
is 17/5760 h⁵ times the fourth derivative of g, to leading order. Over all bins that is below (h/η)⁴ √24·17/5760 < 2e-6,
whatever μ, σ² and the bounds, because that derivative is q's averaged over f, and E|He₄(X)| ≤ √24.
"""

from __future__ import annotations

import math

from privmix.jit import inline
from privmix.kernels.truncated_normal import (
    HALF_PRECISION,
    HIGH,
    INVERSE_SD,
    LOG_PEAK,
    LOW,
    MIRROR,
    PEAK,
    SD,
    draw_truncated,
)
from privmix.numerics import normal_cdf
from privmix.numerics.normal_intervals import LOST, NARROW_AROUND, scaled_mass, unit_rule
from privmix.numerics.normal_tables import REACH, log_scaled_cdf, tail_from_table
from privmix.numerics.normal_tails import ROOT_TWO_PI
from privmix.pairs.base import Convolution

# Longest panel, in standard deviations of the noise.
LONGEST_PANEL = 0.1
# Components whose mean is so many standard deviations outside have 1e-3 of the normal's mass inside: enough to find the
# rest by differences. Panels after which a recurrence starts afresh.
NEAR_OUTSIDE, FRESH_START = 3.0, 32
# Beyond the inner bins, which reach 5 standard deviations of the noise beyond the bounds, lies less than 3e-7 at either
# end: so many panels of a standard deviation, two points on each, find all but a tenth of that.
TAIL_PANELS = 5
# Places of the two points of Gauss's rule in a panel of unit length.
FIRST_POINT, SECOND_POINT = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)
# Panels of the probability of any interval, in standard deviations of the noise, and Gauss's points in one of length 1.
SHORT_PANEL, LONG_PANEL = 0.25, 1.5
# A panel that adds less than this share, where they fall, is the last.
LEAST_PANEL = 1e-17
FOUR_NODES, FOUR_WEIGHTS = unit_rule(4)
EIGHT_NODES, EIGHT_WEIGHTS = unit_rule(8)


@inline
def weights(mechanism, theta):
    """Return σ/√(σ² + η²), with which c − μ is its square times z − μ, and η²/(σ² + η²), that of z − c."""
    total = theta[1] + mechanism.scale * mechanism.scale
    root = 1.0 / math.sqrt(total)
    return theta[SD] * root, (mechanism.scale * root) * (mechanism.scale * root)


@inline
def centre_given(z, mean, root, rest):
    """Return c, from the nearer of z and μ, so that a small distance keeps its digits."""
    return z - rest * (z - mean) if rest < 0.5 else mean + root * root * (z - mean)


@inline
def exponent_and_mass(mechanism, kernel, z, theta, root, rest):
    """Return (t, A) with g = e^t A (τ/η) times the kernel's density at its peak; A is 1 unless both bounds matter."""
    rate, centre = 1.0 / mechanism.scale, centre_given(z, theta[0], root, rest)
    inverse = math.sqrt(theta[1] + mechanism.scale * mechanism.scale) * theta[INVERSE_SD] * rate
    low, high = (kernel.bounds[0] - centre) * inverse, (kernel.bounds[1] - centre) * inverse
    nearest = min(max(centre, kernel.bounds[0]), kernel.bounds[1])
    away = (z - nearest) * rate
    top = -0.5 * away * away - theta[HALF_PRECISION] * (nearest - theta[PEAK]) * (nearest - theta[MIRROR])
    near, far = min(-low, high), max(-low, high)
    if near >= REACH:
        return top, 1.0
    if near > -REACH and far * far - near * min(near, 0.0) > 2.0 * LOST:  # the farther bound takes nothing
        return top + log_scaled_cdf(near), 1.0
    if near > 0.0 and near + far > NARROW_AROUND:
        return top, 1.0 - tail_from_table(near) - (tail_from_table(far) if far < REACH else 0.0)
    return top, scaled_mass(low, high, (kernel.bounds[1] - kernel.bounds[0]) * inverse)


@inline
def log_g(mechanism, kernel, z, theta):
    """Return log g(z | μ, σ²)."""
    root, rest = weights(mechanism, theta)
    top, mass = exponent_and_mass(mechanism, kernel, z, theta, root, rest)
    value = top + theta[LOG_PEAK] + math.log(root)
    return value if mass == 1.0 else value + math.log(mass)


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: N(c, τ²) truncated to the bounds."""
    root, rest = weights(mechanism, theta)
    centre = centre_given(z, theta[0], root, rest)
    return draw_truncated(rng, centre, mechanism.scale * root, kernel.bounds[0], kernel.bounds[1])


def masses(mechanism, kernel, edges, theta, out):
    """Write the probability of each bin; the inner edges have one distance, the outermost are infinite."""
    if theta[LOW] < -REACH and theta[HIGH] > REACH:  # the kernel is the normal, to 1e-17 of its mass
        normal_masses(math.sqrt(theta[1] + mechanism.scale * mechanism.scale), edges, theta, out)
        return
    bins = len(out)
    width = edges[2] - edges[1] if bins > 2 else edges[1] - kernel.bounds[0] + 5.0 * mechanism.scale
    panels = 1 + int(width / (LONGEST_PANEL * mechanism.scale))
    root, rest = weights(mechanism, theta)
    step, height, first = width / panels, root * math.exp(theta[LOG_PEAK]), edges[1] - width
    if theta[LOW] > NEAR_OUTSIDE or theta[HIGH] < -NEAR_OUTSIDE:
        sum_panels(mechanism, kernel, theta, root, rest, first, step, panels, height * step, out)
    else:
        march(mechanism, kernel, theta, root, rest, first, step, panels, height * step, out)
    out[0] += tail(mechanism, kernel, first, -1.0, theta, root, rest) * height
    out[bins - 1] += tail(mechanism, kernel, first + bins * width, 1.0, theta, root, rest) * height


def sum_panels(mechanism, kernel, theta, root, rest, first, step, panels, unit, out):
    """Write the integral of g over each bin, from panels whose g is computed one by one."""
    before = density(mechanism, kernel, first - 0.5 * step, theta, root, rest)
    here = density(mechanism, kernel, first + 0.5 * step, theta, root, rest)
    for b in range(len(out)):
        total = 0.0
        for j in range(panels):
            after = density(mechanism, kernel, first + (b * panels + j + 1.5) * step, theta, root, rest)
            total += here + (before - 2.0 * here + after) / 24.0
            before, here = here, after
        out[b] = max(total, 0.0) * unit


def march(mechanism, kernel, theta, root, rest, first, step, panels, unit, out):
    """Write the same from panel to panel, without an exponential: g is e^{−(z−μ)²/2(σ²+η²)} (Φ(upper) − Φ(lower)).

    All are evenly spaced. A normal density changes from one to the next by a factor, which changes by a factor that is
    always the same. Φ changes by its Taylor series around the middle, in Hermite's polynomials up to the sixth; the
    rest is below 1e-15. Errors are absolute: this is for components whose mean is inside the bounds, or nearly.
    """
    spread, slide = 1.0 / math.sqrt(theta[1] + mechanism.scale * mechanism.scale), step * root / mechanism.scale
    start, inverse = first - 0.5 * step, 1.0 / (mechanism.scale * root)
    centre, jump = centre_given(start, theta[0], root, rest), step * spread
    low, high = (kernel.bounds[0] - centre) * inverse, (kernel.bounds[1] - centre) * inverse
    below, above = normal_cdf(low), normal_cdf(high)
    c0, c1, c2, c3 = taylor_of_slide(slide)
    bend, slide_bend = math.exp(-jump * jump), math.exp(-slide * slide)
    unit *= math.exp(theta[HALF_PRECISION] * (theta[PEAK] - theta[0]) * (theta[PEAK] - theta[0]))
    before, here, total, left, b = 0.0, 0.0, 0.0, panels, 0
    for k in range(len(out) * panels + 2):
        if k % FRESH_START == 0:  # errors grow with the square of the distance from here
            top, fall = bell((start + k * step - theta[0]) * spread, jump)
            x, y = low - (k + 0.5) * slide, high - (k + 0.5) * slide
            at_low, low_fall = bell(x, -slide)
            at_high, high_fall = bell(y, -slide)
        after = top * (above - below)
        if k > 1:
            total += here + (before - 2.0 * here + after) / 24.0
            left -= 1
            if left == 0:
                out[b] = max(total, 0.0) * unit
                total, left, b = 0.0, panels, b + 1
        before, here = here, after
        square, other = x * x, y * y
        below -= at_low * (c0 + square * (c1 + square * (c2 + square * c3)))
        above -= at_high * (c0 + other * (c1 + other * (c2 + other * c3)))
        x, y = x - slide, y - slide
        top, fall = top * fall, fall * bend
        at_low, low_fall = at_low * low_fall, low_fall * slide_bend
        at_high, high_fall = at_high * high_fall, high_fall * slide_bend


@inline
def taylor_of_slide(slide):
    """Return polynomial coefficients in m² of (Φ(m + h) − Φ(m − h))/φ(m)·φ(0), for 2h the slide."""
    square = 0.25 * slide * slide
    second, fourth, sixth = square / 6.0, square * square / 120.0, square * square * square / 5040.0
    unit = slide / ROOT_TWO_PI
    first = 1.0 - second + 3.0 * fourth - 15.0 * sixth
    return unit * first, unit * (second - 6.0 * fourth + 45.0 * sixth), unit * (fourth - 15.0 * sixth), unit * sixth


@inline
def bell(x, jump):
    """Return e^{−x²/2} and the factor by which it changes at x + jump; 0 where it is nothing."""
    if abs(x) > LOST:
        return 0.0, 0.0
    return math.exp(-0.5 * x * x), math.exp(-(x + 0.5 * jump) * jump)


def normal_masses(sd, edges, theta, out):
    """Write the probability of each bin under N(μ, sd²)."""
    low = 0.0
    for b in range(len(out)):
        high = normal_cdf((edges[b + 1] - theta[0]) / sd)
        out[b] = high - low
        low = high


@inline
def density(mechanism, kernel, z, theta, root, rest):
    """Return g(z | μ, σ²) without its constant."""
    top, mass = exponent_and_mass(mechanism, kernel, z, theta, root, rest)
    return math.exp(top) * mass


def tail(mechanism, kernel, end, sign, theta, root, rest):
    """Return the integral of g, without its constant, from an end outwards."""
    total, step = 0.0, sign * mechanism.scale
    for j in range(TAIL_PANELS):
        total += density(mechanism, kernel, end + (j + FIRST_POINT) * step, theta, root, rest)
        total += density(mechanism, kernel, end + (j + SECOND_POINT) * step, theta, root, rest)
    return 0.5 * mechanism.scale * total


def log_between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high) by Gauss's rule on panels, from the point nearest to the kernel's peak outwards.

    With four points on a panel of η/4, or eight on one of 3η/2, the error is below 1e-11 of the probability near the
    bounds: the rule's is h⁹·(4!)⁴/(9·(8!)³) times the eighth derivative of g, which is q's averaged over f, and
    likewise of order sixteen. Beyond the bounds, where g falls as fast as the noise, panels are shorter in proportion.
    """
    start = min(max(theta[PEAK], low), high)
    top = log_g(mechanism, kernel, start, theta)
    total = panels_outwards(mechanism, kernel, start, high, 1.0, theta, top)
    total += panels_outwards(mechanism, kernel, start, low, -1.0, theta, top)
    return top + math.log(total) if total > 0.0 else -math.inf


def panels_outwards(mechanism, kernel, start, end, sign, theta, top):
    """Return the integral of g·e^(−top) from start to end, until its panels add nothing."""
    total, before, width = 0.0, math.inf, abs(end - start)
    while width > 0.0:
        beyond = max(kernel.bounds[0] - start, start - kernel.bounds[1], 0.0)
        unit = mechanism.scale / max(1.0, 0.5 * beyond / mechanism.scale)
        step = min(LONG_PANEL * unit, width)
        part = panel(mechanism, kernel, start, sign * step, step <= SHORT_PANEL * unit, theta, top)
        total += part
        # g is log-concave: once its panels fall, they fall at least as fast from there on.
        if part < 0.5 * before and part < LEAST_PANEL * total:
            return total
        before, start, width = part, start + sign * step, width - step
    return total


def panel(mechanism, kernel, start, step, is_short, theta, top):
    """Return the integral of g·e^(−top) over a panel."""
    total = 0.0
    if is_short:
        for j in range(4):
            total += FOUR_WEIGHTS[j] * math.exp(log_g(mechanism, kernel, start + FOUR_NODES[j] * step, theta) - top)
    else:
        for j in range(8):
            total += EIGHT_WEIGHTS[j] * math.exp(log_g(mechanism, kernel, start + EIGHT_NODES[j] * step, theta) - top)
    return total * abs(step)


GAUSSIAN_TRUNCATED_NORMAL = Convolution(
    "truncated-normal-normal", log_g, sample, masses=masses, cost=1.5, log_between=log_between
)
