"""Several tables of one data set: fine and coarse histograms of the same records, each with noise of its own.

The tables are joined on common bins, made by all their edges together. A bin of a table is a run of common bins, and
what a table released sees the sum of their counts. Hooks read one row (low, high) for each bin of each table, one table
after the other, as those of processed counts do.

References
----------
Hay, M., Rastogi, V., Miklau, G. and Suciu, D. (2010). Boosting the accuracy of differentially private histograms
    through consistency. VLDB.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np

from privmix.frames import as_floats, columns_of, is_table
from privmix.mechanisms.bars import Bars
from privmix.mechanisms.count_noise import log_noise, log_noise_between
from privmix.mechanisms.histogram import Histogram, find_bin, log_bin, log_counts
from privmix.mechanisms.noisy_histogram import NoisyHistogram
from privmix.mechanisms.processed_counts import ProcessedCounts
from privmix.mechanisms.slots import log_ratio, replace
from privmix.parts.checks import check_count, fill, one_of, single
from privmix.privacy import Guarantee, compose

_NAME = "Tables"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Tables(Histogram):
    """Several noisy histograms of the same records, each with its own bins, noise and post-processing.

    A release is all their counts, one table after the other; give it so, or as a list with the counts of each table.
    One bin alone is a noisy total, where the number of records is not known.

    Guarantee: by composition, the sum of those of the tables: of ε, of ρ, or of ε and δ.

    Parameters
    ----------
    tables
        Two or more of `NoisyHistogram`, or what `Clamped`, `Rounded` and `Withheld` make of one, for the same number of
        records and the same neighbours.

    Examples
    --------
    >>> years = NoisyHistogram(1000, bins=40, epsilon=0.5, bounds=(20.0, 60.0))
    >>> decades = NoisyHistogram(1000, bins=4, epsilon=0.5, bounds=(20.0, 60.0))
    >>> Tables(years, decades).guarantee
    PureDP(epsilon=1.0)
    """

    tables: tuple[Histogram, ...]
    edges: np.ndarray = field(init=False)
    #: of each common bin, its bin in each table, counted through all tables
    cover: np.ndarray = field(init=False)
    squared: np.ndarray = field(init=False)
    discrete: np.ndarray = field(init=False)
    scales: np.ndarray = field(init=False)
    log_norms: np.ndarray = field(init=False)
    records: int | None = field(init=False)
    expected: tuple[float, float] | None = field(init=False)
    bounds: tuple[float, float] = field(init=False)

    is_wrapper: ClassVar[bool] = True
    joins_bins: ClassVar[bool] = True
    column_names: ClassVar[tuple[str, ...]] = ("table", "lower", "upper", "count")
    output_in_words = "bin of the confidential value y"
    details: ClassVar[dict[str, str]] = {"table_count": "tables", "bin_count": "common bins"}

    def __init__(self, *given: Histogram, tables: Iterable[Histogram] = ()) -> None:
        made = (*given, *tables)
        _check_tables(made)
        edges = _common_edges(made)
        middles = 0.5 * (edges[:-1] + edges[1:])
        firsts = np.cumsum([0, *[table.bin_count for table in made]])
        inside = [table.bin_of(middles) for table in made]
        noisy: list[Any] = [table.noisy for table in made]
        lengths = [table.bin_count for table in made]
        fill(self, tables=made, edges=edges, bounds=(float(edges[0]), float(edges[-1])))
        fill(self, cover=np.stack([bins + first for bins, first in zip(inside, firsts, strict=False)], axis=1))
        fill(self, squared=np.repeat([table.squared for table in noisy], lengths))
        fill(self, discrete=np.repeat([table.discrete for table in noisy], lengths))
        fill(self, scales=np.concatenate([table.scales for table in noisy]))
        fill(self, log_norms=np.concatenate([table.log_norms for table in noisy]))
        fill(self, records=made[0].records, expected=noisy[0].expected)

    def __repr__(self) -> str:
        return f"Tables({', '.join(map(repr, self.tables))})"

    @property
    def table_count(self) -> int:
        """Number of tables."""
        return len(self.tables)

    @property
    def neighbours(self) -> str:
        """Which data sets may not be told apart."""
        return self.tables[0].neighbours  # type: ignore[attr-defined]

    @property
    def guarantee(self) -> Guarantee | None:
        """The composition of what the tables promise."""
        return compose([table.guarantee for table in self.tables])

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        each = "; ".join(f"table {t + 1}: {table.in_words}" for t, table in enumerate(self.tables))
        return f"a trusted holder published {len(self.tables)} tables of the same records ({each})"

    @property
    def withholds(self) -> bool:
        """Whether a released count may be missing."""
        return any(table.withholds for table in self.tables)

    @property
    def shown_bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper edges of the bins of all tables."""
        ends = [(table.edges[:-1], table.edges[1:]) for table in self.tables]
        return np.concatenate([lower for lower, _ in ends]), np.concatenate([upper for _, upper in ends])

    @property
    def shows_counts(self) -> bool:
        """Whether a release has a number of records for each of these bins."""
        return True

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the part of each table."""
        return np.split(values, np.cumsum([table.bin_count for table in self.tables])[:-1])

    def statistic(self, y: np.ndarray) -> np.ndarray:
        """Return the counts of all tables, one after the other."""
        return np.concatenate([table.statistic(y) for table in self.tables])

    def gather(self, counts: Any) -> np.ndarray:
        """Return the counts of all tables from those of the common bins."""
        out = np.zeros(len(self.scales))
        np.add.at(out, self.cover, np.asarray(counts, dtype=np.float64)[:, None])
        return out

    def log_bin(self, z, j, count):
        """Return what bin j, counted through all tables, adds to the log density of the release."""
        if count < 0.0:
            return -math.inf
        low, high, scale, log_norm = z[j, 0] - count, z[j, 1] - count, self.scales[j], self.log_norms[j]
        if low == high:
            return log_noise(self.squared[j], low, scale, log_norm)
        return log_noise_between(self.squared[j], self.discrete[j], low, high, scale, log_norm)

    def log_of_counts(self, encoded: np.ndarray, counts: Any) -> float:
        """Return log q(z|counts of the common bins) of a release as hooks read it."""
        return self._log_of_all(encoded, self.gather(counts))

    def _log_of_all(self, encoded: np.ndarray, counts: np.ndarray) -> float:
        return float(sum(self.log_bin(encoded, j, count) for j, count in enumerate(counts)))

    def logpdf(self, z: Any, y: Any) -> float:
        """Return log q(z|y) of a whole release given a whole data set.

        Parameters
        ----------
        z
            A release.
        y
            The confidential records.
        """
        return self._log_of_all(self.encode(self.check_release(z)), self.statistic(self.check_data(y)))

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        return {
            **super().hooks(),
            log_ratio: ratio_of_tables,
            replace: replace_in_tables,
            log_counts: log_of_tables,
        }

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Draw what is published of the counts of all tables."""
        parts = zip(self.tables, self.split(counts), strict=True)
        return np.concatenate([table.perturb_counts(rng, part) for table, part in parts])

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as the counts of all tables, or say what is wrong with it, and in which table."""
        if is_table(z):
            z = self.from_columns(columns_of(z, self.column_names, "the release z", missing=self.withholds))
        if isinstance(z, list | tuple) and len(z) == len(self.tables) and all(np.ndim(part) == 1 for part in z):
            z = np.concatenate([np.asarray(part, dtype=np.float64) for part in z])
        z = as_floats(z, "the release z", missing=self.withholds)
        if z.shape != self.scales.shape:
            each = " + ".join(str(table.bin_count) for table in self.tables)
            raise ValueError(
                f"{_NAME} releases {each} counts, one table after the other; the release z has shape {z.shape}. Check "
                "that the mechanism is the one that made the release."
            )
        return np.concatenate(self._each(lambda table, part: table.check_release(part), z))

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return a row (low, high) for each bin of each table: the noisy counts behind it."""
        rows = self._each(lambda table, part: table.encode(part), z)
        return np.concatenate([np.stack([row, row], axis=-1) if row.ndim == 1 else row for row in rows])

    def _each(self, of: Callable[[Histogram, np.ndarray], np.ndarray], z: np.ndarray) -> list[np.ndarray]:
        found = []
        for t, (table, part) in enumerate(zip(self.tables, self.split(z), strict=True)):
            try:
                found.append(of(table, part))
            except ValueError as error:
                raise ValueError(f"table {t + 1}: {error}") from error
        return found

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return counts of the common bins: those of the finest table, spread by width, with the coarsest's total."""
        parts = list(zip(self.tables, self.split(z), strict=True))
        finest, of_finest = max(parts, key=lambda part: part[0].bin_count)
        coarsest, of_coarsest = min(parts, key=lambda part: part[0].bin_count)
        counts, widths = np.maximum(finest.estimate(of_finest), 0.0), np.diff(self.edges)
        bins = finest.bin_of(0.5 * (self.edges[:-1] + self.edges[1:]))
        spread = counts[bins] * widths / np.bincount(bins, widths, minlength=finest.bin_count)[bins]
        total = max(1.0, float(coarsest.estimate(of_coarsest).sum()))
        return spread * total / spread.sum() if spread.sum() > 0.0 else total * widths / widths.sum()

    def fill_withheld(self, z: np.ndarray) -> np.ndarray:
        """Return a release with the limit in the place of what was withheld."""
        return np.concatenate(self._each(lambda table, part: table.fill_withheld(part), z))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return log P(noise ≥ d) of the least noise that leads to each count."""
        return np.concatenate(self._each(lambda table, part: table.log_tail(part, interval), z))

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return the counts of the table with the most bins."""
        table, part = max(zip(self.tables, self.split(z), strict=True), key=lambda pair: pair[0].bin_count)
        return table.bars(part, lower, upper)

    def to_columns(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the release as one table: number of the table, lower and upper edges, counts."""
        lower, upper = self.shown_bins
        number = np.repeat(np.arange(1.0, len(self.tables) + 1.0), [table.bin_count for table in self.tables])
        return dict(zip(self.column_names, (number, lower, upper, z), strict=True))

    def from_columns(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the counts of a file, or refuse it where its bins are not those of the tables."""
        wanted = self.to_columns(columns["count"]) if len(columns["count"]) == len(self.scales) else None
        if wanted is None or not all(np.array_equal(columns[name], wanted[name]) for name in self.column_names[:3]):
            raise ValueError(
                f"the columns table, lower and upper are not those of the {len(self.scales)} bins of the mechanism's "
                "tables. The file was cut or changed, or belongs to another mechanism; fetch it again."
            )
        return columns["count"]

    def probes(self) -> Iterable[np.ndarray]:
        """Return releases far below and far above all counts: under Laplace noise the worst log-ratio is among them."""
        far = 1000.0 * math.ceil(float(self.scales.max()))
        return map(np.array, product([-far, far], repeat=len(self.scales)))


def Tree(  # noqa: N802 - it is used as a class is
    records: int | None,
    levels: int,
    branching: int = 2,
    noise: str = "discrete laplace",
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    neighbours: str = "replace",
    expected: tuple[float, float] | None = None,
) -> Tables:
    """Return the tree of intervals of Hay, Rastogi, Miklau and Suciu (2010), its budget split evenly over the levels.

    Level l has branching^l equal bins, from l = 1 to the number of levels; where the number of records is not known, a
    noisy total is level 0. A record is in one bin of each level, so the budgets of the levels add up.

    Parameters
    ----------
    records
        Number of records, or None where it is not known.
    levels
        Levels below the root.
    branching
        Into how many parts each interval is divided.
    noise
        As in `NoisyHistogram`.
    epsilon, rho
        Budget of the whole release: ε for Laplace noise, ρ for Gaussian noise.
    bounds
        Range of a record.
    neighbours, expected
        As in `NoisyHistogram`.

    Examples
    --------
    >>> Tree(1000, levels=3, epsilon=1.0).guarantee
    PureDP(epsilon=1.0)
    """
    check_count("levels", levels, 1, "Tree")
    check_count("branching", branching, 2, "Tree")
    name = one_of("Tree", epsilon=epsilon, rho=rho)
    first = 0 if records is None and neighbours == "add-remove" else 1
    budget: dict[str, Any] = {name: single(name, epsilon if rho is None else rho) / (levels + 1 - first)}
    shared: dict[str, Any] = {"bounds": bounds, "neighbours": neighbours, "expected": expected, **budget}
    return Tables(*[NoisyHistogram(records, branching**level, noise, **shared) for level in range(first, levels + 1)])


def _check_tables(tables: tuple[Any, ...]) -> None:
    for table in tables:
        if not isinstance(table, NoisyHistogram | ProcessedCounts) or table.names:
            raise TypeError(
                f"{_NAME} joins noisy histograms of one column (NoisyHistogram, and what Clamped, Rounded and Withheld "
                f"make of one); got {table!r}."
            )
    if any(table.clipped_at is not None for table in tables):
        raise ValueError(
            f"{_NAME} does not join clipped histograms. Give the histograms without Clipped, and a kernel on the whole "
            "line such as kernels.HierarchicalNormal(bounds): their outermost bins hold what lies beyond."
        )
    if len(tables) < 2:
        raise ValueError(f"{_NAME} joins at least two tables; got {len(tables)}.")
    for name in ("records", "neighbours", "expected"):
        found = [getattr(table, name) for table in tables]
        if any(value != found[0] for value in found):
            raise ValueError(
                f"{_NAME}: all tables are of the same records, but {name} is {', '.join(map(repr, found))}. Make them "
                "agree."
            )


def _common_edges(tables: tuple[Any, ...]) -> np.ndarray:
    """Return the edges of all tables together; the outermost bins of each are open outwards."""
    inner = np.unique(np.concatenate([table.edges[1:-1] for table in tables]))
    lower, upper = min(table.edges[0] for table in tables), max(table.edges[-1] for table in tables)
    # Edges of equal bins may differ by rounding from one number of bins to another.
    inner = inner[np.append(True, np.diff(inner) > 1e-9 * (upper - lower))] if len(inner) else inner
    edges = np.concatenate([[lower], inner, [upper]])
    if len(edges) < 3:
        raise ValueError(f"{_NAME}: all tables have a single bin, so they say nothing of where records lie.")
    edges.setflags(write=False)
    return edges


def ratio_of_tables(mechanism, z, statistic, old, new):
    """Return the log ratio of the release's density when one record moves from old to new."""
    j, k = find_bin(mechanism.edges, old), find_bin(mechanism.edges, new)
    total = 0.0
    if j == k:
        return total
    for t in range(mechanism.cover.shape[1]):
        a, b = mechanism.cover[j, t], mechanism.cover[k, t]
        if a != b:
            total += log_bin(mechanism, z, a, statistic[a] - 1.0) - log_bin(mechanism, z, a, statistic[a])
            total += log_bin(mechanism, z, b, statistic[b] + 1.0) - log_bin(mechanism, z, b, statistic[b])
    return total


def replace_in_tables(mechanism, statistic, old, new):
    """Move one record of the counts of all tables from old to new, in place."""
    j, k = find_bin(mechanism.edges, old), find_bin(mechanism.edges, new)
    for t in range(mechanism.cover.shape[1]):
        statistic[mechanism.cover[j, t]] -= 1.0
        statistic[mechanism.cover[k, t]] += 1.0


def log_of_tables(mechanism, z, counts):
    """Return log q(z|counts of the common bins): a bin of a table is a run of common bins."""
    total = 0.0
    for t in range(mechanism.cover.shape[1]):
        inside = 0.0
        for j in range(len(counts)):
            inside += counts[j]
            if j + 1 == len(counts) or mechanism.cover[j + 1, t] != mechanism.cover[j, t]:
                total += log_bin(mechanism, z, mechanism.cover[j, t], inside)
                inside = 0.0
    return total
