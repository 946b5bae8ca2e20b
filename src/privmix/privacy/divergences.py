"""Divergences between two laws of an output: a real number, on a grid that finds its own window, or counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Array]
#: log probabilities of counts on one grid of whole numbers, under either of two data sets; a pair for each count
LawsOfCounts = list[tuple[Array, Array]]
#: log densities of independent real numbers under either of two data sets; a pair for each number
Densities = list[tuple[LogDensity, LogDensity]]

#: orders at which Renyi divergences are tried
ALPHAS = (1.01, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
COARSE, FINE = 2001, 20001
# What lies this far below the largest value of a log integrand is left out: e^-40 = 4e-18.
DEPTH = 40.0
# Most terms of a sum over a lattice.
LARGEST_SUM = 10_000_000
# Gauss's rule with so many nodes integrates a normal density over 18 standard deviations to the last digit.
HOCKEY_NODES = 200


class Integral(NamedTuple):
    """The log of an integral and where its integrand is largest."""

    log: float
    mode: float


def hockey_stick(log_p: LogDensity, log_q: LogDensity, epsilon: float) -> LogDensity:
    """Return the log of (p - e^epsilon q)_+, whose integral is the delta of this pair at epsilon."""

    def integrand(z: Array) -> Array:
        p, q = log_p(z), log_q(z)
        value = np.full(z.shape, -np.inf)
        inside = p > epsilon + q
        value[inside] = p[inside] + np.log(-np.expm1(epsilon + q[inside] - p[inside]))
        return value

    return integrand


def renyi(log_p: LogDensity, log_q: LogDensity, alpha: float) -> LogDensity:
    """Return the log of p^alpha q^(1-alpha), whose log integral is (alpha - 1) D_alpha(p || q)."""

    def integrand(z: Array) -> Array:
        p, q = log_p(z), log_q(z)
        value = np.full(z.shape, -np.inf)
        inside = p > -np.inf
        value[inside] = alpha * p[inside] - (alpha - 1) * q[inside]
        return value

    return integrand


def renyi_of_counts(pairs: LawsOfCounts) -> tuple[float, list[int]]:
    """Return the largest D_alpha / alpha and where: divergences of independent counts add up."""
    found = []
    for alpha in ALPHAS:
        terms = [alpha * p - (alpha - 1.0) * q for p, q in pairs]
        divergence = sum(float(logsumexp(term)) for term in terms) / (alpha - 1.0)
        found.append((divergence / alpha, [int(term.argmax()) for term in terms]))
    return max(found, key=lambda case: case[0])


def hockey_stick_of_counts(pairs: LawsOfCounts, epsilon: float) -> tuple[float, list[int]]:
    """Return sum (p - e^epsilon q)_+ over the whole numbers of the one or two counts that change, and where."""
    nothing = (np.zeros(1), np.zeros(1))
    (p_a, q_a), (p_b, q_b) = pairs if len(pairs) == 2 else [pairs[0], nothing]
    p, q = p_a[:, None] + p_b, q_a[:, None] + q_b
    excess = np.where(p > epsilon + q, np.exp(p) * -np.expm1(np.minimum(epsilon + q - p, 0.0)), 0.0)
    return float(excess.sum()), [int(k) for k in np.unravel_index(excess.argmax(), excess.shape)][: len(pairs)]


def renyi_of_densities(pairs: Densities) -> tuple[float, list[float]]:
    """Return the largest D_alpha / alpha and where: divergences of independent numbers add up."""
    found = []
    for alpha in ALPHAS:
        parts = [log_integral(renyi(p, q, alpha), -1.0, 1.0, np.zeros(0)) for p, q in pairs]
        found.append((sum(part.log for part in parts) / (alpha * (alpha - 1.0)), [part.mode for part in parts]))
    return max(found, key=lambda case: case[0])


def hockey_stick_of_densities(pairs: Densities, epsilon: float) -> tuple[float, list[float]]:
    """Return the integral of (p - e^epsilon q)_+ over the one or two numbers that change, and where it is largest.

    The log-ratio of each must rise or fall throughout, as that of Gaussian noise does. The integral over the last
    number is split where the integrand leaves 0; what it gives is smooth in the first, so that trapezoids lose nothing.
    """
    (p, q), *rest = pairs
    if not rest:
        value, where = _excess_beyond(p, q, np.array([epsilon]))
        return float(value[0]), [float(where[0])]
    low, high = _narrow(p, *_widen(p, -1.0, 1.0, np.zeros(0)), np.zeros(0))
    first = np.linspace(low, high, COARSE)
    value, where = _excess_beyond(*rest[0], epsilon + q(first) - p(first))
    value = value * np.exp(p(first))
    top = int(value.argmax())
    return float(np.sum(value) * (first[1] - first[0])), [float(first[top]), float(where[top])]


def _excess_beyond(p: LogDensity, q: LogDensity, budget: Array) -> tuple[Array, Array]:
    """Return the integral of (p - e^budget q)_+ for each budget, and where it begins to be positive."""
    low, high = _narrow(p, *_widen(p, -1.0, 1.0, np.zeros(0)), np.zeros(0))
    rises = p(np.array([high])) - q(np.array([high])) > p(np.array([low])) - q(np.array([low]))
    below, above = np.full(len(budget), low), np.full(len(budget), high)
    for _ in range(60):
        middle = 0.5 * (below + above)
        beyond = (p(middle) - q(middle) > budget) == rises
        below, above = np.where(beyond, below, middle), np.where(beyond, middle, above)
    start, end = (below, np.full(len(budget), high)) if rises else (np.full(len(budget), low), above)
    nodes, weights = np.polynomial.legendre.leggauss(HOCKEY_NODES)
    z = start[:, None] + (end - start)[:, None] * 0.5 * (1.0 + nodes)
    excess = np.exp(p(z)) * -np.expm1(np.minimum(budget[:, None] + q(z) - p(z), 0.0))
    return 0.5 * (end - start) * (excess @ weights), 0.5 * (below + above)


def log_integral(integrand: LogDensity, low: float, high: float, seeds: Array) -> Integral:
    """Integrate exp(integrand) over the line: widen the window, narrow it to what counts, then trapezoids.

    The window starts at [low, high] and doubles until the integrand is negligible at both ends, then shrinks
    to the points within e^-40 of the largest. A smooth integrand is found wherever it lies, also many noise
    scales outside the bounds, where Renyi divergences of a high order live. `seeds` are points that every
    coarse grid contains.
    """
    low, high = _widen(integrand, low, high, seeds)
    low, high = _narrow(integrand, low, high, seeds)
    return integrate_on(integrand, np.linspace(low, high, FINE))


def log_sum(integrand: LogDensity, step: float, y: Array) -> Integral:
    """Sum exp(integrand) over all multiples of a step: the window doubles until both its ends are negligible."""
    first, last = math.floor(y[0] / step) - 16, math.ceil(y[-1] / step) + 16
    while last - first < LARGEST_SUM:
        z = step * np.arange(first, last + 1.0)
        values = integrand(z)
        top = int(np.argmax(values))
        nowhere = values[top] == -np.inf and last - first > 1000 * (y[-1] - y[0]) / step + 1000
        if nowhere or max(values[0], values[-1]) < values[top] - DEPTH:
            return Integral(float(logsumexp(values)), float(z[top]))
        first, last = first - (last - first), last + (last - first)
    raise ValueError(
        f"The audit sums over multiples of {step:g}, and the noise reaches over more than {LARGEST_SUM:g} of them. "
        "Audit a mechanism with a larger step: its claim has the same formula."
    )


def integrate_on(integrand: LogDensity, z: Array) -> Integral:
    """Integrate exp(integrand) by the trapezoid rule on the points z, which are sorted."""
    values = integrand(z)
    top = int(np.argmax(values))
    if not np.isfinite(values[top]):
        return Integral(float(values[top]), float(z[top]))
    widths = np.convolve(np.diff(z), [0.5, 0.5])
    return Integral(float(logsumexp(values, b=widths)), float(z[top]))


def _coarse(low: float, high: float, seeds: Array) -> Array:
    inside = seeds[(seeds > low) & (seeds < high)]
    return np.union1d(np.linspace(low, high, COARSE), inside)


def _widen(integrand: LogDensity, low: float, high: float, seeds: Array) -> tuple[float, float]:
    """Double the window until both ends are negligible; at most 60 times (2^60 exceeds any sane noise)."""
    for _ in range(60):
        values = integrand(_coarse(low, high, seeds))
        if max(values[0], values[-1]) < values.max() - DEPTH:
            break
        half = (high - low) / 2
        low, high = low - half, high + half
    return low, high


def _narrow(integrand: LogDensity, low: float, high: float, seeds: Array) -> tuple[float, float]:
    """Shrink the window to the points that count, until it no longer halves."""
    for _ in range(60):
        z = _coarse(low, high, seeds)
        values = integrand(z)
        counts = np.flatnonzero(values > values.max() - DEPTH)
        if counts.size == 0:
            break
        first, last = z[max(counts[0] - 1, 0)], z[min(counts[-1] + 1, z.size - 1)]
        shrunk = last - first < (high - low) / 2
        low, high = float(first), float(last)
        if not shrunk:
            break
    return low, high
