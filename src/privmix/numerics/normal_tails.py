"""The normal distribution, also far out: scaled complementary error function, masses of intervals, truncated draws."""

from __future__ import annotations

import math

from privmix.jit import inline
from privmix.numerics.random import exponential, normal, uniform

ROOT_HALF = 0.7071067811865475244
ROOT_PI = 1.7724538509055160273
ROOT_TWO_PI = 2.5066282746310005024

# Coefficients of W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969): erfcx
# on [.46875, 4] and beyond 4, to 18 digits.
CODY_MIDDLE_TOP = (
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
    2.15311535474403846e-8,
)
CODY_MIDDLE_BOTTOM = (
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
CODY_FAR_TOP = (
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
    1.63153871373020978e-2,
)
CODY_FAR_BOTTOM = (
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)


def normal_cdf(x):
    """Return the standard normal distribution function, accurate in the lower tail."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def exp_square(x):
    """Return exp(x²), without the x² ulps that rounding x² would cost."""
    # The head has at most 15 bits where exp does not overflow, so its square is exact; the rest is below .06.
    head = math.floor(x * 1024.0) / 1024.0
    return math.exp(head * head) * math.exp((x - head) * (x + head))


def erfcx(x):
    """Return exp(x²)·erfc(x): finite for every x > −26.6, and about 1/(x√π) for large x."""
    if x < 0.0:
        return 2.0 * exp_square(x) - erfcx_positive(-x)
    return erfcx_positive(x)


@inline  # called by log g, twice a record: 2% of a sweep
def erfcx_positive(x):
    """Return exp(x²)·erfc(x) for x ≥ 0, by the rational approximations of Cody (1969).

    No exponential is needed beyond .47, which makes it four times faster than exp(x²)·erfc(x).
    """
    if x < 0.46875:
        return exp_square(x) * math.erfc(x)
    if x <= 4.0:
        top, bottom = CODY_MIDDLE_TOP[8] * x, x
        for k in range(7):
            top = (top + CODY_MIDDLE_TOP[k]) * x
            bottom = (bottom + CODY_MIDDLE_BOTTOM[k]) * x
        return (top + CODY_MIDDLE_TOP[7]) / (bottom + CODY_MIDDLE_BOTTOM[7])
    s = 1.0 / (x * x)
    top, bottom = CODY_FAR_TOP[5] * s, s
    for k in range(4):
        top = (top + CODY_FAR_TOP[k]) * s
        bottom = (bottom + CODY_FAR_BOTTOM[k]) * s
    return (1.0 / ROOT_PI - s * (top + CODY_FAR_TOP[4]) / (bottom + CODY_FAR_BOTTOM[4])) / x


def normal_mass(a, b):
    """Return Φ(b) − Φ(a) for a ≤ b, with small relative error in both tails and for narrow intervals."""
    if a > 0.0:
        a, b = -b, -a
    middle, width = 0.5 * (a + b), b - a
    if width * max(1.0, -middle) < 1.0:
        return narrow_mass(middle, 0.5 * width)
    if b > 0.0:
        return 0.5 * (math.erf(b * ROOT_HALF) - math.erf(a * ROOT_HALF))
    return normal_cdf(b) - normal_cdf(a)


def narrow_mass(middle, half):
    """Return Φ(m + h) − Φ(m − h) for h(1 + |m|) ≤ 1: 2h φ(m) Σ_k He_{2k}(m) h^{2k}/(2k+1)!."""
    total, even, odd, power = 1.0, 1.0, middle, 1.0
    for k in range(1, 12):
        even = middle * odd - (2 * k - 1) * even
        odd = middle * even - 2 * k * odd
        power *= half * half / (2 * k * (2 * k + 1))
        total += even * power
    return 2.0 * half * total / (exp_square(middle * ROOT_HALF) * ROOT_TWO_PI)


def normal_excess(rng, a, width):
    """Draw X − a for a standard normal X truncated to [a, a + width]; the width may be infinite, a is finite.

    The distance to a is drawn itself, so that it keeps its digits where a is far out and X would round to a.
    Rejection, accepting at least two in five: the normal where the interval holds much of it, the uniform where it is
    narrow, else an exponential of rate a (Robert 1995), which is accepted with probability exp(−(X − a)²/2).
    """
    if a >= 0.5:
        return tail_excess(rng, a, width)
    if a + width <= -0.5:
        return max(width - tail_excess(rng, -(a + width), width), 0.0)
    if width < 2.0:
        return uniform_excess(rng, a, width)
    while True:
        x = normal(rng)
        if a > 0.0 and x < 0.0:
            x = -x
        if a <= x <= a + width:
            return x - a


def tail_excess(rng, a, width):
    """Draw X − a for a ≥ .5 by rejection from an exponential of rate a, truncated to the width."""
    while True:
        if width == math.inf:
            t = exponential(rng) / a
        else:
            t = -math.log1p(uniform(rng) * math.expm1(-a * width)) / a
        if t <= width and exponential(rng) >= 0.5 * t * t:
            return t


def uniform_excess(rng, a, width):
    """Draw X − a on a narrow interval near 0 by rejection from the uniform."""
    peak = min(max(0.0, a), a + width)
    while True:
        t = width * uniform(rng)
        if exponential(rng) >= 0.5 * ((a + t) * (a + t) - peak * peak):
            return t


def normal_between(rng, a, b):
    """Draw a standard normal truncated to [a, b]; either end may be infinite."""
    if a == -math.inf:
        if b == math.inf:
            return normal(rng)
        return b - normal_excess(rng, -b, math.inf)
    if b == math.inf or a >= -b:
        return min(a + normal_excess(rng, a, b - a), b)
    return max(b - normal_excess(rng, -b, b - a), a)
