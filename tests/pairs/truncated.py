"""Arithmetic of many digits for a normal truncated to [a, b], and a wide grid of hard cases."""

import mpmath as mp
import numpy as np

BOUNDS = (-1.0, 3.0)
#: enough for exponents up to 1e13 to cancel: |μ − a|/σ up to 5e6
DIGITS = 60


def exactly(*values):
    return [mp.mpf(float(value)) for value in values]


def mass(low, high):
    """Φ(high) − Φ(low), through the smaller tails."""
    root = mp.sqrt(2)
    if low > 0:
        return (mp.erfc(low / root) - mp.erfc(high / root)) / 2
    if high < 0:
        return (mp.erfc(-high / root) - mp.erfc(-low / root)) / 2
    return (mp.erf(high / root) - mp.erf(low / root)) / 2


def laplace_parts(z, mean, variance, scale, bounds=BOUNDS):
    """Return the parts of g that come from y below and above z, and P(Y ≤ z)."""
    z, mean, variance, s, a, b = exactly(z, mean, variance, scale, *bounds)
    sd = mp.sqrt(variance)
    r, inside = sd / s, min(max(z, a), b)
    whole = 2 * s * mass((a - mean) / sd, (b - mean) / sd)
    below = mp.exp(-(z - mean) / s + r * r / 2) * mass((a - mean) / sd - r, (inside - mean) / sd - r)
    above = mp.exp((z - mean) / s + r * r / 2) * mass((inside - mean) / sd + r, (b - mean) / sd + r)
    return below / whole, above / whole, mass((a - mean) / sd, (inside - mean) / sd) / (whole / (2 * s))


def gaussian_density(z, mean, variance, scale, bounds=BOUNDS):
    z, mean, variance, s, a, b = exactly(z, mean, variance, scale, *bounds)
    total, sd = variance + s * s, mp.sqrt(variance)
    centre, width = mean + variance / total * (z - mean), mp.sqrt(variance * s * s / total)
    normal = mp.exp(-((z - mean) ** 2) / (2 * total)) / mp.sqrt(2 * mp.pi * total)
    return normal * mass((a - centre) / width, (b - centre) / width) / mass((a - mean) / sd, (b - mean) / sd)


def hard_cases(n, seed, span=3.0):
    """Return z, (μ, σ²) and scales: σ and scale over 2·span powers of ten, μ and z inside, at an end, and far out."""
    rng = np.random.default_rng(seed)
    width = BOUNDS[1] - BOUNDS[0]

    def places(share_inside, far):
        inside = BOUNDS[0] + width * rng.random(n)
        ends = np.array(BOUNDS)[rng.integers(2, size=n)]
        out = ends + width * rng.standard_normal(n) * 10.0 ** rng.uniform(-6, far, n)
        return np.where(rng.random(n) < share_inside, inside, np.where(rng.random(n) < 0.2, ends, out))

    sd = width * 10.0 ** rng.uniform(-span, span, n)
    scale = width * 10.0 ** rng.uniform(-span, span, n)
    return places(0.5, span), np.column_stack([places(0.4, span), sd * sd]), scale
