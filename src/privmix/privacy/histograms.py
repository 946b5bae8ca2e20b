"""How much noise a histogram needs, and what a given noise guarantees.

Neighbours are data sets in which one record is replaced; the number of records is public. A replacement that matters
takes 1 from the count of a bin and adds 1 to that of another: L1 sensitivity 2, L2 sensitivity sqrt 2.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC.
Wasserman, L. and Zhou, S. (2010). A statistical framework for differential privacy. JASA.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from privmix.privacy.arguments import positive, probability, single
from privmix.privacy.gaussian import gaussian_scale

#: how far the counts move in L1 and L2 when one record is replaced
L1_SENSITIVITY, L2_SENSITIVITY = 2.0, math.sqrt(2.0)
# e^700 is the largest power of e, rounded, that leaves room for the number of records in a float.
LARGEST_BUDGET = 700.0
# The root is found to 1e-14; this much is added so that rounding never leaves it on the wrong side.
SAFETY = 1e-12
# Sums over whole numbers: the profile of noise beyond this scale would take more than 10^8 terms.
LARGEST_SCALE = 1e6
# What lies this far below the largest term of a sum is left out: e^-60 = 9e-27.
DEPTH = 60.0


def smoothed_histogram_odds(records: int, draws: int, epsilon: float, narrowest: float) -> float:
    """Return the largest odds (1 - delta)/delta of the data against the uniform share in a smoothed histogram.

    A draw has the density (1 - delta) c_j/(n |B_j|) + delta/W in bin j, with W the width of the bounds. Replacing one
    record adds 1 to one count, which multiplies the density there by at most 1 + odds W/(n |B_j|), reached from
    c_j = 0; in the bin that loses a record the inverse holds. All k draws in the narrowest bin attain the bound, so
    epsilon-DP is

        k log(1 + odds W/(n min|B_j|)) <= epsilon,

    and equality gives odds = n (min|B_j|/W) (e^(epsilon/k) - 1): no search is needed. (The paper prints -1 for +1,
    which is no bound: a nominal epsilon of 2 is then truly 31.4 at n = 250, k = 28.)

    Parameters
    ----------
    records : int
        Number n of records, public.
    draws : int
        Number k of draws that are released.
    epsilon : float
        Budget of pure differential privacy for the whole release; epsilon/k at most 700.
    narrowest : float
        Width of the narrowest bin as a share of the bounds, min|B_j|/W.

    Returns
    -------
    float
        The odds; the uniform share is delta = 1/(1 + odds).
    """
    budget = single("epsilon", epsilon) / draws
    if budget > LARGEST_BUDGET:
        raise ValueError(
            f"The smoothed histogram was given epsilon={epsilon!r} for {draws} draws, but needs epsilon/draws <= "
            f"{LARGEST_BUDGET:g}: beyond, the uniform share is below the smallest float and the release is a sample of "
            f"the data's own histogram. Give a smaller epsilon, or release more draws."
        )
    odds = records * narrowest * math.expm1(budget)
    if not odds > 0.0:
        raise ValueError(
            f"The smoothed histogram was given epsilon={epsilon!r} for {draws} draws, which leaves the data a share "
            f"below the smallest float. Give a larger epsilon."
        )
    return odds


def smoothed_histogram_epsilon(records: int, draws: int, odds: float, narrowest: float) -> float:
    """Return the exact epsilon of a smoothed histogram, the inverse of `smoothed_histogram_odds`.

    Parameters
    ----------
    records, draws, narrowest
        As there.
    odds : float
        (1 - delta)/delta, with delta the uniform share.

    Returns
    -------
    float
        The smallest epsilon for which the release is epsilon-DP.
    """
    return draws * math.log1p(single("odds", odds) / (records * narrowest))


def discrete_gaussian_histogram_delta(scale: float, epsilon: float) -> float:
    """Return the exact delta at epsilon of a histogram with discrete Gaussian noise on every count.

    A replacement moves two counts, one down and one up. With X, Y the noise of the two, the privacy loss is
    (D + 1)/s^2, D = X - Y, and

        delta(epsilon) = sum_d P(D = d) (1 - e^(epsilon - (d + 1)/s^2))_+ .

    Completing the square, P(D = d) = e^(-d^2/(4 s^2)) S_d/Z^2 with Z = sum_k e^(-k^2/(2 s^2)) and
    S_d = sum_k e^(-(k - d/2)^2/s^2), which depends on d only through its being odd or even: the profile is one sum, and
    exact up to rounding. (For one count: Canonne, Kamath and Steinke 2020.)

    Parameters
    ----------
    scale : float
        s, at most 10^6; its square is the variance of the noise up to a correction below e^(-19 s^2).
    epsilon : float
        At least 0; at 0 the delta is the total variation distance.

    Returns
    -------
    float
        The smallest delta with which the release is (epsilon, delta)-DP.
    """
    s = _bounded_scale(scale)
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"The privacy profile was asked for at epsilon={epsilon!r}, but needs 0 <= epsilon < inf.")
    return math.exp(_log_delta(s, float(epsilon)))


def discrete_gaussian_histogram_scale(epsilon: float, delta: float) -> float:
    """Return a scale at which a histogram with discrete Gaussian noise is (epsilon, delta)-DP, and no smaller is near.

    A root of the exact profile `discrete_gaussian_histogram_delta`, rounded up. The search starts from the scale of
    continuous Gaussian noise of L2 sensitivity sqrt 2.

    Parameters
    ----------
    epsilon, delta : float
        Wanted guarantee.

    Returns
    -------
    float
        The scale s.
    """
    epsilon, delta = single("epsilon", epsilon), float(probability(delta))
    target = math.log(delta)
    start = float(gaussian_scale(L2_SENSITIVITY, epsilon=epsilon, delta=delta))
    low, high = 0.9 * start, 1.1 * start
    _bounded_scale(high)
    while _log_delta(low, epsilon) <= target:
        low *= 0.7
    while _log_delta(high, epsilon) > target:
        high *= 1.4
    root = brentq(lambda x: _log_delta(math.exp(x), epsilon) - target, math.log(low), math.log(high), rtol=1e-14)
    scale = math.exp(root) * (1 + SAFETY)
    while _log_delta(scale, epsilon) > target:
        scale *= 1 + SAFETY
    return scale


def log_discrete_gaussian_norm(scale: float) -> float:
    """Return log sum_k e^(-k^2/(2 s^2)) over all whole numbers k, the normaliser of the discrete Gaussian."""
    return _log_sum(scale * scale, 0.0)


def _log_delta(s: float, epsilon: float) -> float:
    """Return the log of the exact profile."""
    variance = s * s
    first = math.floor(epsilon * variance - 1.0) + 1
    last = math.ceil(math.sqrt(max(first, 0) ** 2 + 4.0 * variance * DEPTH)) + 2
    d = np.arange(max(first, -last), last + 1, dtype=np.float64)
    loss = epsilon - (d + 1.0) / variance
    d, loss = d[loss < 0.0], loss[loss < 0.0]
    even, odd = _log_sum(0.5 * variance, 0.0), _log_sum(0.5 * variance, 0.5)
    log_p = -d * d / (4.0 * variance) + np.where(d % 2.0 == 0.0, even, odd) - 2.0 * _log_sum(variance, 0.0)
    return min(float(logsumexp(log_p + np.log(-np.expm1(loss)))), 0.0)


def _log_sum(variance: float, shift: float) -> float:
    """Return log sum_k exp(-(k - shift)^2/(2 variance)) over all whole numbers k.

    Directly where few terms count, else by Poisson's formula, whose terms beyond the fifth are below e^-98.
    """
    if variance < 0.2:
        k = np.arange(-10, 11)
        return float(logsumexp(-((k - shift) ** 2) / (2.0 * variance)))
    m = np.arange(1, 6)
    waves = 2.0 * np.sum(np.cos(2.0 * math.pi * m * shift) * np.exp(-2.0 * math.pi**2 * variance * m * m))
    return 0.5 * math.log(2.0 * math.pi * variance) + math.log1p(float(waves))


def _bounded_scale(scale: float) -> float:
    s = float(positive("scale", scale))
    if s > LARGEST_SCALE:
        raise ValueError(
            f"The exact privacy profile of discrete Gaussian noise is summed over whole numbers, for scales up to "
            f"{LARGEST_SCALE:g}; the scale here is {s:g}. Calibrate with rho=, or use a larger epsilon or delta."
        )
    return s
