"""Bins of a square wave's releases under a truncated normal kernel: their probabilities in closed form.

A bin from l to u has of the wave around y what lies within b of it. On average over Y that is
∫_l^u (F(z + b) − F(z − b)) dz = (u − l)(F(u + b) − F(u − b)) + R(l − b, u − b) − R(l + b, u + b), where
R(a, c) = ∫_a^c (y − a) f(y) dy follows from the mass of the interval and the density at its ends. A rule with points
sees a component that is narrower than their distance jump from point to point: a billion records notice.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_f, mass


def masses_of_wave(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin; the outermost end where the range of a release does."""
    low, reach = math.exp(mechanism.log_low), mechanism.reach
    more = math.exp(mechanism.log_high) - low
    start, end = mechanism.bounds[0] - reach, mechanism.bounds[1] + reach
    for j in range(len(out)):
        left, right = max(edges[j], start), min(edges[j + 1], end)
        wave = (right - left) * mass(kernel, right - reach, right + reach, theta)
        wave += moment_from(kernel, left - reach, right - reach, theta)
        wave -= moment_from(kernel, left + reach, right + reach, theta)
        out[j] = low * (right - left) + more * max(wave, 0.0)


def moment_from(kernel, left, right, theta):
    """Return ∫ (y − left) f(y) dy from left to right, for a normal density cut at the bounds."""
    first, last = max(left, kernel.bounds[0]), min(right, kernel.bounds[1])
    if not first < last:
        return 0.0
    inside = mass(kernel, first, last, theta)
    ends = math.exp(log_f(kernel, first, theta)) - math.exp(log_f(kernel, last, theta))
    moment = (theta[0] - first) * inside + theta[1] * ends
    # Far from the mean the two terms are large and nearly cancel; the moment is at most that of all mass at the end.
    return (first - left) * inside + min(max(moment, 0.0), (last - first) * inside)
