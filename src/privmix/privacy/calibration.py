"""How much noise a guarantee asks for, and what a given noise guarantees.

`sensitivity` is the largest distance between the noiseless outputs of two neighbouring inputs: in L1 for
Laplace noise, in L2 for Gaussian noise; for a number released from [lo, hi] both are hi - lo.

References
----------
Balle, B. and Wang, Y.-X. (2018). Improving the Gaussian mechanism for differential privacy: analytical
    calibration and optimal denoising. ICML.
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower
    bounds. TCC 2016-B.
Butucea, C., Dubois, A., Kroll, M. and Saumard, A. (2020). Local differential privacy: elbow effect in optimal
    density estimation and adaptation over Besov ellipsoids. Bernoulli.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
Kairouz, P., Bonawitz, K. and Ramage, D. (2016). Discrete distribution estimation under local privacy. ICML.
Li, Z., Wang, T., Lopuhaa-Zwakenberg, M., Skoric, B. and Li, N. (2020). Estimating numerical distributions under
    local differential privacy. SIGMOD.
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtri

FloatOrArray = float | NDArray[np.float64]

# The root is found to about 1e-14; this much is added so that rounding never leaves it on the wrong side.
SAFETY = 1e-12
# Enough for exp(-u) on [0, 42], the widest integrand of `_log_gap`, to double precision.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
# The square wave is about epsilon e^-epsilon wide: beyond this its width and its height leave the range of floats.
LARGEST_EPSILON = 700.0


def laplace_scale(
    sensitivity: ArrayLike, *, epsilon: ArrayLike | None = None, rho: ArrayLike | None = None
) -> FloatOrArray:
    """Return the scale of Laplace noise for a budget: sensitivity / epsilon.

    Noise of density exp(-|x|/s)/(2s) changes its log density by at most Delta/s when its centre moves by
    Delta (Dwork and Roth 2014, Theorem 3.6). With `rho`, epsilon = sqrt(2 rho), because epsilon-DP implies
    (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4).

    Parameters
    ----------
    sensitivity : float or array
        L1 sensitivity.
    epsilon, rho : float or array
        Exactly one; an array gives a budget to each record.

    Returns
    -------
    float or ndarray
        An array where any argument is one.
    """
    if (epsilon is None) == (rho is None):
        raise ValueError(
            f"laplace_scale was given epsilon={epsilon!r} and rho={rho!r}, but needs exactly one of them. "
            f"Give epsilon for pure differential privacy or rho for the zero-concentrated kind."
        )
    width = _positive("sensitivity", sensitivity)
    budget = np.sqrt(2 * _positive("rho", rho)) if epsilon is None else _positive("epsilon", epsilon)
    return _plain(width / budget)


def gaussian_scale(
    sensitivity: ArrayLike,
    *,
    epsilon: ArrayLike | None = None,
    delta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
) -> FloatOrArray:
    """Return the smallest standard deviation of Gaussian noise for a budget.

    With `epsilon` and `delta` it is the analytic Gaussian mechanism: the smallest eta with

        Phi(Delta/(2 eta) - epsilon eta/Delta) - e^epsilon Phi(-Delta/(2 eta) - epsilon eta/Delta) <= delta,

    necessary and sufficient at every epsilon (Balle and Wang 2018, Theorem 8), rounded up by a relative
    1e-12. With `rho`, eta = Delta / sqrt(2 rho) (Bun and Steinke 2016, Proposition 1.6).

    Parameters
    ----------
    sensitivity : float or array
        L2 sensitivity.
    epsilon, delta : float or array
        Both or neither.
    rho : float or array
        Instead of epsilon and delta.

    Returns
    -------
    float or ndarray
        An array where any argument is one.
    """
    given = (epsilon is not None, delta is not None, rho is not None)
    if given not in {(True, True, False), (False, False, True)}:
        raise ValueError(
            f"gaussian_scale was given epsilon={epsilon!r}, delta={delta!r} and rho={rho!r}, but needs "
            f"either epsilon with delta, or rho alone. Gaussian noise is not epsilon-DP at any scale: add a "
            f"delta, or use Laplace noise."
        )
    width = _positive("sensitivity", sensitivity)
    if rho is not None:
        return _plain(width / np.sqrt(2 * _positive("rho", rho)))
    budgets = np.broadcast_arrays(_positive("epsilon", epsilon), _probability(delta))
    ratios = [_largest_ratio(float(e), float(d)) for e, d in zip(*map(np.ravel, budgets), strict=True)]
    return _plain(width / np.reshape(ratios, budgets[0].shape))


def gaussian_delta(sensitivity: float, scale: float, epsilon: float) -> float:
    """Return the exact delta of Gaussian noise at epsilon (Balle and Wang 2018, Theorem 8).

    Parameters
    ----------
    sensitivity : float
        L2 sensitivity.
    scale : float
        Standard deviation of the noise.
    epsilon : float
        At least 0; at 0 the delta is the total variation distance.

    Returns
    -------
    float
        The smallest delta with which the noise is (epsilon, delta)-DP; it underflows to 0 below 1e-308.
    """
    ratio = float(_positive("sensitivity", sensitivity) / _positive("scale", scale))
    if not 0 <= epsilon < math.inf:
        raise ValueError(
            f"gaussian_delta was given epsilon={epsilon!r}, but needs 0 <= epsilon and finite. "
            f"Give the epsilon at which you want to know delta."
        )
    return math.exp(_log_delta(ratio, float(epsilon)))


def gaussian_epsilon(sensitivity: float, scale: float, delta: float) -> float:
    """Return the exact epsilon of Gaussian noise at delta, the inverse of `gaussian_delta`.

    Parameters
    ----------
    sensitivity : float
        L2 sensitivity.
    scale : float
        Standard deviation of the noise.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        The smallest epsilon with which the noise is (epsilon, delta)-DP, rounded up; 0 where already the
        total variation distance is at most delta.
    """
    ratio = float(_positive("sensitivity", sensitivity) / _positive("scale", scale))
    delta = float(_probability(delta))
    if _excess(ratio, 0.0, delta) <= 0:
        return 0.0
    # delta <= Phi(ratio/2 - epsilon/ratio), and here that bound equals delta.
    upper = ratio * (ratio / 2 - float(ndtri(delta))) * (1 + SAFETY)
    root = brentq(lambda epsilon: _excess(ratio, epsilon, delta), 0.0, upper, xtol=1e-300, rtol=1e-14)
    return float(root) + SAFETY * (float(root) + ratio)


def classical_gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the textbook scale sqrt(2 log(1.25/delta)) Delta / epsilon, for epsilon < 1 only.

    The proof (Dwork and Roth 2014, Theorem A.1) needs epsilon < 1; beyond, the formula promises what it does
    not keep: at epsilon = 25 a claimed delta of .1 is truly .9993. Kept for comparison; `gaussian_scale` is
    smaller where both hold.

    Parameters
    ----------
    sensitivity : float
        L2 sensitivity.
    epsilon : float
        In (0, 1).
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Standard deviation of the noise.
    """
    epsilon = float(_positive("epsilon", epsilon))
    if epsilon >= 1:
        raise ValueError(
            f"classical_gaussian_scale was given epsilon={epsilon!r}, but its proof needs epsilon < 1 and "
            f"its claim can be false beyond. Use gaussian_scale, which is exact at every epsilon."
        )
    factor = math.sqrt(2 * math.log(1.25 / float(_probability(delta))))
    return factor * float(_positive("sensitivity", sensitivity)) / epsilon


