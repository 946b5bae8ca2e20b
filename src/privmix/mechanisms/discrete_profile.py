"""The exact privacy profile of discrete Gaussian noise on counts, and the scale that has a wanted (ε, δ).

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from privmix.mechanisms.discrete_noise import log_gaussian_sum
from privmix.mechanisms.gaussian import gaussian_scale
from privmix.parts.checks import positive, probability, single

# Sums over whole numbers: the profile of noise beyond this scale would take more than 10^8 terms.
LARGEST_PROFILED_SCALE = 1e6
# The root is found to 1e-14; this much is added so that rounding never leaves it on the wrong side.
SAFETY = 1e-12
# What lies this far below the largest term of a sum is left out: e^-60 = 9e-27.
DEPTH = 60.0


def discrete_gaussian_histogram_delta(scale: float, epsilon: float, moved: int = 2) -> float:
    """Return the exact delta at epsilon of a histogram with discrete Gaussian noise on every count.

    A replacement moves two counts, one down and one up. With X, Y the noise of the two, the privacy loss is
    (D + 1)/s^2, D = X - Y, and

        delta(epsilon) = sum_d P(D = d) (1 - e^(epsilon - (d + 1)/s^2))_+ .

    Completing the square, P(D = d) = e^(-d^2/(4 s^2)) S_d/Z^2 with Z = sum_k e^(-k^2/(2 s^2)) and
    S_d = sum_k e^(-(k - d/2)^2/s^2), which depends on d only through its being odd or even: the profile is one sum, and
    exact up to rounding. A record that is added or removed moves one count: D = X is the noise itself, and the loss is
    (D + 1/2)/s^2 (Canonne, Kamath and Steinke 2020).

    Parameters
    ----------
    scale : float
        s, at most 10^6; its square is the variance of the noise up to a correction below e^(-19 s^2).
    epsilon : float
        At least 0; at 0 the delta is the total variation distance.
    moved : int
        How many counts a neighbour moves by one: 2 by replacement, 1 by adding or removing a record.

    Returns
    -------
    float
        The smallest delta with which the release is (epsilon, delta)-DP.
    """
    s = _profiled_scale(scale)
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"The privacy profile was asked for at epsilon={epsilon!r}, but needs 0 <= epsilon < inf.")
    return math.exp(_log_delta(s, float(epsilon), moved))


def discrete_gaussian_histogram_scale(epsilon: float, delta: float, moved: int = 2) -> float:
    """Return a scale at which a histogram with discrete Gaussian noise is (epsilon, delta)-DP, and no smaller is near.

    A root of the exact profile `discrete_gaussian_histogram_delta`, rounded up. The search starts from the scale of
    continuous Gaussian noise of the same L2 sensitivity.

    Parameters
    ----------
    epsilon, delta : float
        Wanted guarantee.
    moved : int
        How many counts a neighbour moves by one: 2 by replacement, 1 by adding or removing a record.

    Returns
    -------
    float
        The scale s.
    """
    epsilon, delta = single("epsilon", epsilon), float(probability(delta))
    target = math.log(delta)
    start = float(gaussian_scale(math.sqrt(moved), epsilon=epsilon, delta=delta))
    low, high = 0.9 * start, 1.1 * start
    _profiled_scale(high)
    while _log_delta(low, epsilon, moved) <= target:
        low *= 0.7
    while _log_delta(high, epsilon, moved) > target:
        high *= 1.4
    from scipy.optimize import brentq  # loads slowly

    root = brentq(lambda x: _log_delta(math.exp(x), epsilon, moved) - target, math.log(low), math.log(high), rtol=1e-14)
    scale = math.exp(root) * (1 + SAFETY)
    while _log_delta(scale, epsilon, moved) > target:
        scale *= 1 + SAFETY
    return scale


def _log_delta(s: float, epsilon: float, moved: int) -> float:
    """Return the log of the exact profile."""
    variance, middle = s * s, 0.5 * moved
    first = math.floor(epsilon * variance - middle) + 1
    last = math.ceil(math.sqrt(max(first, 0) ** 2 + 2.0 * moved * variance * DEPTH)) + 2
    d = np.arange(max(first, -last), last + 1, dtype=np.float64)
    loss = epsilon - (d + middle) / variance
    d, loss = d[loss < 0.0], loss[loss < 0.0]
    log_p = -d * d / (2.0 * moved * variance) - moved * log_gaussian_sum(variance, 0.0)
    if moved == 2:
        even, odd = log_gaussian_sum(0.5 * variance, 0.0), log_gaussian_sum(0.5 * variance, 0.5)
        log_p += np.where(d % 2.0 == 0.0, even, odd)
    return min(float(logsumexp(log_p + np.log(-np.expm1(loss)))), 0.0)


def _profiled_scale(scale: float) -> float:
    s = float(positive("scale", scale))
    if s > LARGEST_PROFILED_SCALE:
        raise ValueError(
            f"The exact privacy profile of discrete Gaussian noise is summed over whole numbers, for scales up to "
            f"{LARGEST_PROFILED_SCALE:g}; the scale here is {s:g}. Calibrate with rho=, or use a larger epsilon or "
            f"delta."
        )
    return s
