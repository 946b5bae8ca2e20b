"""What follows from a kernel's distribution function or from its masses: the optional slots that it does not fill."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.kernels.slots import cdf, lower_tail, mass, sample_between, upper_tail
from privmix.numerics import uniform


def lower_tail_of_mass(kernel, y, theta):
    """Return P(Y ≤ y) from the mass."""
    return mass(kernel, -math.inf, y, theta)


def upper_tail_of_mass(kernel, y, theta):
    """Return P(Y > y) from the mass."""
    return mass(kernel, y, math.inf, theta)


def lower_tail_of_cdf(kernel, y, theta):
    """Return P(Y ≤ y)."""
    return cdf(kernel, y, theta)


def upper_tail_of_cdf(kernel, y, theta):
    """Return P(Y > y) to the absolute precision of the distribution function."""
    return 1.0 - cdf(kernel, y, theta)


def mass_of_cdf(kernel, lower, upper, theta):
    """Return P(lower < Y ≤ upper) to the absolute precision of the distribution function."""
    return cdf(kernel, upper, theta) - cdf(kernel, lower, theta)


def bisect_between(kernel, rng, theta, lower, upper):
    """Draw Y between lower and upper by bisection of the distribution function."""
    low = cdf(kernel, lower, theta) if lower > -math.inf else 0.0
    high = cdf(kernel, upper, theta) if upper < math.inf else 1.0
    target = low + (high - low) * uniform(rng)
    left, right = bracket(kernel, theta, target, lower, upper)
    for _ in range(200):
        middle = 0.5 * (left + right)
        if middle in (left, right):
            break
        if cdf(kernel, middle, theta) < target:
            left = middle
        else:
            right = middle
    return right


def bracket(kernel, theta, target, lower, upper):
    """Return finite ends of [lower, upper] between which the distribution function passes the target."""
    step = 1.0
    left, right = lower, upper
    if left == -math.inf:
        left = min(right, 0.0) - step
        while step < 1e300 and cdf(kernel, left, theta) > target:
            step *= 2.0
            left -= step
    step = 1.0
    if right == math.inf:
        right = max(left, 0.0) + step
        while step < 1e300 and cdf(kernel, right, theta) < target:
            step *= 2.0
            right += step
    return left, right


FROM_MASS: dict[Callable, Callable] = {
    cdf: lower_tail_of_mass,
    lower_tail: lower_tail_of_mass,
    upper_tail: upper_tail_of_mass,
    sample_between: bisect_between,
}
FROM_CDF: dict[Callable, Callable] = {
    mass: mass_of_cdf,
    lower_tail: lower_tail_of_cdf,
    upper_tail: upper_tail_of_cdf,
    sample_between: bisect_between,
}