def haar_scale(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the smallest Laplace scale for Haar coefficients of levels 0..J: their L1 sensitivity / epsilon.

    s = (2/epsilon) (2^{(J+1)/2} - 1)/(sqrt 2 - 1) with J = `levels`. Proof. At level j exactly one of the 2^j
    functions psi_jk is non-zero at y, with the value +-2^{j/2}. So level j adds to sum |psi_jk(y) -
    psi_jk(y')| exactly 2 * 2^{j/2} where y and y' lie in different supports (two terms of 2^{j/2}) or in the
    two halves of one support (one term of 2 * 2^{j/2}), and 0 where they lie in the same half. Hence the sum
    is at most sum_{j=0}^{J} 2 * 2^{j/2}, the geometric sum above; y < 1/2 <= y' attains it, because they
    differ in sign at level 0 and in support at every later level.

    Parameters
    ----------
    levels : int
        The finest level J, at least 0.
    epsilon : float or array
        Budget of pure differential privacy for all the coefficients of one record.

    Returns
    -------
    float or ndarray
        An array where epsilon is one.
    """
    sensitivity = 2 * (2 ** ((_level(levels) + 1) / 2) - 1) / (math.sqrt(2) - 1)
    return _plain(sensitivity / _positive("epsilon", epsilon))


def haar_scale_butucea(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the Laplace scale of Butucea et al. (2020): (12/epsilon) (sqrt 2/(sqrt 2 - 1)) 2^{J/2}.

    Valid, because above `haar_scale`, and six to twenty times as noisy: for comparison with published
    results.

    Parameters
    ----------
    levels : int
        The finest level J, at least 0.
    epsilon : float or array
        Budget of pure differential privacy for all the coefficients of one record.

    Returns
    -------
    float or ndarray
        An array where epsilon is one.
    """
    factor = 12 * math.sqrt(2) / (math.sqrt(2) - 1) * 2 ** (_level(levels) / 2)
    return _plain(factor / _positive("epsilon", epsilon))


def randomized_response_truth(cells: int, epsilon: float) -> float:
    """Return the probability with which k-ary randomised response tells the truth: e^epsilon/(e^epsilon + k - 1).

    Derivation. Let p be the probability of the true cell and l that of each other, p + (k - 1) l = 1. An output has
    probability p under one input and l under all others, so the log-ratios are 0 and +-log(p/l), and epsilon-DP is
    p <= e^epsilon l. The largest such p has equality: p (1 + (k - 1) e^-epsilon) = 1 (Kairouz, Bonawitz and Ramage
    2016).

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    epsilon : float
        Budget of pure differential privacy.

    Returns
    -------
    float
        Above 1/k; rounded to 1 where a lie is less likely than 1e-16 (epsilon above 37).
    """
    return 1.0 / (1.0 + (_cells(cells) - 1) * math.exp(-_single("epsilon", epsilon)))


def randomized_response_epsilon(cells: int, truth: float) -> float:
    """Return the exact epsilon of k-ary randomised response, the inverse of `randomized_response_truth`.

    epsilon = log(p/l), with l = (1 - p)/(k - 1) the probability of each other cell.

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    truth : float
        Probability p of the true cell: above 1/k (at 1/k nothing is released), below 1 (at 1 nothing is promised).

    Returns
    -------
    float
        The smallest epsilon for which it is epsilon-DP.
    """
    count = _cells(cells)
    p = _single("truth", truth)
    if not 1.0 / count < p < 1.0:
        raise ValueError(
            f"Randomised response with {count} cells was given truth={truth!r}, but needs 1/{count} < truth < 1: at "
            f"1/{count} nothing is released, at 1 nothing is promised."
        )
    # log(p/l) = log(1 + (p - l)/l), which keeps its digits where p is close to 1/k.
    return math.log1p((count * p - 1.0) / (1.0 - p))


def square_wave_parameters(epsilon: float, half_width: float | None = None) -> tuple[float, float, float]:
    """Return half-width b, high density p and low density q of the square wave on [0, 1].

    The output lies in [-b, 1 + b], with density p within b of y and q elsewhere. What is not within b has length 1, so
    2 b p + q = 1; the densities of an output under two inputs have the ratio 1 or p/q, so epsilon-DP is p <= e^epsilon
    q. Equality gives p = e^epsilon/(2 b e^epsilon + 1) and q = p e^-epsilon (Li et al. 2020). Their b maximises an
    upper bound of the mutual information of input and output:

        b = (epsilon e^epsilon - e^epsilon + 1)/(2 e^epsilon (e^epsilon - 1 - epsilon)) = f(-epsilon)/(2 f(epsilon)),

    with f(x) = (e^x - 1 - x)/x^2 = 1/2 + x/6 + x^2/24 + ..., whose series is used where the fraction cancels.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy, at most 700.
    half_width : float, optional
        A half-width b to use instead.

    Returns
    -------
    tuple of float
        (half_width, high, low).
    """
    budget = _single("epsilon", epsilon)
    if budget > LARGEST_EPSILON:
        raise ValueError(
            f"The square wave was given epsilon={epsilon!r}, but needs epsilon <= {LARGEST_EPSILON:g}: beyond, its "
            f"width is below the smallest float. Such a release is the data themselves; use a smaller epsilon."
        )
    b = _square_wave_width(budget) if half_width is None else _single("half_width", half_width)
    high = 1.0 / (2.0 * b + math.exp(-budget))
    return b, high, high * math.exp(-budget)


def square_wave_epsilon(high: float, low: float) -> float:
    """Return the exact epsilon of a square wave: the log-ratio of its two densities.

    Whatever the half-width b, the output z = -b has the high density under y = 0 and the low one under y = 1.

    Parameters
    ----------
    high, low : float
        Densities within and beyond the half-width, 0 < low < high.

    Returns
    -------
    float
        The smallest epsilon for which it is epsilon-DP.
    """
    p, q = _single("high", high), _single("low", low)
    if not q < p:
        raise ValueError(f"The square wave was given high={high!r} and low={low!r}, but needs low < high.")
    return math.log1p((p - q) / q) if p < 2.0 * q else math.log(p) - math.log(q)


def _square_wave_width(epsilon: float) -> float:
    """Return b = f(-epsilon)/(2 f(epsilon)), f(x) = (e^x - 1 - x)/x^2."""
    if epsilon < 1.0:
        # The first term left out is 1/20!, 4e-19.
        rising, falling = (sum(x**k / math.factorial(k + 2) for k in range(18)) for x in (epsilon, -epsilon))
        return falling / (2.0 * rising)
    return (math.expm1(-epsilon) + epsilon) / (2.0 * (math.expm1(epsilon) - epsilon))


@lru_cache(maxsize=4096)  # budgets of records take few values; a root costs 0.1 ms
def _largest_ratio(epsilon: float, delta: float) -> float:
    """Return the largest Delta/eta at which Gaussian noise is (epsilon, delta)-DP, rounded down.

    delta <= Phi(a) with a = mu/2 - epsilon/mu, so the mu with Phi(a) = delta brackets the root from below.
    """
    a = float(ndtri(delta))
    root = math.sqrt(a * a + 2 * epsilon)
    lower = a + root if a > 0 else 2 * epsilon / (root - a)
    lower *= 1 - SAFETY
    upper = 2 * lower
    while _excess(upper, epsilon, delta) <= 0:
        upper *= 2
    log_mu = brentq(
        lambda x: _excess(math.exp(x), epsilon, delta),
        math.log(lower),
        math.log(upper),
        xtol=1e-15,
        rtol=1e-14,
    )
    return math.exp(log_mu) * (1 - SAFETY)


def _excess(mu: float, epsilon: float, delta: float) -> float:
    """Return log delta(mu) - log delta; close to delta = 1 both are near 0 and keep their digits."""
    return _log_delta(mu, epsilon) - math.log(delta)


def _log_delta(mu: float, epsilon: float) -> float:
    """Return log(Phi(a) - e^epsilon Phi(-b)), a = mu/2 - epsilon/mu, b = mu/2 + epsilon/mu.

    b^2 - a^2 = 2 epsilon, so e^epsilon phi(b) = phi(a) and delta = phi(a) (M(-a) - M(b)) with Mills' ratio
    M(x) = Phi(-x)/phi(x) = sqrt(pi/2) erfcx(x/sqrt 2): e^epsilon is never formed. Where mu is small the
    two ratios nearly cancel and their difference is integrated instead.
    """
    a, b = mu / 2 - epsilon / mu, mu / 2 + epsilon / mu
    if a < -1e100:  # far below the smallest float, and the square of a would overflow
        return -math.inf
    if mu < 0.1 * max(1.0, -a):
        return -a * a / 2 - math.log(2 * math.pi) / 2 + _log_gap(-a, mu)
    ratio = float(erfcx(b / math.sqrt(2)) / erfcx(-a / math.sqrt(2)))
    return float(log_ndtr(a)) + math.log1p(-ratio)


def _log_gap(x: float, mu: float) -> float:
    """Return log(M(x) - M(x + mu)) for small mu, from M(x) = int_0^inf exp(-s x - s^2/2) ds.

    The difference is the integral of exp(-s x - s^2/2) (1 - exp(-s mu)), which is positive: nothing cancels.
    Cut where the exponent reaches -42 (e^-42 = 6e-19).
    """
    end = 84 / (x + math.sqrt(x * x + 84))
    s = end * (NODES + 1) / 2
    values = np.exp(-s * x - s * s / 2) * -np.expm1(-s * mu) / (end * mu)
    return math.log(float(WEIGHTS @ values) / 2) + math.log(end) + math.log(end * mu)


def _level(levels: int) -> int:
    """Return the finest level as an int, or say why it cannot be one."""
    try:
        finest = operator.index(levels)
    except TypeError:
        finest = -1
    if finest < 0:
        raise ValueError(
            f"The Haar basis was given levels={levels!r}, but needs a whole number of at least 0, the finest "
            f"level J. Give levels=0 for the two halves, levels=3 for sixteen cells."
        )
    return finest


def _cells(cells: int) -> int:
    """Return the number of cells as an int, or say why it cannot be one."""
    try:
        count = operator.index(cells)
    except TypeError:
        count = -1
    if count < 2:
        raise ValueError(
            f"Randomised response was given cells={cells!r}, but needs a whole number of at least 2. Give the number "
            f"of cells into which the bounds are cut."
        )
    return count


def _single(name: str, value: Any) -> float:
    """Return the value as one positive finite float, or say what is wrong."""
    numbers = _positive(name, value)
    if numbers.ndim > 0:
        raise ValueError(f"The noise was to be calibrated with {name}={value!r}, but needs one number for all records.")
    return float(numbers)


def _positive(name: str, value: Any) -> NDArray[np.float64]:
    """Return the value as floats, all positive and finite, or say what is wrong."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.asarray(np.nan)
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise ValueError(
            f"The noise was to be calibrated with {name}={value!r}, but needs {name} > 0 and finite. "
            f"Give a positive number."
        )
    return numbers


def _probability(value: Any) -> NDArray[np.float64]:
    """Return delta as floats inside (0, 1), or say what is wrong."""
    delta = _positive("delta", value)
    if (delta >= 1).any():
        raise ValueError(
            f"The noise was to be calibrated with delta={value!r}, but needs 0 < delta < 1: at delta = 1 "
            f"nothing is promised. Give a delta well below one over the number of records."
        )
    return delta


def _plain(values: Any) -> FloatOrArray:
    """Return a float for a scalar, the array otherwise."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)
