"""Bins of a square wave's releases under a truncated normal kernel: their probabilities in closed form.

A bin from l to u has of the wave around y what lies within b of it. With H the integral of the distribution function F
of Y from −∞, that is on average ∫_l^u (F(z + b) − F(z − b)) dz = H(u + b) − H(l + b) − H(u − b) + H(l − b): two values
an edge. A rule with points sees a component that is narrower than their distance jump from point to point: a billion
records notice.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_f, mass
from privmix.pairs.normal_moments import moment_from

# A mean or a standard deviation beyond so many widths of the bounds leaves H few digits; then each bin is found alone.
FAR_WIDTHS = 100.0


def masses_of_wave(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin; the outermost end where the range of a release does."""
    low, reach = math.exp(mechanism.log_low), mechanism.reach
    more = math.exp(mechanism.log_high) - low
    end, width = mechanism.bounds[1] + reach, kernel.bounds[1] - kernel.bounds[0]
    is_far = abs(theta[0] - kernel.bounds[0]) + math.sqrt(theta[1]) > FAR_WIDTHS * width
    first, last = math.exp(log_f(kernel, kernel.bounds[0], theta)), math.exp(log_f(kernel, kernel.bounds[1], theta))
    mean = theta[0] + theta[1] * (first - last)
    left = max(edges[0], mechanism.bounds[0] - reach)
    behind = integral_of_cdf(kernel, left - reach, first, mean, theta)
    ahead = integral_of_cdf(kernel, left + reach, first, mean, theta)
    for j in range(len(out)):
        right, wave = min(edges[j + 1], end), 0.0
        if is_far:
            wave = (right - left) * mass(kernel, right - reach, right + reach, theta)
            wave += moment_from(kernel, left - reach, right - reach, theta)
            wave -= moment_from(kernel, left + reach, right + reach, theta)
        else:
            next_behind = integral_of_cdf(kernel, right - reach, first, mean, theta)
            next_ahead = integral_of_cdf(kernel, right + reach, first, mean, theta)
            wave = (next_ahead - ahead) - (next_behind - behind)
            behind, ahead = next_behind, next_ahead
        out[j] = low * (right - left) + more * max(wave, 0.0)
        left = right


def integral_of_cdf(kernel, x, first, mean, theta):
    """Return H(x) = ∫ (x − y) f(y) dy up to x, for a normal density cut at the bounds, at the lower one `first`."""
    if x <= kernel.bounds[0]:
        return 0.0
    if x >= kernel.bounds[1]:
        return x - mean
    inside = mass(kernel, kernel.bounds[0], x, theta)
    return (x - theta[0]) * inside + theta[1] * (math.exp(log_f(kernel, x, theta)) - first)
