"""Sampling from a smoothed histogram: the release is a synthetic sample.

References
----------
Wasserman, L. and Zhou, S. (2010). A statistical framework for differential privacy. JASA.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.count_noise import MOVED, check_neighbours
from privmix.mechanisms.histogram import Histogram, keep_bins, read_edges, read_records
from privmix.parts import given
from privmix.parts.checks import check_count, fill, one_of, single
from privmix.privacy import PureDP

_NAME = "SmoothedHistogram"
# e^700 is the largest power of e, rounded, that leaves room for the number of records in a float.
LARGEST_BUDGET = 700.0
# Below, the odds of the data against the uniform share overflow.
_LEAST_UNIFORM = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class SmoothedHistogram(Histogram):
    """Release k independent draws from the histogram of the data, mixed with a uniform share δ.

    The density of a draw is (1 − δ) Σ_j (c_j/n) 1{x in B_j}/|B_j| + δ/W, with c the counts of the bins and W the width
    of the bounds: Wasserman and Zhou (2010), with the factor 1/|B_j| that the paper's equation (Section 5) leaves out.

    Guarantee: ε-differential privacy for the whole release with ε = k·log(1 + ((1 − δ)/δ)·W/(n·min|B_j|)), for
    neighbours by replacement of one record; n is public. The bound is attained, so the claim is exact; the proof is
    with `smoothed_histogram_odds`. (The paper prints −1 for +1, which promises what it does not keep.)

    Parameters
    ----------
    records
        Number n of confidential records. It is public.
    bins
        Number of equal bins between the bounds, or the edges of the bins; 4⌊n^{1/5} + 1⌋ by default.
    draws
        Number k of draws to release; ⌊n^{3/5} + 1⌋ by default.
    epsilon
        Wanted ε of the whole release; gives the smallest uniform share δ that has it, in closed form.
    bounds
        Range of a record, known without looking at the data; not needed with edges.
    uniform
        The uniform share δ instead of ε: above 0, below 1.
    neighbours
        "replace" only: the law of a draw has n in it, so n cannot be kept from whoever sees the release.

    Examples
    --------
    >>> mechanism = SmoothedHistogram(250, bins=8, draws=28, epsilon=10.0, bounds=(0.0, 1.0))
    >>> mechanism.guarantee
    PureDP(epsilon=10.0)
    >>> round(mechanism.uniform, 4)
    0.0694
    """

    records: int = field()
    bins: int | np.ndarray = given()
    draws: int = field(default=None, metadata={"metavar": "K"})  # type: ignore[assignment]
    epsilon: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    uniform: float = given()
    neighbours: str = given("replace", help="Which data sets may not be told apart", choices=tuple(MOVED), quiet=True)
    edges: np.ndarray = field(init=False, repr=False)
    # (1 − δ)/δ, which keeps its digits where δ is close to 1 and where it is close to 0.
    odds: float = field(init=False, repr=False)

    in_words = "a trusted holder published synthetic values drawn from a smoothed histogram of all records"
    details: ClassVar[dict[str, str]] = {"bin_count": "bins", "draws": "released draws", "uniform": "uniform share"}

    def __post_init__(self) -> None:
        _check_neighbours(self.neighbours)
        records = read_records(_NAME, self.records)
        bins = _growth_bins(records) if self.bins is None else self.bins
        draws = _growth_draws(records) if self.draws is None else check_count("draws", self.draws, 1, _NAME)
        edges, bounds = read_edges(_NAME, bins, self.bounds)
        odds = _find_odds(records, draws, _narrowest(edges), self.epsilon, self.uniform)
        # As given where it was given: derived anew, it could differ in the last bit.
        if self.epsilon is None:
            fill(self, uniform=float(self.uniform))
        else:
            fill(self, epsilon=float(self.epsilon), uniform=1.0 / (1.0 + odds))
        fill(self, records=records, bins=keep_bins(bins, edges), draws=draws, bounds=bounds, edges=edges, odds=odds)

    @classmethod
    def growing(
        cls, records: int, epsilon: float, factor: int = 4, bounds: tuple[float, float] = (0.0, 1.0)
    ) -> SmoothedHistogram:
        """Return the mechanism whose bins and draws grow with n as in the paper's Appendix C.

        m = L⌊n^{1/5} + 1⌋ bins and k = ⌊n^{3/5} + 1⌋ draws: the rates of Wasserman and Zhou (2010), Theorem 4.3.

        Parameters
        ----------
        records
            Number n of records.
        epsilon
            Wanted ε.
        factor
            L; the paper tries 2, 4 and 6 and finds 4 the best.
        bounds
            Range of a record.
        """
        n = read_records(_NAME, records)
        return cls(n, _growth_bins(n, factor), _growth_draws(n), epsilon=epsilon, bounds=bounds)

    @classmethod
    def read_table(cls, columns: dict[str, np.ndarray]) -> tuple[dict[str, Any], np.ndarray]:
        """Return how many draws a column of them has, and the draws."""
        (z,) = columns.values()
        return {"draws": len(z)}, z

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP of the whole release for neighbours by replacement, exact."""
        if self.epsilon is not None:
            return PureDP(self.epsilon)
        return PureDP(smoothed_histogram_epsilon(self.records, self.draws, self.odds, _narrowest(self.edges)))

    def log_bin(self, z, j, count):
        """Return d_j log f_j, with d_j the released draws in bin j and f_j the density there; −∞ below count 0."""
        if count < 0.0:
            return -math.inf
        if z[j] == 0.0:
            return 0.0
        whole = self.edges[len(self.edges) - 1] - self.edges[0]
        share = count * whole / (self.records * (self.edges[j + 1] - self.edges[j]))
        return z[j] * (math.log1p(self.odds * share) - math.log1p(self.odds) - math.log(whole))

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return the number of released draws in each bin."""
        return self.statistic(z)

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Draw a synthetic sample, in random order."""
        lower, upper = self.bounds
        j = rng.choice(self.bin_count, size=self.draws, p=counts / self.records)
        left, right = self.edges[j], self.edges[j + 1]
        # Rounding must not carry a draw into the next bin.
        inside = np.minimum(left + (right - left) * rng.random(self.draws), np.nextafter(right, left))
        anywhere = np.minimum(lower + (upper - lower) * rng.random(self.draws), upper)
        return np.where(rng.random(self.draws) < self.odds / (1.0 + self.odds), inside, anywhere)

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the share of released draws in each bin, less the uniform share."""
        return self.encode(z) / self.draws - self.uniform * np.diff(self.edges) / (self.bounds[1] - self.bounds[0])

    def probes(self) -> Iterable[np.ndarray]:
        """Return one release for every way to spread the draws over the bins: the density knows no more."""
        middles = 0.5 * (self.edges[:-1] + self.edges[1:])
        return (np.array(draws) for draws in combinations_with_replacement(middles, self.draws))

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of draws inside the bounds, or say what is wrong with it."""
        z = super().check_release(z)
        if len(z) != self.draws:
            raise ValueError(
                f"{_NAME} releases {self.draws} draws; the release z has {len(z)}. "
                "Check that the mechanism is the one that made the release."
            )
        lower, upper = self.bounds
        bad = (z < lower) | (z > upper)
        if bad.any():
            raise ValueError(
                f"{_NAME} releases numbers from {lower:g} to {upper:g}; the release z has {np.count_nonzero(bad)} "
                f"other values, the first {z[bad][0]:g}. Check that the mechanism is the one that made the release."
            )
        return z


