"""Noisy histogram: the counts of the bins, each with noise added.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.discrete_noise import (
    LARGEST_DISCRETE_SCALE,
    draw_discrete_gaussian,
    draw_discrete_laplace,
    log_discrete_gaussian_norm,
    log_discrete_laplace_norm,
    log_gaussian_sum,
)
from privmix.mechanisms.gaussian import gaussian_scale
from privmix.mechanisms.histogram import Histogram, join_bins, keep_bins, read_edges, read_records
from privmix.mechanisms.laplace import laplace_scale
from privmix.parts import given
from privmix.parts.checks import check_scale, fill, one_of, positive, probability, single
from privmix.privacy import ZCDP, ApproxDP, PureDP

_NAME = "NoisyHistogram"
KINDS = ("laplace", "discrete laplace", "discrete gaussian")
#: how far the counts move in L1 and L2 when one record is replaced: 1 from one bin to another
L1_SENSITIVITY, L2_SENSITIVITY = 2.0, math.sqrt(2.0)
# Sums over whole numbers: the profile of noise beyond this scale would take more than 10^8 terms.
LARGEST_PROFILED_SCALE = 1e6
# The root is found to 1e-14; this much is added so that rounding never leaves it on the wrong side.
SAFETY = 1e-12
# What lies this far below the largest term of a sum is left out: e^-60 = 9e-27.
DEPTH = 60.0


@dataclass(frozen=True, eq=False, repr=False)
class NoisyHistogram(Histogram):
    """Release the count of each bin plus independent noise.

    Released counts may be negative and, under Laplace noise, fractional: they are used as they are.

    Guarantee, for neighbours by replacement of one record (n is public): a replacement takes 1 from one count and adds
    1 to another, so the counts move by 2 in L1 and by √2 in L2.

    - ``"laplace"``: density ∝ e^(−|x|/s), ε-differential privacy with ε = 2/s (Dwork, McSherry, Nissim and Smith 2006);
    - ``"discrete laplace"``: P(k) ∝ e^(−|k|/s) on the whole numbers, likewise ε = 2/s;
    - ``"discrete gaussian"``: P(k) ∝ e^(−k²/(2s²)), ρ-zCDP with ρ = 1/s² (Canonne, Kamath and Steinke 2020);
      (ε, δ) by the exact privacy profile (`discrete_gaussian_histogram_delta`), tighter than a
      conversion from zCDP.

    Where neighbours are by adding or removing a record, as some offices count, the sensitivity is 1: their ε is half of
    the one here. Give such noise by its scale.

    Parameters
    ----------
    records
        Number n of confidential records. It is public.
    bins
        Number of equal bins between the bounds, or the edges of the bins.
    noise
        "laplace", "discrete laplace" or "discrete gaussian".
    epsilon
        Wanted ε of the whole release: Laplace noise, or discrete Gaussian noise with `delta`.
    delta
        Wanted δ: discrete Gaussian noise, with `epsilon`.
    bounds
        Range of a record, known without looking at the data; not needed with edges.
    rho
        Wanted zCDP budget instead of ε.
    scale
        The parameter s of the noise instead of a guarantee.

    Examples
    --------
    >>> NoisyHistogram(1000, bins=64, noise="discrete laplace", epsilon=1.0, bounds=(0.0, 1.0)).scale
    2.0
    """

    column_names: ClassVar[tuple[str, ...]] = ("lower", "upper", "count")

    records: int = field()
    bins: int | np.ndarray = given(64)
    noise: str = given("laplace", help="Noise on each count", choices=KINDS)
    epsilon: float | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    rho: float | None = given()
    scale: float = None  # type: ignore[assignment]
    edges: np.ndarray = field(init=False, repr=False)
    squared: bool = field(init=False, repr=False)
    log_norm: float = field(init=False, repr=False)

    in_words = "a trusted holder published the number of records in each bin, with noise added to each count"
    command_name = "histogram"
    output_in_words = "bin of the confidential value y"
    details: ClassVar[dict[str, str]] = {
        "noise": "noise on each count",
        "scale": "scale of the noise",
        "bin_count": "bins",
    }

    def __post_init__(self) -> None:
        records = read_records(_NAME, self.records)
        edges, bounds = read_edges(_NAME, self.bins, self.bounds)
        _check_noise(self.noise)
        budget = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        scale = _find_scale(self.noise, self.scale, **budget)
        fill(self, **{name: None if value is None else float(value) for name, value in budget.items()})
        fill(self, records=records, bins=keep_bins(self.bins, edges), bounds=bounds, scale=scale, edges=edges)
        fill(self, squared=self.noise == "discrete gaussian", log_norm=_log_norm(self.noise, scale))

    @property
    def guarantee(self) -> PureDP | ApproxDP | ZCDP:
        """What was asked for, for neighbours by replacement; from the scale where that was given."""
        if not self.squared:
            return PureDP(2.0 / self.scale if self.epsilon is None else self.epsilon)
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(self.epsilon, self.delta)
        return ZCDP(1.0 / self.scale**2 if self.rho is None else self.rho)

    @classmethod
    def read_table(cls, columns: dict[str, np.ndarray]) -> tuple[dict[str, Any], np.ndarray]:
        """Return the bins, and the counts, of a table of lower edges, upper edges and counts."""
        edges, counts = join_bins(**columns)
        return {"bins": edges}, counts

    @property
    def counted_edges(self) -> np.ndarray:
        """The edges of the bins."""
        return self.edges

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars:
        """Return the noisy counts in their own bins, also where they are negative."""
        return Bars(z / (self.records * np.diff(self.edges)), self.edges, "released counts (noisy)")

    def log_bin(self, z, j, count):
        """Return the log density, or log probability, of the noise z_j − count; −∞ below count 0."""
        if count < 0.0:
            return -math.inf
        deviation = abs(z[j] - count) / self.scale
        if self.squared:
            deviation = 0.5 * deviation * deviation
        return -deviation - self.log_norm

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Add noise to the counts."""
        return counts + _draw_noise(self.noise, rng, self.scale, len(counts))

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the released counts."""
        return z

    def probes(self) -> Iterable[np.ndarray]:
        """Return all rows of whole numbers from −1 to n + 1 and of two numbers far outside.

        Under Laplace noise the log-ratio is piecewise linear in each count, with kinks at whole numbers from 0 to n,
        and constant beyond: its extremes are among these. Under Gaussian noise it has none, which the far ones show.
        """
        far = 1000.0 * math.ceil(self.scale)
        values = [-far, *np.arange(-1.0, self.records + 2.0), self.records + far]
        return map(np.array, product(values, repeat=self.bin_count))

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of counts, whole under discrete noise, or say what is wrong with it."""
        z = super().check_release(z)
        if len(z) != self.bin_count:
            raise ValueError(
                f"NoisyHistogram releases {self.bin_count} counts, one a bin; the release z has {len(z)}. "
                "Check that the mechanism is the one that made the release."
            )
        bad = z != np.floor(z)
        if self.noise != "laplace" and bad.any():
            raise ValueError(
                f"NoisyHistogram with {self.noise} noise releases whole numbers; the release z has "
                f"{np.count_nonzero(bad)} others, the first {z[bad][0]:g}. Use noise='laplace' if the noise was "
                "continuous."
            )
        return z

    def to_columns(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the release as a table of lower and upper edges and counts."""
        return {"lower": self.edges[:-1], "upper": self.edges[1:], "count": z}

    def from_columns(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the counts of a table, or refuse it where its edges are not the mechanism's."""
        lower, upper = columns["lower"], columns["upper"]
        same = len(lower) == self.bin_count
        if not (same and np.array_equal(lower, self.edges[:-1]) and np.array_equal(upper, self.edges[1:])):
            raise ValueError(
                f"the columns lower and upper are not the edges of the mechanism's {self.bin_count} bins. "
                "The table was cut or changed, or belongs to another mechanism; fetch it again."
            )
        return columns["count"]


def _check_noise(noise: Any) -> None:
    """Refuse noise that is not known by name."""
    if not isinstance(noise, str) or noise not in KINDS:
        listed = ", ".join(repr(kind) for kind in KINDS)
        raise ValueError(f"{_NAME}: noise must be one of {listed}; got {noise!r}.")


def _find_scale(noise: str, scale: Any, *, epsilon: Any, delta: Any, rho: Any) -> float:
    """Return the scale that a budget asks for, or as given; both, as a rebuilt mechanism has, must agree."""
    _check_pair(noise, epsilon, delta)
    if epsilon is None and rho is None:
        one_of(_NAME, epsilon=epsilon, rho=rho, scale=scale)
        return _bounded(noise, check_scale(scale))
    name = one_of(_NAME, epsilon=epsilon, rho=rho)
    derived = _bounded(noise, _calibrate(noise, epsilon, delta, rho))
    if scale is not None and not math.isclose(check_scale(scale), derived):
        raise ValueError(f"{_NAME} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
    return derived


def _log_norm(noise: str, scale: float) -> float:
    """Return the log of the normaliser: minus the log density, or log probability, of no noise."""
    if noise == "laplace":
        return math.log(2.0 * scale)
    if noise == "discrete laplace":
        return log_discrete_laplace_norm(scale)
    return log_discrete_gaussian_norm(scale)


def _draw_noise(noise: str, rng: np.random.Generator, scale: float, size: int) -> np.ndarray:
    """Return independent draws of the noise."""
    if noise == "laplace":
        return rng.laplace(0.0, scale, size)
    if noise == "discrete laplace":
        return draw_discrete_laplace(rng, scale, size)
    return draw_discrete_gaussian(rng, scale, size)


def _check_pair(noise: str, epsilon: Any, delta: Any) -> None:
    if noise != "discrete gaussian" and delta is not None:
        raise ValueError(
            f"{_NAME} with {noise} noise has a guarantee in ε alone; got delta={delta!r}. Leave delta out, or use "
            "noise='discrete gaussian'."
        )
    if noise == "discrete gaussian" and (epsilon is None) != (delta is None):
        raise ValueError(
            f"{_NAME} with discrete gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
            f"epsilon={epsilon!r} and delta={delta!r}. For a single budget use rho=."
        )


def _calibrate(noise: str, epsilon: Any, delta: Any, rho: Any) -> float:
    if noise != "discrete gaussian":
        return check_scale(laplace_scale(L1_SENSITIVITY, epsilon=epsilon, rho=rho))
    if rho is not None:
        return check_scale(gaussian_scale(L2_SENSITIVITY, rho=rho))
    return discrete_gaussian_histogram_scale(epsilon, delta)


def _bounded(noise: str, scale: float) -> float:
    if noise != "laplace" and scale > LARGEST_DISCRETE_SCALE:
        raise ValueError(
            f"{_NAME}: discrete noise of scale {scale:g} is beyond {LARGEST_DISCRETE_SCALE:g}, where floats no longer "
            "hold every whole number of it. Use noise='laplace', or a larger budget."
        )
    return scale


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
    s = _profiled_scale(scale)
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
    _profiled_scale(high)
    while _log_delta(low, epsilon) <= target:
        low *= 0.7
    while _log_delta(high, epsilon) > target:
        high *= 1.4
    from scipy.optimize import brentq  # loads slowly

    root = brentq(lambda x: _log_delta(math.exp(x), epsilon) - target, math.log(low), math.log(high), rtol=1e-14)
    scale = math.exp(root) * (1 + SAFETY)
    while _log_delta(scale, epsilon) > target:
        scale *= 1 + SAFETY
    return scale


def _log_delta(s: float, epsilon: float) -> float:
    """Return the log of the exact profile."""
    variance = s * s
    first = math.floor(epsilon * variance - 1.0) + 1
    last = math.ceil(math.sqrt(max(first, 0) ** 2 + 4.0 * variance * DEPTH)) + 2
    d = np.arange(max(first, -last), last + 1, dtype=np.float64)
    loss = epsilon - (d + 1.0) / variance
    d, loss = d[loss < 0.0], loss[loss < 0.0]
    even, odd = log_gaussian_sum(0.5 * variance, 0.0), log_gaussian_sum(0.5 * variance, 0.5)
    log_p = -d * d / (4.0 * variance) + np.where(d % 2.0 == 0.0, even, odd) - 2.0 * log_gaussian_sum(variance, 0.0)
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
