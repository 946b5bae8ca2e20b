"""The incomplete gamma function, and gamma variables truncated from above."""

from __future__ import annotations

import math

from privmix.numerics.random import exponential, gamma
from privmix.numerics.special import HALF_LOG_TWO_PI, log1p_minus, stirling_error

# Smallest normal number: a variable of small shape may be smaller still, and its reciprocal must stay finite.
TINY = 2.2250738585072014e-308


def log_gamma_weight(a, x):
    """Return log of x^a e^{−x}/Γ(a+1), by Stirling's series around its peak x = a where a is large.

    The plain a log x − x − log Γ(a+1) loses ten digits at a = 1e6.
    """
    if a < 16.0:
        return a * math.log(x) - x - math.lgamma(a + 1.0)
    gap = a * log1p_minus((x - a) / a, x / a)
    return gap - HALF_LOG_TWO_PI - 0.5 * math.log(a) - stirling_error(a)


def lower_series(a, x):
    """Return Σ_k x^k/((a+1)…(a+k)), all terms positive: P(a, x) in units of its leading term."""
    term, total, k = 1.0, 1.0, 0.0
    while term > 1e-17 * total:
        k += 1.0
        term *= x / (a + k)
        total += term
    return total


def upper_fraction(a, x):
    """Return Γ(a, x)·e^x x^{−a} for x ≥ a + 1 by Legendre's continued fraction (modified Lentz)."""
    b = x + 1.0 - a
    c = 1e300
    d = 1.0 / b
    h = d
    for i in range(1, 1_000_000):
        term = i * (a - i)
        b += 2.0
        d = 1.0 / (term * d + b)
        c = b + term / c
        change = c * d
        h *= change
        if abs(change - 1.0) < 4e-16:
            break
    return h


def log_gamma_p(a, x):
    """Return log P(a, x), the regularised lower incomplete gamma function, however small it is."""
    if x <= 0.0:
        return -math.inf
    if x == math.inf:
        return 0.0
    if x < a + 1.0:
        return log_gamma_weight(a, x) + math.log(lower_series(a, x))
    return math.log1p(-math.exp(log_gamma_weight(a, x)) * a * upper_fraction(a, x))


def truncated_gamma(rng, shape, upper):
    """Draw Gamma(shape, 1) truncated to (0, upper].

    Below the bulk, γ = upper·e^{−t} with t ~ Exp(shape − upper), accepted with probability
    exp(−upper(e^{−t} − 1 + t)); else rejection from the gamma itself. The border at half a standard deviation below
    the shape keeps both above three in ten: P(a, .98a) alone would be 1e-89 at a = 1e6.
    """
    if upper < max(shape - 0.5 * math.sqrt(shape), 0.5 * shape):
        while True:
            t = exponential(rng) / (shape - upper)
            if exponential(rng) >= upper * (math.expm1(-t) + t):
                return max(upper * math.exp(-t), min(TINY, upper))
    while True:
        value = gamma(rng, shape)
        if value <= upper:
            return max(value, min(TINY, upper))