def _check_neighbours(neighbours: Any) -> None:
    """Refuse neighbours of another size: the number of records is in the law of every draw, and is public."""
    check_neighbours(_NAME, neighbours)
    if neighbours != "replace":
        raise ValueError(
            f"{_NAME} draws from shares c_j/n of all records, so its law and its budget need a public n: neighbours of "
            "another size are not covered. Use neighbours='replace', or NoisyHistogram for neighbours='add-remove'."
        )


def _growth_bins(records: int, factor: int = 4) -> int:
    """Return L⌊n^{1/5} + 1⌋, in whole numbers: 32^{1/5} in floating point may be below 2."""
    return check_count("factor", factor, 1, _NAME) * (_fifth_root(records) + 1)


def _growth_draws(records: int) -> int:
    """Return ⌊n^{3/5} + 1⌋, in whole numbers."""
    return _fifth_root(records**3) + 1


def _fifth_root(number: int) -> int:
    """Return the largest r with r⁵ ≤ number."""
    root = round(number**0.2)
    while root**5 > number:
        root -= 1
    while (root + 1) ** 5 <= number:
        root += 1
    return root


def _narrowest(edges: np.ndarray) -> float:
    """Return the width of the narrowest bin as a share of the bounds."""
    return float(np.diff(edges).min() / (edges[-1] - edges[0]))


def _find_odds(records: int, draws: int, narrowest: float, epsilon: Any, uniform: Any) -> float:
    """Return the odds from ε or δ; both, as a mechanism rebuilt from its own fields has, must agree."""
    if epsilon is None:
        one_of(_NAME, epsilon=epsilon, uniform=uniform)
        number = isinstance(uniform, int | float | np.number) and not isinstance(uniform, bool)
        if not number or not _LEAST_UNIFORM <= uniform < 1.0:
            raise ValueError(
                f"{_NAME}: uniform must be a number above 0, where nothing is promised, and below 1, where nothing is "
                f"released; got {uniform!r}."
            )
        return (1.0 - float(uniform)) / float(uniform)
    odds = smoothed_histogram_odds(records, draws, epsilon, narrowest)
    derived = 1.0 / (1.0 + odds)
    if uniform is not None and not (isinstance(uniform, int | float) and math.isclose(uniform, derived)):
        raise ValueError(f"{_NAME} takes one of epsilon= or uniform=; the given epsilon and uniform disagree.")
    return odds


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
