"""Records that were clamped, rounded or withheld, with any kernel whose noisy records have a known law.

g of a published record is that of the noisy one, or P(low < Z ≤ high|θ) where several lead to it. Y given such an
interval is drawn from the kernel and kept with probability P(low < Z ≤ high|y), where one in ten or more is; else the
noisy record is drawn first, by inversion of its distribution function inside the interval, then Y given that.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from privmix.jit import slot
from privmix.kernels import Kernel
from privmix.mechanisms.processed_records import ProcessedRecords, noisy_log_between
from privmix.numerics import exponential, uniform
from privmix.numerics.incomplete_beta import newton_or_bisect
from privmix.pairs.base import Convolution

# Log of the probability of an interval from which on Y is drawn by tries: ten at most, on average.
TRIES_FROM = -math.log(10.0)
# Steps of an inversion: a bisection alone halves the bracket to nothing in so many.
MOST_STEPS = 200
# Cost of a probability of an interval, in that of g.
COST_OF_TWO_ENDS = 2.0


@slot
def noisy_log_g(mechanism, kernel, z, theta):
    """Return log g of a noisy record."""


@slot
def noisy_draw_given(mechanism, kernel, rng, z, theta):
    """Draw Y given a noisy record."""


@slot
def between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high|θ) of a noisy record."""


@slot
def kernel_draw(kernel, rng, theta):
    """Draw Y from the kernel."""


def log_g(mechanism, kernel, z, theta):
    """Return the log density of the noisy record behind a published one, or the log mass of those between its ends."""
    if z[0] == z[1]:
        return noisy_log_g(mechanism, kernel, z[0], theta)
    return between(mechanism, kernel, z[0], z[1], theta)


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given a published record."""
    if z[0] == z[1]:
        return noisy_draw_given(mechanism, kernel, rng, z[0], theta)
    total = between(mechanism, kernel, z[0], z[1], theta)
    if total > TRIES_FROM:
        return draw_by_tries(mechanism, kernel, rng, z[0], z[1], theta)
    noisy = draw_between(mechanism, kernel, rng, z[0], z[1], theta, total)
    return noisy_draw_given(mechanism, kernel, rng, noisy, theta)


def draw_by_tries(mechanism, kernel, rng, low, high, theta):
    """Draw Y from the kernel until one is kept."""
    while True:
        y = kernel_draw(kernel, rng, theta)
        if exponential(rng) >= -noisy_log_between(mechanism, low, high, y):
            return y


def draw_between(mechanism, kernel, rng, low, high, theta, total):
    """Draw the noisy record between two ends: its distance from the end where it is likelier, by inversion."""
    from_low = low > -math.inf
    if from_low and high < math.inf:
        from_low = noisy_log_g(mechanism, kernel, low, theta) >= noisy_log_g(mechanism, kernel, high, theta)
    end, sign = (low, 1.0) if from_low else (high, -1.0)
    share, width = 1.0 - uniform(rng), high - low
    # The mass over the density at the end is the length of a tail.
    t = min(math.exp(min(total - noisy_log_g(mechanism, kernel, end, theta), 700.0)), width)
    while t < width and mass_from(mechanism, kernel, end, sign, t, theta, total) < share:
        t = min(2.0 * t, width)
    shortest, longest, t = 0.0, t, share * t
    for _ in range(MOST_STEPS):
        value = mass_from(mechanism, kernel, end, sign, t, theta, total) - share
        slope = math.exp(noisy_log_g(mechanism, kernel, end + sign * t, theta) - total)
        shortest, longest, following = newton_or_bisect(shortest, longest, t, value, slope)
        if abs(following - t) <= 1e-13 * longest:
            break
        t = following
    return end + sign * t


def mass_from(mechanism, kernel, end, sign, t, theta, total):
    """Return the share of the mass within a distance from an end."""
    low, high = (end, end + t) if sign > 0.0 else (end - t, end)
    return math.exp(between(mechanism, kernel, low, high, theta) - total) if low < high else 0.0


def difference_of_cdf(mechanism, kernel, low, high, theta):
    """Return log(G(high) − G(low)), where a pair has no more than its distribution function."""
    below = noisy_cdf(mechanism, kernel, low, theta) if low > -math.inf else 0.0
    upto = noisy_cdf(mechanism, kernel, high, theta) if high < math.inf else 1.0
    return math.log(upto - below) if upto > below else -math.inf


@slot
def noisy_cdf(mechanism, kernel, z, theta):
    """Return P(Z ≤ z|θ) of a noisy record."""


def processed_convolution(mechanism: Any, kernel: Kernel, noisy: Any) -> Convolution | None:
    """Return the convolution of records after post-processing; None where it follows from nothing that is known.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    noisy
        A function that returns the convolution of another mechanism with the kernel, or None.
    """
    if not isinstance(mechanism, ProcessedRecords) or kernel.dimension > 1:
        return None
    inner = noisy(mechanism.mechanism, kernel)
    if inner is None or (inner.log_between is None and inner.cdf is None):
        return None
    found: dict[Any, Any] = {between: inner.log_between} if inner.log_between else {between: difference_of_cdf}
    if inner.cdf:
        found[noisy_cdf] = inner.cdf
    extra = {**inner.extra, **found, noisy_log_g: inner.log_g, noisy_draw_given: inner.sample}
    extra[kernel_draw] = type(kernel).sample  # type: ignore[attr-defined]
    cost = COST_OF_TWO_ENDS * inner.cost
    name = f"{inner.name}, post-processed"
    return replace(inner, name=name, log_g=log_g, sample=sample, masses=None, extra=extra, cost=cost)
