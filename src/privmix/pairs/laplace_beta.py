"""Laplace noise on a beta kernel, by series whose terms are all positive.

On the unit interval with κ = 1/scale, 2g/κ = below + above, where below = ∫_{y<z} e^{−κ(z−y)} Beta(y|a, b) dy and
above is its mirror image. Expanding e^{κy},

    below = w e^{−κz} Σ_k (κz)^k/k! · j_k,   w = z^a (1−z)^b/B(a, b),

where j_k = ∫_0^z y^{a+k−1} (1−y)^{b−1} dy/(z^{a+k} (1−z)^b) obeys j_k = ((a+b+k) z j_{k+1} + 1)/(a+k), a sum of
positive terms when run downwards. For z ≥ 1 it is e^{κ(1−z)}·₁F₁(b; a+b; −κ), after Kummer's transformation again a
positive series.
"""

from __future__ import annotations

import math

from privmix.kernels.beta import EDGE, Beta, log_odds
from privmix.numerics import exponential, log_add_exp, uniform
from privmix.numerics.incomplete_beta import (
    below_peak,
    beta_fraction,
    beta_inc,
    log_beta_weight,
    logit_parts,
    newton_or_bisect,
)
from privmix.pairs.base import Convolution
from privmix.pairs.tails import between_by

BIG, LOG_BIG = 1e250, 250.0 * math.log(10.0)
# Draws from the kernel before Y is drawn by inversion: a try takes .1 µs, an inversion at ε = 50 about 15.
TRIES = 50

sample_kernel = Beta.sample


def terms(x):
    """Return how many terms of Σ x^k/k! c_k, c_k decreasing, leave out less than 1e-14: a Poisson tail at 8 sd."""
    return int(x + 8.0 * math.sqrt(x) + 9.0)


def log_whole(a, b, rate):
    """Return log ∫_0^1 e^{−rate(1−y)} Beta(y|a, b) dy = log e^{−rate} Σ_k rate^k/k! (a)_k/(a+b)_k."""
    total, one, log_scale = 1.0, 1.0, 0.0
    for k in range(terms(rate), -1, -1):
        total = one + total * (rate * (a + k) / ((a + b + k) * (k + 1.0)))
        if total > BIG:
            total, one, log_scale = total / BIG, one / BIG, log_scale + LOG_BIG
    return math.log(total) + log_scale - rate


def last_ratio(a, b, x, y):
    """Return (j, e, t) with I_x(a, b) B(a, b)/(x^a y^b) = j·exp(t), and the number 1 in that unit, e = exp(−t)."""
    if below_peak(a, b, x):
        return beta_fraction(a, b, x) / a, 1.0, 0.0
    log_weight = log_beta_weight(a, b, x, y)
    weight = math.exp(log_weight)
    # Above the peak I_x = 1 − its complement is not small, and j grows as the index falls: e may underflow to 0.
    return 1.0 - weight * beta_fraction(b, a, y) / b, weight, -log_weight


def log_sum(a, b, x, y, rate):
    """Return log of e^{−rate·x} Σ_k (rate·x)^k/k! j_k."""
    last = terms(rate * x)
    j, one, log_scale = last_ratio(a + last, b, x, y)
    total = j
    for k in range(last - 1, -1, -1):
        j = ((a + b + k) * x * j + one) / (a + k)
        total = j + total * (rate * x / (k + 1.0))
        if total > BIG:
            j, total, one, log_scale = j / BIG, total / BIG, one / BIG, log_scale + LOG_BIG
    return math.log(total) + log_scale - rate * x


def log_below(a, b, x, y, rate):
    """Return log ∫_0^x e^{−rate(x−t)} Beta(t|a, b) dt for any real x; y = 1 − x."""
    if x <= 0.0:
        return -math.inf
    if y <= 0.0:
        return log_whole(a, b, rate) + rate * y
    return log_beta_weight(a, b, x, y) + log_sum(a, b, x, y, rate)


def log_pieces(mechanism, kernel, z, theta):
    """Return the logarithms of the parts below and above z."""
    width = kernel.bounds[1] - kernel.bounds[0]
    x, y, rate = (z - kernel.bounds[0]) / width, (kernel.bounds[1] - z) / width, width / mechanism.scale
    return log_below(theta[0], theta[1], x, y, rate), log_below(theta[1], theta[0], y, x, rate)


def log_g(mechanism, kernel, z, theta):
    """Return log g(z | a, b)."""
    below, above = log_pieces(mechanism, kernel, z, theta)
    return log_add_exp(below, above) - math.log(2.0 * mechanism.scale)


def cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z) = F(z) + ½(above − below)."""
    width = kernel.bounds[1] - kernel.bounds[0]
    x, y = (z - kernel.bounds[0]) / width, (kernel.bounds[1] - z) / width
    below, above = log_pieces(mechanism, kernel, z, theta)
    return beta_inc(theta[0], theta[1], x, y) + 0.5 * (math.exp(above) - math.exp(below))


def tail(mechanism, kernel, z, theta):
    """Return whether z is below the peak, and the log of the tail on its side, F(z) + ½(above − below)."""
    width = kernel.bounds[1] - kernel.bounds[0]
    a, b, x, y = theta[0], theta[1], (z - kernel.bounds[0]) / width, (kernel.bounds[1] - z) / width
    below, above = log_pieces(mechanism, kernel, z, theta)
    is_lower = x <= 0.0 or (y > 0.0 and below_peak(a, b, x))
    if not is_lower:
        a, b, x, y, below, above = b, a, y, x, above, below
    if x <= 0.0:
        return is_lower, above - math.log(2.0)
    log_mass = log_beta_weight(a, b, x, y) + math.log(beta_fraction(a, b, x) / a)
    most = max(log_mass, above)
    value = math.exp(log_mass - most) + 0.5 * (math.exp(above - most) - math.exp(below - most))
    return is_lower, most + math.log(value)


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: draws of the kernel, accepted with q(z|y)/max q; after many refusals by inversion.

    Refusals say nothing about the next draw, so the law is exact.
    """
    nearest = abs(z - min(max(z, kernel.bounds[0]), kernel.bounds[1]))
    for _ in range(TRIES):
        y = sample_kernel(kernel, rng, theta)
        if exponential(rng) * mechanism.scale >= abs(z - y) - nearest:
            return y
    return invert(mechanism, kernel, rng, z, theta)


def invert(mechanism, kernel, rng, z, theta):
    """Draw Y given z: its side of z, then by inversion of that side's mass."""
    width = kernel.bounds[1] - kernel.bounds[0]
    x, y, rate = (z - kernel.bounds[0]) / width, (kernel.bounds[1] - z) / width, width / mechanism.scale
    below, above = log_pieces(mechanism, kernel, z, theta)
    if uniform(rng) * (1.0 + math.exp(above - below)) < 1.0:
        point, rest = draw_below(rng, theta[0], theta[1], x, y, rate)
    else:
        rest, point = draw_below(rng, theta[1], theta[0], y, x, rate)
    if point < EDGE:
        point = 0.5 * EDGE
    elif rest < EDGE:
        point = 1.0 - 0.5 * EDGE
    return kernel.bounds[0] + width * point


def draw_below(rng, a, b, x, y, rate):
    """Draw t < x with density ∝ e^{rate·t} Beta(t|a, b); return (t, 1 − t).

    Newton on s = logit t, where the logarithm of the mass below t has the derivative 1/`log_sum`'s exponential.
    """
    top = log_odds(min(x, 1.0), max(y, 0.0))
    start, rest = (1.0, 0.0) if y <= 0.0 else (x, y)
    target = log_below(a, b, start, rest, rate) - rate * rest + math.log1p(-uniform(rng))
    low, high, s = -math.inf, top, min(top, math.log(a) - math.log(b))
    for _ in range(200):
        value, slope = mass_at(a, b, s, rate)
        low, high, following = newton_or_bisect(low, high, s, value - target, slope)
        if abs(following - s) <= 1e-13 * (1.0 + abs(s)):
            break
        s = following
    return logit_parts(s)


def mass_at(a, b, s, rate):
    """Return log ∫_0^t e^{−rate(1−u)} Beta(u|a, b) du at t of logit s, and its derivative in s."""
    if s < -700.0:  # t underflows, and the logarithm is linear with slope a
        t = math.exp(-700.0)
        return log_below(a, b, t, 1.0, rate) - rate + a * (s + 700.0), a
    t, rest = logit_parts(s)
    if rest <= 0.0:
        return log_below(a, b, 1.0, 0.0, rate), 0.0
    log_series = log_sum(a, b, t, rest, rate)
    return log_beta_weight(a, b, t, rest) + log_series - rate * rest, math.exp(-log_series)


LAPLACE_BETA = Convolution("beta-Laplace", log_g, sample, cdf, cost=20.0, **between_by(tail))
