"""Bins of a square wave's releases under a truncated normal kernel: their probabilities in closed form.

A bin from l to u has of the wave around y what lies within b of it. With H the integral of the distribution function F
of Y from −∞, that is on average ∫_l^u (F(z + b) − F(z − b)) dz = H(u + b) − H(l + b) − H(u − b) + H(l − b): two values
an edge. A rule with points sees a component that is narrower than their distance jump from point to point: a billion
records notice. A wave that is far narrower than the component loses digits of H, but is 2b f(z) there. What lies
outside the mechanism's bounds counts as the nearest bound.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_f, lower_tail, mass, upper_tail
from privmix.pairs.normal_moments import moment_from, moment_from_density

# A wave so many standard deviations to either side is as good as a point: ∫F over it is 2bF, but for (b/σ)²/6. It must
# not reach from a bound to the edge of a bin.
NARROW_WAVE = 1e-4


def masses_of_wave(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin; the outermost end where the range of a release does."""
    low, reach = math.exp(mechanism.log_low), mechanism.reach
    more, (lower, upper) = math.exp(mechanism.log_high) - low, mechanism.bounds
    below, above = lower_tail(kernel, lower, theta), upper_tail(kernel, upper, theta)
    mean = lower * (1.0 - above) + upper * above + moment_from(kernel, lower, upper, theta)
    first = math.exp(log_f(kernel, max(lower, kernel.bounds[0]), theta))
    flat = min(math.sqrt(theta[1]), kernel.bounds[1] - kernel.bounds[0])
    is_narrow = reach < min(NARROW_WAVE * flat, 0.5 * (min(edges[1], upper) - lower))
    left, total = max(edges[0], lower - reach), 0.0
    behind = integral_of_cdf(mechanism, kernel, left - reach, below, first, mean, theta)
    ahead = integral_of_cdf(mechanism, kernel, left + reach, below, first, mean, theta)
    for j in range(len(out)):
        right = min(edges[j + 1], upper + reach)
        if is_narrow:
            wave = mass(kernel, max(left, lower), min(right, upper), theta)
            wave += (below if left < lower <= right else 0.0) + (above if left < upper <= right else 0.0)
            wave *= 2.0 * reach
        else:
            next_behind = integral_of_cdf(mechanism, kernel, right - reach, below, first, mean, theta)
            next_ahead = integral_of_cdf(mechanism, kernel, right + reach, below, first, mean, theta)
            wave = (next_ahead - ahead) - (next_behind - behind)
            behind, ahead = next_behind, next_ahead
        out[j] = low * (right - left) + more * max(wave, 0.0)
        total += out[j]
        left = right
    for j in range(len(out)):
        out[j] /= total  # what rounding put at some bins and not at others


def integral_of_cdf(mechanism, kernel, x, below, first, mean, theta):
    """Return H(x) = ∫ F up to x, F of records of which `below` count as the lower bound and others as the upper one.

    The density is `first` where it begins within the bounds, and `mean` is the mean of the records.
    """
    lower, start = mechanism.bounds[0], max(mechanism.bounds[0], kernel.bounds[0])
    if x <= lower:
        return 0.0
    if x >= min(mechanism.bounds[1], kernel.bounds[1]):
        return x - mean
    if x <= start:
        return (x - lower) * below
    inside = mass(kernel, start, x, theta)
    return (x - lower) * below + (x - start) * inside - moment_from_density(kernel, start, x, inside, first, theta)
