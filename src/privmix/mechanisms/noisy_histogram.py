"""Noisy histogram: the counts of the bins, each with noise added.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.count_noise import KINDS, MOVED
from privmix.mechanisms.histogram import Histogram, join_bins, keep_bins, read_edges
from privmix.mechanisms.noisy_counts import NoisyCounts
from privmix.mechanisms.post_processing import Step
from privmix.parts import given
from privmix.parts.checks import fill

# Numbers of bins that a plan compares.
BINS_TO_TRY = (16, 32, 64, 128)


@dataclass(frozen=True, eq=False, repr=False)
class NoisyHistogram(NoisyCounts):
    """Release the count of each bin plus independent noise.

    Released counts may be negative and, under continuous noise, fractional: they are used as they are.

    Guarantee: a replacement of one record takes 1 from one count and adds 1 to another, so the counts move by 2 in L1
    and by √2 in L2. A record that is added or removed moves one count by 1: both are 1. With Δ = 2 for
    ``neighbours="replace"``, where n is public, and Δ = 1 for ``neighbours="add-remove"``,

    - ``"laplace"``: density ∝ e^(−|x|/s), ε-differential privacy with ε = Δ/s (Dwork, McSherry, Nissim and Smith 2006);
    - ``"discrete laplace"``: P(k) ∝ e^(−|k|/s) on the whole numbers, likewise ε = Δ/s;
    - ``"gaussian"``: density ∝ e^(−x²/(2s²)), ρ-zCDP with ρ = Δ/(2s²) (Bun and Steinke 2016), or (ε, δ) by the exact
      profile of `privmix.mechanisms.gaussian.gaussian_delta`;
    - ``"discrete gaussian"``: P(k) ∝ e^(−k²/(2s²)), ρ-zCDP with ρ = Δ/(2s²) (Canonne, Kamath and Steinke 2020); (ε, δ)
      by the exact privacy profile (`discrete_gaussian_histogram_delta`), tighter than a conversion from zCDP.

    Where each bin has a scale of its own, the worst bins count: those with the least noise, two of them under
    replacement.

    Parameters
    ----------
    records
        Number n of confidential records, which is public; or None where it is not known, as under
        ``neighbours="add-remove"``. Then n is Poisson with a mean of its own prior, and is learned: see `expected`.
    bins
        Number of equal bins between the bounds, or the edges of the bins.
    noise
        "laplace", "gaussian", "discrete laplace" or "discrete gaussian".
    epsilon
        Wanted ε of the whole release: Laplace noise, or Gaussian noise with `delta`.
    delta
        Wanted δ: Gaussian noise, with `epsilon`.
    bounds
        Range of a record, known without looking at the data; not needed with edges.
    rho
        Wanted zCDP budget instead of ε.
    scale
        The parameter s of the noise instead of a guarantee: a number, or an array with one for each bin.
    neighbours
        "replace": one record is replaced. "add-remove": one record is added or removed.
    expected
        Shape and rate of the gamma prior of the mean of n, where n is not known. By default (0.5, 1e-9): Jeffreys's
        prior of a Poisson mean, made proper by a rate that matters beyond 10^9 records only. n is at least 1.

    Examples
    --------
    >>> NoisyHistogram(1000, bins=64, noise="discrete laplace", epsilon=1.0, bounds=(0.0, 1.0)).scale
    2.0
    """

    owner: ClassVar[str] = "NoisyHistogram"
    column_names: ClassVar[tuple[str, ...]] = ("lower", "upper", "count")

    records: int | None = field()
    bins: int | np.ndarray = given(64)
    noise: str = given("laplace", help="Noise on each count", choices=KINDS)
    epsilon: float | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    rho: float | None = given()
    scale: float | np.ndarray = given()
    neighbours: str = given("replace", help="Which data sets may not be told apart", choices=tuple(MOVED), quiet=True)
    expected: tuple[float, float] | None = field(
        default=None, metadata={"metavar": "SHAPE RATE", "help": "Gamma prior of the expected number of records"}
    )
    edges: np.ndarray = field(init=False, repr=False)
    squared: bool = field(init=False, repr=False)
    discrete: bool = field(init=False, repr=False)
    scales: np.ndarray = field(init=False, repr=False)
    log_norms: np.ndarray = field(init=False, repr=False)

    in_words = "a trusted holder published the number of records in each bin, with noise added to each count"
    command_name = "histogram"
    output_in_words = "bin of the confidential value y"
    details: ClassVar[dict[str, str]] = {
        "noise": "noise on each count",
        "scale": "scale of the noise",
        "bin_count": "bins",
    }

    def __post_init__(self) -> None:
        self.check_counted()
        # A single bin tells of n alone, and so only of a record that is added or removed.
        single = self.records is None and self.neighbours == "add-remove"
        edges, bounds = read_edges(self.owner, self.bins, self.bounds, least=1 if single else 2)
        fill(self, bins=keep_bins(self.bins, edges), bounds=bounds, edges=edges)
        self.fill_noise(len(edges) - 1)

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[NoisyHistogram]:
        """Return histograms of several numbers of bins, with Laplace noise for ε and Gaussian noise for ρ."""
        noise = "laplace" if "epsilon" in budget else "gaussian"
        return [cls(max(int(n), 1), bins, noise, bounds=bounds, **budget) for bins in BINS_TO_TRY]  # type: ignore[arg-type]

    @classmethod
    def left_out(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return that the number of records is not known, where a record may be added or removed."""
        return {"records": None} if given.get("neighbours") == "add-remove" else {}

    @classmethod
    def read_table(cls, columns: dict[str, np.ndarray]) -> tuple[dict[str, Any], np.ndarray]:
        """Return the bins, and the counts, of a table of lower edges, upper edges and counts."""
        edges, counts = join_bins(**columns)
        return {"bins": edges}, counts

    def after(self, step: Step) -> Histogram:
        """Return the mechanism whose noisy counts are published after a step of post-processing."""
        from privmix.mechanisms.processed_counts import ProcessedCounts

        return ProcessedCounts(self, (step,))

    @property
    def counted_edges(self) -> np.ndarray:
        """The edges of the bins."""
        return self.edges

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars:
        """Return the noisy counts in their own bins, also where they are negative."""
        return Bars(z / (self.count_records(z) * np.diff(self.edges)), self.edges, "released counts (noisy)")

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
