"""Gaussian noise on a truncated normal kernel: N(z; μ, σ² + η²) times a ratio of normal masses.

Y given z is N(c, τ²) truncated to the bounds, with precision 1/τ² = 1/σ² + 1/η² and c between μ and z. The exponent is
taken at q, the point inside the bounds that is nearest to c: −(z−q)²/2η² − ((q−μ)² − (p−μ)²)/2σ², p the kernel's peak
inside the bounds. Both terms are negative, so that none cancel, however far out μ or z is.

The distribution function of z is a bivariate normal's and has no closed form. The probability of an interval of z is
an integral of g by Gauss's rule with two points on panels of length h ≤ η/5. Its error over any set of panels is below
h⁴/4320 ∫|g''''| ≤ (h/η)⁴ √24/4320 < 2e-6 in total, whatever μ, σ² and the bounds: g'''' = ∫ q'''' f, and
∫|q''''| = E|He₄(X)|/η⁴ ≤ √24/η⁴.
"""

from __future__ import annotations

import math

from privmix.jit import inline
from privmix.kernels.normal_kernel import sample_normal_between
from privmix.kernels.truncated_normal import HALF_PRECISION, HIGH, LOG_PEAK, LOW, MIRROR, PEAK
from privmix.numerics import normal_cdf
from privmix.numerics.normal_intervals import POINT, scaled_mass
from privmix.pairs.base import Convolution

# Longest panel, in standard deviations of the noise.
LONGEST_PANEL = 0.2
# A release this many standard deviations of the noise outside the bounds has probability 1e-23 at most.
FARTHEST = 10.0
# Places of the two points of Gauss's rule in a panel of unit length.
FIRST_POINT, SECOND_POINT = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)


@inline
def given_release(mechanism, z, theta):
    """Return (c, τ²): Y given z without truncation; c is computed from the nearer of z and μ."""
    noise = mechanism.scale * mechanism.scale
    share = theta[1] / (theta[1] + noise)
    if theta[1] > noise:
        return z - (noise / (theta[1] + noise)) * (z - theta[0]), share * noise
    return theta[0] + share * (z - theta[0]), share * noise


@inline
def exponent_and_factor(mechanism, kernel, z, theta):
    """Return (t, A) with g = e^t A e^{log f at its peak}."""
    centre, variance = given_release(mechanism, z, theta)
    sd = math.sqrt(variance)
    lower, upper = kernel.bounds
    nearest = min(max(centre, lower), upper)
    mass = scaled_mass((lower - centre) / sd, (upper - centre) / sd, (upper - lower) / sd)
    away = (z - nearest) / mechanism.scale
    fall = theta[HALF_PRECISION] * (nearest - theta[PEAK]) * (nearest - theta[MIRROR])
    return -0.5 * away * away - fall, mass * sd / mechanism.scale


@inline
def log_g(mechanism, kernel, z, theta):
    """Return log g(z | μ, σ²)."""
    top, factor = exponent_and_factor(mechanism, kernel, z, theta)
    return top + math.log(factor) + theta[LOG_PEAK]


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: N(c, τ²) truncated to the bounds."""
    centre, variance = given_release(mechanism, z, theta)
    return sample_normal_between(rng, centre, math.sqrt(variance), kernel.bounds[0], kernel.bounds[1])


def mass(mechanism, kernel, lower, upper, theta):
    """Return P(lower < Z ≤ upper); either end may be infinite."""
    if theta[LOW] < -POINT and theta[HIGH] > POINT:  # the kernel is the normal, to 1e-17 of its mass
        sd = math.sqrt(theta[1] + mechanism.scale * mechanism.scale)
        return normal_cdf((upper - theta[0]) / sd) - normal_cdf((lower - theta[0]) / sd)
    first = max(lower, kernel.bounds[0] - FARTHEST * mechanism.scale)
    width = min(upper, kernel.bounds[1] + FARTHEST * mechanism.scale) - first
    if width <= 0.0:
        return 0.0
    panels = 1 + int(width / (LONGEST_PANEL * mechanism.scale))
    step, total = width / panels, 0.0
    for j in range(panels):
        total += density(mechanism, kernel, first + (j + FIRST_POINT) * step, theta)
        total += density(mechanism, kernel, first + (j + SECOND_POINT) * step, theta)
    return 0.5 * step * total


def density(mechanism, kernel, z, theta):
    """Return g(z | μ, σ²)."""
    top, factor = exponent_and_factor(mechanism, kernel, z, theta)
    return math.exp(top + theta[LOG_PEAK]) * factor


GAUSSIAN_TRUNCATED_NORMAL = Convolution("truncated-normal-normal", log_g, sample, mass=mass, cost=1.5)
