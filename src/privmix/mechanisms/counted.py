"""Counts of what a mechanism released: how many of its records fell into each bin, or took each of its few values.

Each record was perturbed by itself; the table of counts is what is kept of them. So the guarantee is that of each
record, as before, and the table says nothing of which record is where: order and labels are gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.frames import as_floats, columns_of, is_table
from privmix.frames.rows import pick_columns, with_texts
from privmix.mechanisms.bars import BARS, Bars
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.equal_bins import default_bins, default_span, noised_interval
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.wrapper import of_wrapped
from privmix.parts.checks import check_count, fill

if TYPE_CHECKING:
    import pandas as pd

# More bins than this make a table that no sampler waits for.
MOST_BINS_OF_ALL = 100_000
# Width of a bin over the largest edge below which rounding could move a record by more than one bin.
NARROWEST_BIN = 1e-12
# Records from which a chain on counts starts: so many plausible ones show where the records are.
MOST_RECORDS_AT_START = 4096
# Largest count that floating point holds exactly.
LARGEST_COUNT = 2.0**53


def refusal(mechanism: Any) -> str:
    """Return why what a mechanism releases of each record does not come in counts, or "" where it does."""
    if not isinstance(mechanism, LocalMechanism):
        name = type(mechanism).__name__ if isinstance(mechanism, Mechanism) else repr(mechanism)
        return f"{name} is no mechanism that releases each record by itself."
    if mechanism.names:
        return mechanism.why_not_counted()
    name = type(mechanism).__name__
    if mechanism.row_length is not None or mechanism.dimension > 1:
        return f"{name} releases several numbers a record."
    if mechanism.reveals:
        return f"{name} adds no noise, so that rounding to bins would lose what it tells."
    if mechanism.withholds or mechanism.publishes_intervals or (mechanism.output_step and mechanism.outputs is None):
        return (
            f"{name} publishes numbers that stand for others (on a lattice, clamped, rounded), not in equal bins. Fit "
            "its records."
        )
    if mechanism.varying_fields():
        return "noise that differs between records does not come in counts. Count each level of noise by itself."
    known = mechanism.outputs is not None or mechanism.release_range is not None
    if not known and (noised_interval(mechanism) is None or mechanism.noise_spread() is None):
        return f"{name} needs bounds and noise of a known spread, from which the bins follow."
    return ""


def read_counts(mechanism: Any, z: Any) -> np.ndarray:
    """Return counts as an array of floats; a table is read by its columns."""
    if is_table(z) and (mechanism.names or mechanism.text_columns()):
        z = mechanism.from_columns(pick_columns(z, mechanism.file_columns(), "the release z"))
    elif is_table(z):
        z = mechanism.from_columns(columns_of(z, tuple(mechanism.file_columns()), "the release z"))
    return as_floats(z, "the release z")


def _of_each(name: str) -> Any:
    return property(lambda self: getattr(self.mechanism, name), doc=getattr(Mechanism, name).__doc__)


@dataclass(frozen=True, eq=False)
class Counted(Mechanism):
    """How many released records fell into each bin: a table in place of the records.

    A mechanism with few outputs has one bin for each, and nothing is lost. Of rows whose columns all have few outputs
    (`Each`), a bin is a cell: an output of each column, or its entry missing. Else the released numbers are rounded to
    equal bins, each closed on the left, the outermost open: the posterior is that of the rounded release.

    Guarantee: that of the mechanism, for each record. To count what was released is post-processing. A person with
    several records, on several days say, has the sum of their budgets.

    Parameters
    ----------
    mechanism
        What released each record: one number, with noise.
    bins
        Number of bins; by default so many that one is a tenth of the noise's standard deviation wide, from 64 to
        2,048. A mechanism with few outputs has as many as those.
    span
        Interval that is cut into bins; by default the bounds and five standard deviations of the noise on either side,
        of a staircase's at most 36 widths of the bounds.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> Counted(Laplace(epsilon=2.0, bounds=(0.0, 1.0)), bins=100).guarantee
    PureDP(epsilon=2.0)
    """

    mechanism: LocalMechanism
    bins: int = None  # type: ignore[assignment]
    span: tuple[float, float] | None = None

    is_global: ClassVar[bool] = True
    is_counted: ClassVar[bool] = True
    is_wrapper: ClassVar[bool] = True
    details: ClassVar[dict[str, str]] = {"bins": "bins of the counts"}

    outputs = _of_each("outputs")
    names_cells = _of_each("names_cells")
    output_in_words = _of_each("output_in_words")
    lattice_step = _of_each("lattice_step")

    def __post_init__(self) -> None:
        reason = refusal(self.mechanism)
        if reason:
            raise ValueError(f"Counted: {reason}")
        if self.names and "count" in self.names:
            raise ValueError("Counted: a table would have two columns 'count'. Rename the column of the records.")
        if self.outputs is not None:
            if self.bins not in (None, len(self.outputs)) or self.span is not None:
                raise ValueError(
                    f"Counted: {self.name_of_each} has {len(self.outputs)} outputs, which are its bins. Leave bins out."
                )
            fill(self, bins=len(self.outputs))
            return
        span = self._check_span()
        bins = default_bins(self.mechanism, span[1] - span[0]) if self.bins is None else self.bins
        check_count("bins", bins, 2, owner="Counted")
        if bins > MOST_BINS_OF_ALL:
            raise ValueError(f"Counted: bins={bins} is more than {MOST_BINS_OF_ALL:,}. Give fewer.")
        if (span[1] - span[0]) / bins < NARROWEST_BIN * max(map(abs, span)):
            raise ValueError(f"Counted: {bins} bins of {span[0]:g} to {span[1]:g} are too narrow for floating point.")
        fill(self, bins=int(bins), span=span)

    def _check_span(self) -> tuple[float, float]:
        if self.span is None:
            return default_span(self.mechanism)
        lower, upper = map(float, self.span)
        if not -math.inf < lower < upper < math.inf:
            raise ValueError(f"Counted: span must be two finite numbers, the lower first; got {self.span!r}.")
        if self.mechanism.release_range not in (None, (lower, upper)):
            raise ValueError(f"Counted: {self.name_of_each} releases numbers of a known range. Leave span out.")
        return lower, upper

    @property
    def each(self) -> LocalMechanism:
        """The mechanism that released each record."""
        return self.mechanism

    @property
    def tables(self) -> tuple[Counted, ...]:
        """The bins of each class of records, of which there is one."""
        return (self,)

    @property
    def names(self) -> Any:
        """The names of the columns of a record, where it has several."""
        return self.mechanism.names

    @property
    def children(self) -> Any:
        """The mechanisms of the columns."""
        return self.mechanism.children  # type: ignore[attr-defined]

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns of a record."""
        return self.mechanism.dimension

    @property
    def name_of_each(self) -> str:
        """Name of the mechanism of each record."""
        return type(self.mechanism).__name__

    bounds = of_wrapped("bounds")
    clipped_at = of_wrapped("clipped_at")
    guarantee = of_wrapped("guarantee")
    categories = of_wrapped("categories")
    drawn_by = of_wrapped("drawn_by")
    withholds = of_wrapped("withholds")

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{self.mechanism.in_words}; of what was released, the records in each bin were counted"

    @property
    def edges(self) -> np.ndarray | None:
        """Edges of the bins, the outermost of which are open; None where the bins are outputs."""
        return None if self.span is None else np.linspace(*self.span, self.bins + 1)

    @property
    def places(self) -> np.ndarray:
        """A released value of each bin: its middle, or the output."""
        edges = self.edges
        return np.array(self.outputs, dtype=np.float64) if edges is None else 0.5 * (edges[1:] + edges[:-1])

    def count(self, z: np.ndarray) -> np.ndarray:
        """Return how many released records are in each bin."""
        edges = self.edges
        if edges is not None:
            return np.bincount(np.searchsorted(edges[1:-1], z, side="right"), minlength=self.bins).astype(np.float64)
        return np.bincount(self.mechanism.place_of(z), minlength=self.bins).astype(np.float64)

    def split_counts(self, z: np.ndarray) -> list[tuple[Counted, np.ndarray]]:
        """Return the bins and the counts of each class of records: there is one."""
        return [(self, z)]

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw what is released of each record, and count it."""
        return self.count(self.mechanism.perturb(rng, y))

    def column_alone(self, z: np.ndarray, j: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
        """Return one column of cells: the counts of its outputs, without the records that did not report it."""
        counts = z.reshape([len(child.outputs) + 1 for child in self.children])
        others = tuple(k for k in range(counts.ndim) if k != j)
        return Counted(self.children[j]), counts.sum(axis=others)[:-1], np.zeros(0, bool)

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return the counts: a table has no labels of the records."""
        return z

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential data as the mechanism of each record checks them."""
        return self.mechanism.check_data(y)

    def count_records(self, z: np.ndarray) -> int:
        """Return the sum of the counts."""
        return int(z.sum())

    def check_release(self, z: Any) -> np.ndarray:
        """Return counts as an array of floats, or say what is wrong with them; a table is read by its columns."""
        z = read_counts(self, z)
        if z.shape != (self.bins,):
            raise ValueError(
                f"Counted({self.name_of_each}) has {self.bins} bins, each with its count; the release z has shape "
                f"{z.shape}. privmix.count(frame, column, mechanism) makes the counts of records."
            )
        self.check_counts(z)
        if not 1.0 <= z.sum() <= LARGEST_COUNT:
            raise ValueError(f"the counts sum to {z.sum():g}; at least one record is needed, and at most 2^53.")
        return z

    def check_counts(self, z: np.ndarray) -> None:
        """Refuse what are no counts; they may all be 0, of a class without records."""
        bad = (z < 0.0) | (z != np.floor(z))
        if bad.any():
            raise ValueError(
                f"counts are whole numbers of at least 0; the release z has {np.count_nonzero(bad)} others, the first "
                f"{z[bad][0]:g}. Counts with noise on them are a NoisyHistogram."
            )

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return the counts, which is what hooks read."""
        return z

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return some plausible records, at even steps of the counts: no more than a start needs, however many."""
        n = z.sum()
        level = (np.arange(int(min(n, MOST_RECORDS_AT_START))) + 0.5) / min(n, MOST_RECORDS_AT_START) * n
        return self.mechanism.initial(self.places[np.searchsorted(np.cumsum(z), level)])

    def numbers(self) -> Any:
        """Return the numbers of the mechanism of each record."""
        return self.mechanism.numbers()

    def per_record_fields(self) -> tuple[str, ...]:
        """Return no field: all records have the same noise."""
        return ()

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that the mechanism of each record fills."""
        return self.mechanism.hooks()

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return a bound of log P(so many records in a bin), for each, whatever the records in an interval.

        By Chernoff's inequality, from the most probability that the bin can have.
        """
        edges = self.edges
        if edges is None or not z.any():
            return np.zeros(z.shape)
        nearest = np.clip(0.5 * (interval[0] + interval[1]), edges[:-1], edges[1:])
        chance, share = np.exp(self.mechanism.log_tail(nearest, interval)), z / z.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.where(share > 0.0, share * np.log(share / chance), 0.0)
            gap += np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - chance)), 0.0)
        return np.where(share > chance, -z.sum() * gap, 0.0)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return the counts as shares of all records, neighbouring bins joined; None where bins are outputs."""
        edges = self.edges
        if edges is None or not lower < upper:
            return None
        inside = np.flatnonzero((edges[:-1] >= lower) & (edges[1:] <= upper))
        together = max(1, len(inside) // BARS)
        first = inside[: len(inside) // together * together : together]
        if not len(first):
            return None
        ends = edges[np.append(first, first[-1] + together)]
        heights = np.add.reduceat(np.append(z, 0.0), np.append(first, first[-1] + together))[:-1]
        return Bars(heights / (z.sum() * np.diff(ends)), ends, "release (noisy)")

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a table of counts."""
        if self.names:
            return [*self.names, "count"]
        return ["z", "count"] if self.span is None else ["lower", "upper", "count"]

    def text_columns(self) -> list[str]:
        """Return the columns of a file whose cells are names of categories."""
        if self.names:
            return self.mechanism.text_columns()
        return ["z"] if self.mechanism.releases_categories else []

    def to_columns(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the counts as a table with the edges of the bins, or with the outputs."""
        edges = self.edges
        where: dict[str, Any] = {"lower": edges[:-1], "upper": edges[1:]} if edges is not None else {}
        if edges is None:
            where = {"z": self.mechanism.show_column(self.places)}
        if self.names:
            where = self.mechanism.to_columns(self.places)
        return {**where, "count": z}

    def to_frame(self, z: Any) -> pd.DataFrame:
        """Return counts as a frame, a row a bin: what a table is published as, and `check_release` reads.

        Parameters
        ----------
        z
            Counts of all bins.
        """
        import pandas as pd

        return pd.DataFrame(with_texts(self.to_columns(self.check_release(z))))

    def from_columns(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the counts of a table, or refuse it where its bins are not the mechanism's."""
        if self.names:
            return self._from_cells(columns)
        if self.text_columns():
            columns = {**columns, "z": self.mechanism.read_column(columns["z"])}
        wanted = self.to_columns(np.zeros(self.bins)) | ({"z": self.places} if self.span is None else {})
        for name in self.file_columns()[:-1]:
            # Edges that another program wrote, or made, may differ in the last digit.
            close = 1e-9 * (1.0 if self.span is None else self.span[1] - self.span[0])
            found = columns[name]
            if found.shape != wanted[name].shape or not np.allclose(found, wanted[name], rtol=0.0, atol=close):
                raise ValueError(
                    f"the column {name} is not that of the {self.bins} bins of {self.name_of_each}. The table was cut "
                    "or changed, or belongs to another mechanism; fetch it again."
                )
        return as_floats(columns["count"], "the counts")

    def _from_cells(self, columns: dict[str, Any]) -> np.ndarray:
        """Return the counts of rows of cells in any order; those that the table leaves out are empty."""
        rows: Any = self.mechanism
        place = rows.place_of(rows.read_rows({name: columns[name] for name in self.names}))
        if len(np.unique(place)) < len(place):
            raise ValueError("the table of counts has two rows for one cell. Add them up.")
        counts = np.zeros(self.bins)
        counts[place] = as_floats(columns["count"], "the counts")
        return counts
