"""Noisy histogram: the counts of the bins, each with noise added."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms import count_noise
from privmix.mechanisms.histogram import Histogram, keep_bins, read_edges, read_records
from privmix.parts import given
from privmix.privacy import ZCDP, ApproxDP, PureDP


@dataclass(frozen=True, eq=False, repr=False)
class NoisyHistogram(Histogram):
    """Release the count of each bin plus independent noise.

    Released counts may be negative and, under Laplace noise, fractional: they are used as they are.

    Guarantee, for neighbours by replacement of one record (n is public): a replacement takes 1 from one count and adds
    1 to another, so the counts move by 2 in L1 and by √2 in L2.

    - ``"laplace"``: density ∝ e^(−|x|/s), ε-differential privacy with ε = 2/s (Dwork, McSherry, Nissim and Smith 2006);
    - ``"discrete laplace"``: P(k) ∝ e^(−|k|/s) on the whole numbers, likewise ε = 2/s;
    - ``"discrete gaussian"``: P(k) ∝ e^(−k²/(2s²)), ρ-zCDP with ρ = 1/s² (Canonne, Kamath and Steinke 2020);
      (ε, δ) by the exact privacy profile (`privmix.privacy.discrete_gaussian_histogram_delta`), tighter than a
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
    bins: Any = given(64)
    noise: str = given("laplace")
    epsilon: float | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    rho: float | None = given()
    scale: float = None  # type: ignore[assignment]
    edges: np.ndarray = field(init=False, repr=False)
    squared: bool = field(init=False, repr=False)
    log_norm: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        records = read_records("NoisyHistogram", self.records)
        edges, bounds = read_edges("NoisyHistogram", self.bins, self.bounds)
        count_noise.check_kind(self.noise)
        budget = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        scale = count_noise.settle(self.noise, self.scale, **budget)
        settled: dict[str, Any] = {"records": records, "bins": keep_bins(self.bins, edges), "bounds": bounds}
        settled |= {name: None if value is None else float(value) for name, value in budget.items()}
        settled |= {"scale": scale, "edges": edges, "squared": self.noise == "discrete gaussian"}
        for name, value in {**settled, "log_norm": count_noise.log_norm(self.noise, scale)}.items():
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> PureDP | ApproxDP | ZCDP:
        """What was asked for, for neighbours by replacement; from the scale where that was given."""
        if not self.squared:
            return PureDP(2.0 / self.scale if self.epsilon is None else self.epsilon)
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(self.epsilon, self.delta)
        return ZCDP(1.0 / self.scale**2 if self.rho is None else self.rho)

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
        return counts + count_noise.draw(self.noise, rng, self.scale, len(counts))

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
