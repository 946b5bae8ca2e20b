"""First moments of a normal component over an interval: from its mass there and its density at the ends."""

from __future__ import annotations

import math

from privmix.kernels.slots import log_f, mass


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
    ends = math.exp(log_f(kernel, left, theta)) - math.exp(log_f(kernel, right, theta))
    moment = (theta[0] - left) * inside + theta[1] * ends
    # Far from the mean the two terms are large and nearly cancel; the moment is at most that of all mass at the end.
    return min(max(moment, 0.0), (right - left) * inside)
