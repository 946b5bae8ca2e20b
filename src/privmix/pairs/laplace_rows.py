"""Laplace noise on normal components of several columns: records given their release, by a mixture of normal noise.

Laplace noise of scale b is normal noise of a variance s that is exponential with mean 2b². So given s the noise is
normal, and Y given z and s is drawn as under Gaussian noise; given Y the variances are independent. One step draws s
given the current Y and then Y given s: it leaves the law of Y given z as it is, without a proposal.
"""

from __future__ import annotations

import math

from privmix.kernels.normal_rows import scratch_place
from privmix.numerics import normal, uniform
from privmix.pairs.base import Augmentation
from privmix.pairs.normal_rows import draw_noise, is_lasting, noise_entry, sample


def mixing_variance(rng, b, distance):
    """Draw s given that the noise is at this distance from 0: 1/s ~ InverseGaussian(mean 1/(br), shape 1/b²).

    The method of Michael, Schucany and Haas (1976) for s itself, its larger root first: nothing is divided by r, which
    may be 0.
    """
    e = normal(rng)
    half = 0.5 * b * e * e
    larger = b * (distance + half + math.sqrt(half * (2.0 * distance + half)))
    product = b * distance
    if uniform(rng) * (larger + product) <= larger:
        return larger
    return product * (product / larger)


def redraw(mechanism, kernel, rng, z, theta, ys, i):
    """Draw the variances of a record's noise given its value, then the value given them."""
    d = len(kernel.mean)
    for j in range(d):
        variance = 1.0  # of an entry that is missing, which is not read
        if z[j] == z[j]:
            variance = mixing_variance(rng, mechanism.scales[j], abs(z[j] - ys[i, j]))
        theta[scratch_place(d, 2) + j] = variance
    sample(mechanism, kernel, rng, z, theta, ys[i])


def drawn_variance(mechanism, theta, i, j):
    """Return an entry of the covariance of the noise: the variances that were drawn last."""
    return theta[scratch_place(len(mechanism.scales), 2) + i] if i == j else 0.0


def draw_independent(mechanism, rng, theta, noise, i):
    """Draw entry i of the noise."""
    return math.sqrt(theta[scratch_place(len(mechanism.scales), 2) + i]) * normal(rng)


def never(mechanism):
    """Return False: every record has variances of its own."""
    return False


LAPLACE_ROWS = Augmentation(
    "Laplace noise as a mixture of normal noise",
    redraw,
    {noise_entry: drawn_variance, draw_noise: draw_independent, is_lasting: never},
)
