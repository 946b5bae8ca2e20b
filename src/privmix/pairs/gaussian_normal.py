"""Gaussian noise on a normal kernel: g = N(μ, σ² + η²), and Y given z is normal."""

from __future__ import annotations

import math

from privmix.numerics import normal, normal_cdf
from privmix.numerics.normal_intervals import log_mass
from privmix.pairs.base import Convolution


def log_g(mechanism, kernel, z, theta):
    """Return log N(z | μ, σ² + η²)."""
    variance = theta[1] + mechanism.scale * mechanism.scale
    deviation = z - theta[0]
    return -0.5 * (deviation * (deviation / variance) + math.log(2.0 * math.pi * variance))


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: normal with precision 1/σ² + 1/η², centred between μ and z."""
    noise = mechanism.scale * mechanism.scale
    share = theta[1] / (theta[1] + noise)
    # From the nearer of z and μ, so that a small distance keeps its digits.
    if theta[1] > noise:
        centre = z - (noise / (theta[1] + noise)) * (z - theta[0])
    else:
        centre = theta[0] + share * (z - theta[0])
    return centre + mechanism.scale * math.sqrt(share) * normal(rng)


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z)."""
    return normal_cdf((z - theta[0]) / math.sqrt(theta[1] + mechanism.scale * mechanism.scale))


def log_between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high)."""
    sd = math.sqrt(theta[1] + mechanism.scale * mechanism.scale)
    return log_mass((low - theta[0]) / sd, (high - theta[0]) / sd, (high - low) / sd)


GAUSSIAN_NORMAL = Convolution("normal-normal", log_g, sample, cdf, log_between=log_between)
