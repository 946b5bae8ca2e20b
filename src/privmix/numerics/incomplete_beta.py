"""The incomplete beta function and its inverse, with 1 − x handed in so that both ends keep their digits."""

from __future__ import annotations

import math

from privmix.numerics.special import HALF_LOG_TWO_PI, log1p_minus, stirling_error


def log_beta_weight(a, b, x, y):
    """Return log of x^a y^b/B(a, b) for x + y = 1, by Stirling's series around its peak (Loader 2000).

    Both logarithms below are negative, so nothing cancels; the plain sum of logarithms loses five digits at shapes of
    1e4.
    """
    n = a + b
    gap = x * b - y * a
    peak = a * log1p_minus(gap / a, x * n / a) + b * log1p_minus(-gap / b, y * n / b)
    factor = 0.5 * math.log(a / n * b) - HALF_LOG_TWO_PI
    return peak + factor + stirling_error(n) - stirling_error(a) - stirling_error(b)


def below_peak(a, b, x):
    """Return whether the continued fraction of I_x(a, b) converges fast, rather than that of its complement."""
    return x * (a + b + 2.0) < a + 1.0


def beta_fraction(a, b, x):
    """Return I_x(a, b)·a·B(a, b)/(x^a (1−x)^b) by the continued fraction (modified Lentz); best `below_peak`."""
    c = 1.0
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    h = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        h *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        change = c * d
        h *= change
        if abs(change - 1.0) < 4e-16:
            break
    return h


def beta_inc(a, b, x, y):
    """Return I_x(a, b), the regularised incomplete beta function, for x + y = 1."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    weight = math.exp(log_beta_weight(a, b, x, y))
    if below_peak(a, b, x):
        return weight * beta_fraction(a, b, x) / a
    return 1.0 - weight * beta_fraction(b, a, y) / b


def log_beta_inc(a, b, x, y):
    """Return log I_x(a, b) for x + y = 1, however small it is."""
    if x <= 0.0:
        return -math.inf
    if y <= 0.0:
        return 0.0
    weight = log_beta_weight(a, b, x, y)
    if below_peak(a, b, x):
        return weight + math.log(beta_fraction(a, b, x) / a)
    return math.log1p(-min(math.exp(weight) * beta_fraction(b, a, y) / b, 1.0))


def beta_tails(a, b, x, y):
    """Return (I_x(a, b), 1 − I_x(a, b)), the smaller of them accurate."""
    if x <= 0.0:
        return 0.0, 1.0
    if y <= 0.0:
        return 1.0, 0.0
    weight = math.exp(log_beta_weight(a, b, x, y))
    if below_peak(a, b, x):
        low = weight * beta_fraction(a, b, x) / a
        return low, 1.0 - low
    high = weight * beta_fraction(b, a, y) / b
    return 1.0 - high, high


def logit_parts(s):
    """Return (x, 1 − x) for logit x = s, the smaller of them accurate."""
    if s < 0.0:
        x = math.exp(s)
        return x / (1.0 + x), 1.0 / (1.0 + x)
    y = math.exp(-s)
    return 1.0 / (1.0 + y), y / (1.0 + y)


def newton_or_bisect(low, high, at, gap, slope):
    """Return the bracket cut at a point where an increasing function is `gap` above its target, and the next point.

    A Newton step or, where it leaves the bracket, the middle of the bracket.
    """
    low, high = (low, at) if gap > 0.0 else (at, high)
    if slope > 0.0:
        following = at - gap / slope
        if low < following < high:
            return low, high, following
    if low == -math.inf:
        return low, high, high - 2.0 * (1.0 + abs(high))
    return low, high, 0.5 * (low + high)


def log_beta_inc_at(a, b, s):
    """Return log I_x(a, b) and its derivative in s = logit x, which is x(1−x) times the density over I."""
    if s < -700.0:  # x underflows, and log I is linear with slope a
        return log_beta_inc(a, b, math.exp(-700.0), 1.0) + a * (s + 700.0), a
    x, y = logit_parts(s)
    value = log_beta_inc(a, b, x, y)
    return value, math.exp(log_beta_weight(a, b, x, y) - value)


def log_beta_inc_inverse(a, b, target, top):
    """Return s = logit x ≤ top with log I_x(a, b) = target.

    Newton on the logit, where log I is nearly linear below the bulk (slope a), and bisection where a step leaves the
    bracket: five to ten evaluations.
    """
    low, high, s = -math.inf, top, min(top, math.log(a) - math.log(b))
    for _ in range(200):
        value, slope = log_beta_inc_at(a, b, s)
        low, high, following = newton_or_bisect(low, high, s, value - target, slope)
        if abs(following - s) <= 1e-13 * (1.0 + abs(s)):
            return following
        s = following
    return s
