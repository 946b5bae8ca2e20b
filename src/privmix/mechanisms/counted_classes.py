"""Counts of one column that several mechanisms released: a table for each, and one likelihood of all.

People who chose their own ε, days with another budget, two versions of an app: each record went through the mechanism
of its class, and the table says which. With π_k the share of class k, a record is in bin b of table k with probability
π_k p_kb; so all tables are one table whose bins are those of the classes, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privmix.jit import numbers_of
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.counted import LARGEST_COUNT, MOST_RECORDS_AT_START, Counted, read_counts
from privmix.mechanisms.local import LocalMechanism
from privmix.parts.checks import fill
from privmix.privacy import Guarantee, weakest


@dataclass(frozen=True)
class ByClass(LocalMechanism):
    """One of several mechanisms for each record, its class drawn without looking; a release is (class, number)."""

    mechanisms: tuple[LocalMechanism, ...]
    shares: tuple[float, ...]

    is_wrapper: ClassVar[bool] = True
    row_length = 2

    @property
    def bounds(self) -> Any:
        """Range of a record, the same for all classes."""
        return self.mechanisms[0].bounds

    @property
    def guarantee(self) -> Guarantee | None:
        """The weakest of what the classes promise."""
        return weakest([mechanism.guarantee for mechanism in self.mechanisms])

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        each = "; ".join(f"class {k + 1}: {mechanism.in_words}" for k, mechanism in enumerate(self.mechanisms))
        return f"each record was published by the mechanism of its class ({each})"

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the class and the released number of each record."""
        drawn = rng.choice(len(self.shares), size=len(y), p=self.shares)
        z = np.empty(len(y))
        for k, mechanism in enumerate(self.mechanisms):
            z[drawn == k] = mechanism.perturb(rng, y[drawn == k])
        return np.column_stack([drawn, z])


