"""The Gaussian mechanism: z = y + N(0, scale²).

References
----------
Balle, B. and Wang, Y.-X. (2018). Improving the Gaussian mechanism for differential privacy: analytical calibration and
    optimal denoising. ICML.
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC
    2016-B.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, log_ndtr, ndtri

from privmix.mechanisms.additive import AdditiveNoise
from privmix.mechanisms.noise import distance_from
from privmix.numerics.normal_intervals import log_mass
from privmix.parts import PerRecord, given
from privmix.parts.checks import FloatOrArray, plain, positive, probability
from privmix.privacy import ZCDP, ApproxDP

# The root is found to about 1e-14; this much is added so that rounding never leaves it on the wrong side.
SAFETY = 1e-12
# Enough for exp(-u) on [0, 42], the widest integrand of `_log_gap`, to double precision.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, eq=False)
class Gaussian(AdditiveNoise):
    """Add Gaussian noise to each record.

    Guarantee: with width Δ = upper − lower, ρ-zero-concentrated differential privacy for ρ = Δ²/(2·scale²) (Bun and
    Steinke 2016, Proposition 1.6), and (ε, δ)-differential privacy where Φ(Δ/2η − εη/Δ) − e^ε Φ(−Δ/2η − εη/Δ) ≤ δ
    (Balle and Wang 2018, Theorem 8: necessary and sufficient, at every ε). The classical η = √(2 log(1.25/δ)) Δ/ε,
    which the paper uses at ε = 5…50, is proven for ε < 1 only and is not used here.

    Parameters
    ----------
    epsilon, delta
        Wanted (ε, δ); needs bounds. Gives the least noise that has it.
    bounds
        Range of a record, known without looking at the data.
    rho
        Wanted zCDP budget instead of (ε, δ), a number or one for each record.
    scale
        Standard deviation of the noise instead of a guarantee, a number or one for each record.
    """

    epsilon: float | np.ndarray | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] | None = given()
    rho: float | np.ndarray | None = given()
    scale: PerRecord = None  # type: ignore[assignment]

    in_words = "each record was published with Gaussian noise added to it"
    smooth_noise = True

    def __post_init__(self) -> None:
        if (self.epsilon is None) != (self.delta is None):
            raise ValueError(
                "Gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
                f"epsilon={self.epsilon!r} and delta={self.delta!r}. For a single budget use rho=."
            )
        self.fill_scale(gaussian_scale, **({} if self.delta is None else {"delta": self.delta}))

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[Gaussian]:
        """Return the one setting that a budget ρ leaves; ε needs a δ beside it, which no plan has."""
        return [cls(bounds=bounds, **budget)] if "rho" in budget else []

    @property
    def guarantee(self) -> ApproxDP | ZCDP | None:
        """(ε, δ)-DP where that was asked for, else ρ-zCDP of the least noisy record; None without bounds."""
        if self.bounds is None:
            return None
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(float(np.max(self.epsilon)), float(self.delta))
        return ZCDP(float(0.5 * ((self.bounds[1] - self.bounds[0]) / np.min(self.scale)) ** 2))

    def noise_spread(self) -> float:
        """Return η, over the records in the mean square."""
        return math.sqrt(float(np.mean(np.square(self.scale))))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return log Φ(−d/η) for numbers at a distance d from the interval."""
        return log_ndtr(-distance_from(interval, z) / self.scale)

    def noise_transform(self, t: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return exp(−η²t²/2)."""
        return np.exp(-0.5 * np.square(scale * t))

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy: log(Φ(b) − Φ(a)), turned over where both are positive."""
        scale = np.reshape(self.scale, (-1, 1))
        low, high = (edges[:-1] - z[:, None]) / scale, (edges[1:] - z[:, None]) / scale
        over = low > 0.0
        low, high = np.where(over, -high, low), np.where(over, -low, high)
        log_high = log_ndtr(high)
        return log_high + np.log(-np.expm1(log_ndtr(low) - log_high)) - np.log(np.diff(edges))

    def log_q(self, z, y):
        """Return log N(z | y, η²)."""
        deviation = (z - y) / self.scale
        return -0.5 * deviation * deviation - math.log(self.scale) - 0.5 * math.log(2.0 * math.pi)

    def log_between(self, low, high, y):
        """Return log P(low < Z ≤ high|y)."""
        return log_mass((low - y) / self.scale, (high - y) / self.scale, (high - low) / self.scale)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        return y + self.scale * rng.standard_normal(y.shape)


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
        Largest L2 distance between the noiseless outputs of two neighbours: upper − lower for one number.
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
    width = positive("sensitivity", sensitivity)
    if rho is not None:
        return plain(width / np.sqrt(2 * positive("rho", rho)))
    budgets = np.broadcast_arrays(positive("epsilon", epsilon), probability(delta))
    ratios = [_largest_ratio(float(e), float(d)) for e, d in zip(*map(np.ravel, budgets), strict=True)]
    return plain(width / np.reshape(ratios, budgets[0].shape))


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
    ratio = float(positive("sensitivity", sensitivity) / positive("scale", scale))
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
    ratio = float(positive("sensitivity", sensitivity) / positive("scale", scale))
    delta = float(probability(delta))
    if _excess(ratio, 0.0, delta) <= 0:
        return 0.0
    # delta <= Phi(ratio/2 - epsilon/ratio), and here that bound equals delta.
    upper = ratio * (ratio / 2 - float(ndtri(delta))) * (1 + SAFETY)
    from scipy.optimize import brentq  # loads slowly

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
    epsilon = float(positive("epsilon", epsilon))
    if epsilon >= 1:
        raise ValueError(
            f"classical_gaussian_scale was given epsilon={epsilon!r}, but its proof needs epsilon < 1 and "
            f"its claim can be false beyond. Use gaussian_scale, which is exact at every epsilon."
        )
    factor = math.sqrt(2 * math.log(1.25 / float(probability(delta))))
    return factor * float(positive("sensitivity", sensitivity)) / epsilon


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
    from scipy.optimize import brentq  # loads slowly

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
