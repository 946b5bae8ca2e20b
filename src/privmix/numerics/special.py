"""Special functions in compiled code."""

from __future__ import annotations

import math

HALF_LOG_TWO_PI = 0.9189385332046727418


def log_add_exp(a, b):
    """Return log(eᵃ + eᵇ)."""
    top = max(a, b)
    if top == -math.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


def log_beta(a, b):
    """Return the logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log1p_minus(t, sum_):
    """Return log(1 + t) − t, where 1 + t is handed in too so that t near −1 loses nothing."""
    if abs(t) > 0.4:
        return math.log(sum_) - t
    # With r = t/(2+t): log(1+t) = 2(r + r³/3 + r⁵/5 + …) and 2r − t = −rt; r² < .063, so at most 13 terms.
    r = t / (2.0 + t)
    square = r * r
    total, power, k = 0.0, 1.0, 3.0
    while power > 1e-17:
        total += power / k
        power *= square
        k += 2.0
    return r * (2.0 * square * total - t)


def stirling_error(a):
    """Return log Γ(a+1) − (a + ½) log a + a − ½ log 2π for a > 0: what Stirling's formula leaves out."""
    if a < 16.0:
        return math.lgamma(a + 1.0) - (a + 0.5) * math.log(a) + a - HALF_LOG_TWO_PI
    s = 1.0 / (a * a)
    # Next term 691/360360 a⁻¹¹: below 1.1e-16 from a = 16 on.
    return (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / a
