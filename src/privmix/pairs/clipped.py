"""Clipped records with normal components: an atom at each bound, and between them the truncated normal's closed form.

    g(z|θ) = q(z|a) P(Y < a|θ) + q(z|b) P(Y > b|θ) + P(a ≤ Y ≤ b|θ) g₀(z|θ),

where g₀ is that of the same component truncated to the bounds. Y given z is drawn by which of the three it is, then
from the component beyond the bound or by the truncated pair.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from privmix.jit import slot
from privmix.kernels import Kernel, NormalKernel, TruncatedNormal
from privmix.kernels.slots import lower_tail, sample_between, upper_tail
from privmix.kernels.truncated_normal import LOG_MASS, log_peak
from privmix.mechanisms.clipped import ClippedRecords, unclipped_log_between, unclipped_log_q
from privmix.numerics import log_add_exp, uniform
from privmix.numerics.normal_intervals import scaled_mass
from privmix.pairs.base import Convolution


class Inside(NamedTuple):
    """The bounds, as the pairs of a truncated kernel read them."""

    bounds: tuple[float, float]


@slot
def inside_log_g(mechanism, kernel, z, theta):
    """Return log g of the component truncated to the bounds."""


@slot
def inside_draw(mechanism, kernel, rng, z, theta):
    """Draw Y of the component truncated to the bounds, given z."""


@slot
def inside_log_between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high) of the component truncated to the bounds."""


@slot
def inside_masses(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin of the component truncated to the bounds."""


def truncated_row(clip, theta):
    """Return a truncated normal's row of the same mean and variance: what `TruncatedNormal.prepare` writes."""
    mean, sd = theta[0], math.sqrt(theta[1])
    low, high = (clip[0] - mean) / sd, (clip[1] - mean) / sd
    mass = scaled_mass(low, high, (clip[1] - clip[0]) / sd)
    peak = min(max(mean, clip[0]), clip[1])
    log_peak_density = -0.5 * math.log(2.0 * math.pi * theta[1]) - math.log(mass)
    log_mass = math.log(mass) + log_peak(low, high)
    row = (mean, theta[1], sd, 0.5 / theta[1], log_peak_density, peak, 2.0 * mean - peak, low, high)
    return (*row, 1.0 / sd, 1.0 / mass, log_mass)


def log_or_none(value):
    """Return log x, −∞ at 0."""
    return math.log(value) if value > 0.0 else -math.inf


def log_weights(mechanism, kernel, z, theta, row):
    """Return the log of what records below, between and above the bounds give to g(z|θ)."""
    clip = mechanism.clip
    below = unclipped_log_q(mechanism, z, clip[0]) + log_or_none(lower_tail(kernel, clip[0], theta))
    above = unclipped_log_q(mechanism, z, clip[1]) + log_or_none(upper_tail(kernel, clip[1], theta))
    return below, row[LOG_MASS] + inside_log_g(mechanism, Inside(clip), z, row), above


def log_g(mechanism, kernel, z, theta):
    """Return log g(z|θ), the two atoms and what lies between them."""
    below, inside, above = log_weights(mechanism, kernel, z, theta, truncated_row(mechanism.clip, theta))
    return log_add_exp(inside, log_add_exp(below, above))


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: below, above or between the bounds."""
    clip = mechanism.clip
    row = truncated_row(clip, theta)
    below, inside, above = log_weights(mechanism, kernel, z, theta, row)
    total = log_add_exp(inside, log_add_exp(below, above))
    left = uniform(rng) - math.exp(inside - total)
    if left < 0.0:
        return inside_draw(mechanism, Inside(clip), rng, z, row)
    if left < math.exp(below - total):
        return sample_between(kernel, rng, theta, -math.inf, clip[0])
    return sample_between(kernel, rng, theta, clip[1], math.inf)


def log_between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high|θ)."""
    clip = mechanism.clip
    row = truncated_row(clip, theta)
    below = unclipped_log_between(mechanism, low, high, clip[0]) + log_or_none(lower_tail(kernel, clip[0], theta))
    above = unclipped_log_between(mechanism, low, high, clip[1]) + log_or_none(upper_tail(kernel, clip[1], theta))
    inside = row[LOG_MASS] + inside_log_between(mechanism, Inside(clip), low, high, row)
    return log_add_exp(inside, log_add_exp(below, above))


def masses(mechanism, kernel, edges, theta, out):
    """Write the probability of every bin: that of the truncated component, and what either atom adds."""
    clip = mechanism.clip
    row = truncated_row(clip, theta)
    inside_masses(mechanism, Inside(clip), edges, row, out)
    share, below, above = (
        math.exp(row[LOG_MASS]),
        lower_tail(kernel, clip[0], theta),
        upper_tail(kernel, clip[1], theta),
    )
    for b in range(len(out)):
        left = math.exp(unclipped_log_between(mechanism, edges[b], edges[b + 1], clip[0]))
        right = math.exp(unclipped_log_between(mechanism, edges[b], edges[b + 1], clip[1]))
        out[b] = share * out[b] + below * left + above * right


def clipped_convolution(mechanism: Any, kernel: Kernel, known: Any) -> Convolution | None:
    """Return the convolution of clipped records with normal components; None where it follows from nothing known.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    known
        A function that returns the convolution of another mechanism with a kernel, or None.
    """
    if not isinstance(mechanism, ClippedRecords) or not isinstance(kernel, NormalKernel):
        return None
    inner = known(mechanism.mechanism, TruncatedNormal(mechanism.clipped_at))
    if inner is None or inner.log_between is None or inner.masses is None:
        return None
    found = {inside_log_g: inner.log_g, inside_draw: inner.sample, inside_log_between: inner.log_between}
    extra = {**inner.extra, **found, inside_masses: inner.masses}
    forms = {"log_g": log_g, "sample": sample, "log_between": log_between, "masses": masses, "cdf": None}
    return replace(inner, name=f"{inner.name}, clipped", extra=extra, cost=2.0 * inner.cost, **forms)
