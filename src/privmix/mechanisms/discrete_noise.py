"""Noise on the whole numbers: the discrete Laplace and the discrete Gaussian law, their intervals and their draws.

P(k) ∝ e^(−|k|/s) and P(k) ∝ e^(−k²/(2s²)). The draws are idealised: exact but for the floating point of the uniform
draws and exponentials that they are made of. A hardened release needs an implementation in whole numbers.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from privmix.numerics.normal_intervals import scaled_mass

#: discrete noise of a larger scale is not a whole number that a float can hold
LARGEST_DISCRETE_SCALE = 1e12
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
# A sum stops where its terms have fallen by this exponent: e^-40 = 4e-18.
LOST = 40.0
# Sums of more terms go by the formula of Euler and Maclaurin, which is then exact: a sum this long has a scale above 7,
# and starts at fewer than 0.64 s² from 0, so that each correction is below a tenth of the one before.
MOST_TERMS = 64.0
# B_2m(1/2)/(2m)! for m = 1 to 6: the corrections of the midpoint rule.
CORRECTIONS = (
    -1.0 / 24.0,
    7.0 / 5760.0,
    -31.0 / 967680.0,
    127.0 / 154828800.0,
    -73.0 / 3503554560.0,
    1414477.0 / 2678117105664000.0,
)


def log_discrete_laplace_norm(scale: float) -> float:
    """Return log Σ_k e^(−|k|/s) over all whole numbers k."""
    return -math.log(math.tanh(0.5 / scale))


def log_discrete_gaussian_norm(scale: float) -> float:
    """Return log Σ_k e^(−k²/(2s²)) over all whole numbers k."""
    return log_gaussian_sum(scale * scale, 0.0)


def log_gaussian_sum(variance: float, shift: float) -> float:
    """Return log Σ_k exp(−(k − shift)²/(2 variance)) over all whole numbers k.

    Directly where few terms count, else by Poisson's formula, whose terms beyond the fifth are below e^-98.
    """
    if variance < 0.2:
        k = np.arange(-10, 11)
        return float(logsumexp(-((k - shift) ** 2) / (2.0 * variance)))
    m = np.arange(1, 6)
    waves = 2.0 * np.sum(np.cos(2.0 * math.pi * m * shift) * np.exp(-2.0 * math.pi**2 * variance * m * m))
    return 0.5 * math.log(2.0 * math.pi * variance) + math.log1p(float(waves))


def log_discrete_laplace_between(first, last, scale):
    """Return log P(first ≤ K ≤ last), the ends whole numbers or infinite; −∞ where nothing is between them."""
    if first > last:
        return -math.inf
    log_side = math.log1p(math.exp(-1.0 / scale))
    if first > 0.0:
        return -first / scale + math.log(-math.expm1(-(last - first + 1.0) / scale)) - log_side
    if last < 0.0:
        return last / scale + math.log(-math.expm1(-(last - first + 1.0) / scale)) - log_side
    # 1 less both tails, as a sum whose terms are of one size: a narrow interval loses no digits.
    inside = math.expm1(-1.0 / scale) - math.expm1((first - 1.0) / scale) - math.expm1(-(last + 1.0) / scale)
    return math.log(inside) - log_side


def log_discrete_gaussian_between(first, last, scale, log_norm):
    """Return log P(first ≤ K ≤ last), the ends whole numbers or infinite; −∞ where nothing is between them."""
    if first > last:
        return -math.inf
    nearest = min(max(0.0, first), last)
    start = abs(nearest)
    terms = math.sqrt(start * start + 2.0 * LOST * scale * scale) - start
    if terms < MOST_TERMS or last - first < MOST_TERMS:
        relative = nearest / scale
        return math.log(sum_outwards(nearest, first, last, scale)) - 0.5 * relative * relative - log_norm
    low, high = (first - 0.5) / scale, (last + 0.5) / scale
    nearest = min(max(0.0, low), high)
    mass = ROOT_TWO_PI * scale * scaled_mass(low, high, (last - first + 1.0) / scale)
    mass += midpoint_corrections(high, nearest, scale) - midpoint_corrections(low, nearest, scale)
    return math.log(mass) - 0.5 * nearest * nearest - log_norm


def sum_outwards(nearest, first, last, scale):
    """Return Σ e^((m² − k²)/(2s²)) over first ≤ k ≤ last, from m, the nearest to 0, to both sides."""
    total = 1.0
    for side in (-1.0, 1.0):
        k = nearest + side
        fall = (k - nearest) * (k + nearest) / (2.0 * scale * scale)
        while first <= k <= last and fall < LOST:
            total += math.exp(-fall)
            k += side
            fall = (k - nearest) * (k + nearest) / (2.0 * scale * scale)
    return total


def midpoint_corrections(end, nearest, scale):
    """Return Σ_m B_2m(1/2)/(2m)! f^(2m−1)(end), f = e^((nearest² − x²)/2) in units of s: He_n(x) by its recurrence."""
    fall = 0.5 * (end - nearest) * (end + nearest)
    if not fall < LOST:
        return 0.0
    total, even, odd, power = 0.0, 1.0, end, 1.0 / scale
    for m in range(len(CORRECTIONS)):
        total -= CORRECTIONS[m] * odd * power
        even = end * odd - (2 * m + 1) * even
        odd = end * even - (2 * m + 2) * odd
        power /= scale * scale
    return total * math.exp(-fall)


def draw_discrete_laplace(rng: np.random.Generator, scale: float | np.ndarray, size: int) -> np.ndarray:
    """Draw P(k) ∝ e^(−|k|/s) as the difference of two geometric variates.

    Parameters
    ----------
    rng
        Where the randomness comes from.
    scale
        s, or one for each draw.
    size
        How many draws.
    """
    success = -np.expm1(-1.0 / np.asarray(scale, dtype=np.float64))
    return (rng.geometric(success, size) - rng.geometric(success, size)).astype(np.float64)


def draw_discrete_gaussian(rng: np.random.Generator, scale: float | np.ndarray, size: int) -> np.ndarray:
    """Draw P(k) ∝ e^(−k²/(2s²)) by rejection from the discrete Laplace law of scale t = ⌊s⌋ + 1.

    Canonne, Kamath and Steinke (2020), Algorithm 3: accept k with probability e^(−(|k| − s²/t)²/(2s²)).

    Parameters
    ----------
    rng
        Where the randomness comes from.
    scale
        s, or one for each draw.
    size
        How many draws.
    """
    scale = np.broadcast_to(np.asarray(scale, dtype=np.float64), size)
    out = np.empty(size)
    missing = np.arange(size)
    while len(missing):
        s = scale[missing]
        t = np.floor(s) + 1.0
        k = draw_discrete_laplace(rng, t, len(missing))
        accepted = rng.random(len(missing)) < np.exp(-0.5 * ((np.abs(k) - s * s / t) / s) ** 2)
        out[missing[accepted]] = k[accepted]
        missing = missing[~accepted]
    return out
