"""First moments of a normal component over an interval: from its mass there and its density at the ends."""

from __future__ import annotations

import math

from privmix.kernels.slots import log_f, mass

# An interval is short if the density changes by less than this exponent from its middle to either end: then so many
# terms of its series suffice.
SHORT, TERMS = 0.15, 8


def moment_from(kernel, left, right, theta):
    """Return ∫ (y − left) f(y) dy from left to right, for a normal density cut at the bounds."""
    return moment_of_cut(kernel, left, right, mass(kernel, left, right, theta), theta)


def moment_of_cut(kernel, left, right, inside, theta):
    """Return the same, given the mass from left to right."""
    first, last = max(left, kernel.bounds[0]), min(right, kernel.bounds[1])
    if not first < last:
        return 0.0
    return (first - left) * inside + moment_of_whole(kernel, first, last, inside, theta)


def moment_of_whole(kernel, left, right, inside, theta):
    """Return ∫ (y − left) f(y) dy from left to right, between which the density is a normal one of this mass."""
    return moment_from_density(kernel, left, right, inside, math.exp(log_f(kernel, left, theta)), theta)


def moment_from_density(kernel, left, right, inside, first, theta):
    """Return the same, given the density at the left end."""
    sd = math.sqrt(theta[1])
    middle, half = (0.5 * (left + right) - theta[0]) / sd, 0.5 * (right - left) / sd
    if half * (abs(middle) + 0.5 * half) < SHORT:
        return inside * sd * (half - lean(middle, half))
    moment = (theta[0] - left) * inside + theta[1] * (first - math.exp(log_f(kernel, right, theta)))
    # Far from the mean the two terms are large and nearly cancel; the moment is at most that of all mass at the end.
    return min(max(moment, 0.0), (right - left) * inside)


def lean(middle, half):
    """Return by how much the mean of a standard normal law cut to [m − h, m + h] is below m.

    ∫ t φ(m + t) dt over ∫ φ(m + t) dt, each a series in h with the polynomials of Hermite at m: the difference that
    the moment is otherwise has terms of the order of the variance, however narrow the interval.
    """
    total, mass_there, even, odd, power = 0.0, 1.0, 1.0, middle, 1.0
    for k in range(1, TERMS + 1):
        power *= half * half / (2 * k - 1)  # h^2k/(2k−1)!
        total += odd * power / (2 * k + 1)
        even = middle * odd - (2 * k - 1) * even
        odd = middle * even - 2 * k * odd
        power /= 2 * k
        mass_there += even * power / (2 * k + 1)
    return total / mass_there
