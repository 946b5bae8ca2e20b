"""Zero-concentrated privacy from ε and total variation: what a bounded log-ratio and a bounded distance give together.

Theorem. Let P and Q have log-ratios within [−ε, ε] and total variation τ, and let E = e^ε. Then for every α > 1

    e^{(α − 1) D_α(P‖Q)} ≤ 1 + τ (E^α + E^{1−α} − E − 1)/(E − 1),

with equality if and only if dP/dQ takes no values but E, 1 and 1/E.

Proof. Let r = dP/dQ and f(r) = r^α − 1, which is convex with f(1) = 0. So f lies below its chords: f(r) ≤ f(E)(r − 1)/
(E − 1) on [1, E] and f(r) ≤ f(1/E)(1 − r)/(1 − 1/E) on [1/E, 1]. Under Q the means of (r − 1)₊ and of (1 − r)₊ are both
τ, so the mean of f(r), the left side less one, is at most τ (f(E)/(E − 1) + f(1/E)/(1 − 1/E)): the formula. ∎

ρ is the largest D_α/α over α > 1. As α → 1 it is τε, the Kullback–Leibler divergence of the three ratios; and
D_α/α ≤ ε/α, so no α above 1/τ matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

# The largest D_α/α is enclosed to this relative width, and its upper end is claimed.
WIDTH = 1e-11
# Beyond this ε a release is the data themselves for any practical purpose, and e^ε leaves the range of floats.
LARGEST_EPSILON = 700.0


def variation_rho(epsilon: float, variation: float) -> float:
    """Return the ρ of zero-concentrated privacy that follows from ε and a total variation.

    The largest D_α/α is enclosed by halving intervals of α. K(α) = (α − 1) D_α is convex (it is a cumulant generating
    function), so on an interval it is below its chord, and the chord over α(α − 1) has one maximum, in closed form.
    What is returned is the upper end: a bound, and within 1e-11 of the best where there are three ratios.

    Parameters
    ----------
    epsilon : float
        Pure differential privacy that holds.
    variation : float
        Largest total variation between the releases of two records, at most tanh(ε/2).

    Returns
    -------
    float
        At most ε²/2, which is all that ε alone gives.
    """
    least, furthest = variation * epsilon, 1.0 / variation
    if furthest < 1.0 + 1e-9:
        return min(epsilon, 0.5 * epsilon**2)
    low, high = np.ones(1), np.full(1, furthest)
    while low.size:
        least = max(least, float(np.max(_scaled(high, epsilon, variation) / (high * (high - 1.0)))))
        open_ = _bound(low, high, epsilon, variation) > least * (1.0 + WIDTH)
        low, high = low[open_], high[open_]
        middle = 0.5 * (low + high)
        apart = (middle > low) & (middle < high)  # else floats cannot tell them apart, nor their values
        low, high = np.append(low[apart], middle[apart]), np.append(middle[apart], high[apart])
    return min(least * (1.0 + WIDTH), 0.5 * epsilon**2)


def rho_epsilon(rho: float, variation_of: Callable[[float], float]) -> float:
    """Return the ε at which a mechanism whose total variation depends on ε spends ρ.

    Parameters
    ----------
    rho : float
        Budget of zero-concentrated privacy.
    variation_of : callable
        The mechanism's total variation at ε.

    Returns
    -------
    float
        At least √(2ρ), with `variation_rho` at most ρ.
    """
    from scipy.optimize import brentq  # loads slowly

    def excess(epsilon: float) -> float:
        return variation_rho(epsilon, variation_of(epsilon)) - rho

    low = min(math.sqrt(2.0 * rho), LARGEST_EPSILON)
    high = low
    while excess(high) <= 0.0:
        low, high = high, 1.5 * high
        if high > LARGEST_EPSILON:
            raise ValueError(
                f"The noise was to be calibrated with rho={rho!r}, but needs an epsilon of at most "
                f"{LARGEST_EPSILON:g}. Such a release is the data themselves; use a smaller rho."
            )
    epsilon = float(brentq(excess, low, high, xtol=1e-13, rtol=1e-13))
    while excess(epsilon) > 0.0:  # the root is found up to rounding: claim no more than was wanted
        epsilon *= 1.0 - 1e-13
    return epsilon


def _scaled(alpha: np.ndarray, epsilon: float, variation: float) -> np.ndarray:
    """Return K(α) = (α − 1) D_α of the three ratios, in logarithms where e^{αε} leaves the range of floats."""
    rise = (alpha - 1.0) * epsilon
    with np.errstate(divide="ignore"):  # log 0 at α = 1, where K is 0
        log_rise = rise + np.log(-np.expm1(-rise))
    return np.logaddexp(0.0, math.log(variation) + log_rise + np.log(np.expm1(-alpha * epsilon) / np.expm1(-epsilon)))


def _bound(low: np.ndarray, high: np.ndarray, epsilon: float, variation: float) -> np.ndarray:
    """Return an upper bound of K(α)/(α(α − 1)) on each interval.

    The chord A + sα of K has A + s ≤ K(1) = 0, so that over α(α − 1) it rises to α = (−A + √(A(A + s)))/s and falls
    beyond. Where the interval begins at 1 the chord over α − 1 is D at its right end, and α is at least 1.
    """
    left, right = _scaled(low, epsilon, variation), _scaled(high, epsilon, variation)
    slope = (right - left) / (high - low)
    offset = left - slope * low
    top = (-offset + np.sqrt(np.maximum(offset * (offset + slope), 0.0))) / slope
    top = np.clip(top, low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (left + slope * (top - low)) / (top * (top - 1.0))
    return np.where(low == 1.0, right / (high - 1.0), found)