@dataclass(frozen=True, eq=False)
class CountedClasses(Mechanism):
    """How many released records of each class fell into each bin: a table for each mechanism of one column.

    `privmix.count(frame, column, {class: mechanism}, by=)` makes it, and so do two tables of different mechanisms that
    are added. All classes must be of one population: who is in which class may not depend on the value.

    Guarantee: the weakest of the classes; each record has that of its own.

    Parameters
    ----------
    tables
        The bins of each class, as `Counted`; all of one range of records.
    shares
        Share of the records that is in each class, which is public.

    Examples
    --------
    >>> from privmix.mechanisms import Counted, Laplace
    >>> careful, open = (Counted(Laplace(epsilon=e, bounds=(0.0, 1.0)), bins=50) for e in (1.0, 4.0))
    >>> CountedClasses((careful, open), shares=(0.3, 0.7)).guarantee
    PureDP(epsilon=4.0)
    """

    tables: tuple[Counted, ...]
    shares: tuple[float, ...]

    is_global: ClassVar[bool] = True
    is_counted: ClassVar[bool] = True
    is_wrapper: ClassVar[bool] = True
    details: ClassVar[dict[str, str]] = {"bins": "bins of all classes"}
    #: released values have no common axis
    edges: ClassVar[None] = None

    def __post_init__(self) -> None:
        tables, shares = tuple(self.tables), tuple(float(share) for share in self.shares)
        check_tables(tables)
        if len(shares) != len(tables) or not min(shares) > 0.0 or abs(sum(shares) - 1.0) > 1e-9:
            raise ValueError(
                f"CountedClasses: shares must be a positive number for each of {len(tables)} classes, 1 in all; got "
                f"{self.shares!r}."
            )
        fill(self, tables=tables, shares=shares)

    @property
    def each(self) -> ByClass:
        """What released each record: the mechanism of its class."""
        return ByClass(tuple(table.mechanism for table in self.tables), self.shares)

    @property
    def bins(self) -> int:
        """Number of bins of all classes."""
        return sum(table.bins for table in self.tables)

    @property
    def bounds(self) -> Any:
        """Range of a record."""
        return self.tables[0].bounds

    @property
    def clipped_at(self) -> Any:
        """Interval into which records were moved before the noise, or None."""
        return self.tables[0].clipped_at

    @property
    def lattice_step(self) -> float | None:
        """Distance of neighbouring values that a record can take, where they are known to lie on a lattice."""
        return self.tables[0].lattice_step

    @property
    def guarantee(self) -> Guarantee | None:
        """The weakest of what the classes promise."""
        return self.each.guarantee

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{self.each.in_words}; of what was released, the records of each class in each bin were counted"

    @property
    def places(self) -> np.ndarray:
        """A released value of each bin."""
        return np.concatenate([table.places for table in self.tables])

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the part of each class."""
        return np.split(values, np.cumsum([table.bins for table in self.tables])[:-1])

    def split_counts(self, z: np.ndarray) -> list[tuple[Counted, np.ndarray]]:
        """Return the bins and the counts of each class."""
        return list(zip(self.tables, self.split(z), strict=True))

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw class and release of each record, and count them."""
        made = self.each.perturb(rng, y)
        return np.concatenate([table.count(made[made[:, 0] == k, 1]) for k, table in enumerate(self.tables)])

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return the counts: a table has no labels of the records."""
        return z

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential data as the mechanisms check them."""
        return self.tables[0].check_data(y)

    def count_records(self, z: np.ndarray) -> int:
        """Return the sum of the counts."""
        return int(z.sum())

    def check_release(self, z: Any) -> np.ndarray:
        """Return counts as an array of floats, or say what is wrong with them; a table is read by its columns."""
        z = read_counts(self, z)
        if z.shape != (self.bins,):
            raise ValueError(
                f"CountedClasses has {self.bins} bins in {len(self.tables)} classes; the release z has shape {z.shape}."
            )
        for table, part in self.split_counts(z):
            table.check_counts(part)
        if not 1.0 <= z.sum() <= LARGEST_COUNT:
            raise ValueError(f"the counts sum to {z.sum():g}; at least one record is needed, and at most 2^53.")
        return z

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return some plausible records, at even steps of the counts of all classes."""
        n = z.sum()
        wanted = min(n, MOST_RECORDS_AT_START)
        level = (np.arange(int(wanted)) + 0.5) / wanted * n
        kept = np.bincount(np.searchsorted(np.cumsum(z), level), minlength=self.bins)
        each = zip(self.tables, self.split(kept), strict=True)
        return np.concatenate([table.mechanism.initial(np.repeat(table.places, some)) for table, some in each])

    def numbers(self) -> Any:
        """Return the numbers of the mechanisms, and the share of each class."""
        each = {f"c{k}": table.numbers() for k, table in enumerate(self.tables)}
        return numbers_of({**each, "shares": np.array(self.shares)})

    def per_record_fields(self) -> tuple[str, ...]:
        """Return no field: all records of a class have the same noise."""
        return ()

    def hooks(self) -> dict[Callable, Callable]:
        """Return no slot: those of a class are in the scope of its bins."""
        return {}

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return a bound of log P(so many records in a bin) of each bin, whatever the records in an interval."""
        return np.concatenate([table.log_tail(part, interval) for table, part in self.split_counts(z)])

    def bars(self, z: np.ndarray, lower: float, upper: float) -> None:
        """Return nothing: noise of several sizes has no common picture."""
        return

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a table of counts."""
        return ["class", "lower", "upper", "count"]

    def to_columns(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the counts as a table with class and edges of the bins; both edges are the output where it is one."""
        number = np.repeat(np.arange(1.0, 1.0 + len(self.tables)), [table.bins for table in self.tables])
        ends = [
            (table.places, table.places) if table.edges is None else (table.edges[:-1], table.edges[1:])
            for table in self.tables
        ]
        lower, upper = (np.concatenate(side) for side in zip(*ends, strict=True))
        return {"class": number, "lower": lower, "upper": upper, "count": z}

    def from_columns(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the counts of a table, or refuse it where its bins are not those of the classes."""
        wanted = self.to_columns(np.zeros(self.bins))
        for name in self.file_columns()[:-1]:
            found, close = columns[name], 1e-9 * (float(np.ptp(wanted[name])) or 1.0)
            if found.shape != wanted[name].shape or not np.allclose(found, wanted[name], rtol=0.0, atol=close):
                raise ValueError(
                    f"the column {name} is not that of the {self.bins} bins of {len(self.tables)} classes. The table "
                    "was cut or changed, or belongs to other mechanisms; fetch it again."
                )
        return columns["count"]


def check_tables(tables: Sequence[Any]) -> None:
    """Refuse what are no tables of one column, each by a mechanism of its own."""
    strange = [table for table in tables if not isinstance(table, Counted)]
    if strange or len(tables) < 2:
        got = f"got {strange[0]!r}" if strange else f"got {len(tables)}"
        raise ValueError(f"CountedClasses needs two tables or more, each a Counted; {got}.")
    first = tables[0]
    for table in tables[1:]:
        if (table.bounds, table.clipped_at, table.lattice_step) != (first.bounds, first.clipped_at, first.lattice_step):
            raise ValueError(
                f"tables of counts are of one column only where their records have the same range; got {first.bounds} "
                f"and {table.bounds}. Give the mechanisms the same bounds."
            )
    for k, table in enumerate(tables):
        if any(table.mechanism == other.mechanism for other in tables[:k]):
            raise ValueError(
                f"two tables of {table.name_of_each} have the same mechanism and different bins, or are not added up. "
                "Count all records of one mechanism with the same bins, in one table."
            )


def join_counts(pairs: Sequence[tuple[Counted, np.ndarray]]) -> tuple[np.ndarray, Counted | CountedClasses]:
    """Return counts of all records and their mechanism: tables of the same bins are added, others become classes."""
    found: dict[Counted, np.ndarray] = {}
    for table, counts in pairs:
        found[table] = found.get(table, 0.0) + counts
    if len(found) == 1:
        return (*found.values(), *found)  # type: ignore[return-value]
    total = sum(counts.sum() for counts in found.values())
    shares = tuple(float(counts.sum() / total) for counts in found.values())
    return np.concatenate(list(found.values())), CountedClasses(tuple(found), shares)
