"""Tables of counts of several columns: a bin is a cell, one bin of each column."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.frames import as_floats, is_table, like
from privmix.frames.rows import pick_columns, with_texts
from privmix.mechanisms.bars import Bars
from privmix.mechanisms.counted import MOST_RECORDS_AT_START
from privmix.mechanisms.histogram import Histogram, bin_at, find_bin
from privmix.mechanisms.table_columns import Axis
from privmix.parts.columns import NamedColumns, of_column

if TYPE_CHECKING:
    import pandas as pd

    from privmix.mechanisms.base import Mechanism

# Records of a start lie at these multiples, without their whole parts, of the way through the bins of the columns.
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


class TableOfCells(NamedColumns, Histogram):
    """A mechanism that sees the counts of cells of rows, each cell by itself: what does not depend on the noise.

    Cells are numbered with the last column running fastest. A subclass is a frozen dataclass with ``axes``, the
    columns; ``edges``, those of all columns one after the other; and ``starts``, where each column's begin.
    """

    axes: tuple[Axis, ...]
    starts: np.ndarray
    columns_apart: ClassVar[bool] = True
    output_in_words = "released count"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.name for axis in self.axes)

    @property
    def children(self) -> tuple[Any, ...]:
        """The columns by themselves: what the cells say of each, added up over the others."""
        from privmix.mechanisms.margin import Margin

        return tuple(Margin(self, j) for j in range(len(self.axes)))

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return len(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of bins of each column: ``z.reshape(mechanism.shape)`` is the table."""
        return tuple(axis.bins for axis in self.axes)

    @property
    def cells_in_words(self) -> str:
        """The numbers of bins, for a report."""
        return " × ".join(map(str, self.shape))

    @property
    def bin_edges(self) -> None:  # type: ignore[override]
        """None: a cell is no interval."""
        return None

    @property
    def bin_count(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def bin_middles(self) -> np.ndarray:
        """A row in the middle of each cell."""
        return self._rows(np.arange(self.bin_count))

    def bins_in_words(self) -> list[str]:
        """Return what to call each cell."""
        places = zip(*np.unravel_index(np.arange(self.bin_count), self.shape), strict=True)
        return [", ".join(axis.in_words(k) for axis, k in zip(self.axes, cell, strict=True)) for cell in places]

    @property
    def shown_bins(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each cell, twice: it has no edges on one axis."""
        number = np.arange(self.bin_count, dtype=np.float64)
        return number, number

    @property
    def shows_counts(self) -> bool:
        """Whether a release has a number of records for each cell."""
        return True

    def bin_of(self, y: np.ndarray) -> np.ndarray:
        """Return the cell of each row."""
        places = [axis.bin_of(column) for axis, column in zip(self.axes, y.T, strict=True)]
        return np.ravel_multi_index(places, self.shape)

    def _rows(self, cell: np.ndarray, share: np.ndarray | None = None) -> np.ndarray:
        """Return a row in each of some cells: in its middle, or a share of the way through each of its bins."""
        places, shares = np.unravel_index(cell, self.shape), [0.5] * len(self.axes) if share is None else share
        return np.column_stack([axis.values(*at) for axis, *at in zip(self.axes, places, shares, strict=True)])

    @property
    def reference(self) -> np.ndarray:  # type: ignore[override]
        """A row of the first cell."""
        return self._rows(np.zeros(1, int))[0]

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return rows at even steps of the estimated counts, spread over their cells.

        Where their number is not known, the sampler keeps counts, and some are enough for a start, however many.
        """
        counts, records = np.clip(self.estimate(z), 0.0, None), self.count_records(z)
        if self.records_unknown:
            records = min(records, MOST_RECORDS_AT_START)
        if not counts.sum() > 0.0:
            counts = np.ones(self.bin_count)
        level = (np.arange(records) + 0.5) / records * counts.sum()
        cell = np.minimum(np.searchsorted(np.cumsum(counts), level), self.bin_count - 1)
        return self._rows(cell, np.outer(GOLDEN ** np.arange(1, len(self.axes) + 1), np.arange(records)) % 1.0)

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        return {**super().hooks(), bin_at: cell_of_row}

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential rows as an array of floats, categories by their places, or say what is wrong."""
        return self._each_column(y, lambda name, child, column: child.check_data(column))

    def clip_data(self, y: Any, stacklevel: int = 2, of: str = "") -> np.ndarray:
        """Return confidential rows inside the bounds of their columns; warnings say how many were outside."""
        return self._each_column(y, lambda name, child, column: child.clip_data(column, stacklevel + 3, f" of {name}"))

    def _each_column(self, y: Any, check: Callable[[str, Mechanism, Any], np.ndarray]) -> np.ndarray:
        found, columns = pick_columns(y, self.names, "the data y"), []
        for name, child in zip(self.names, self.children, strict=True):
            with of_column(name):
                columns.append(check(name, child, found[name]))
        rows = np.column_stack(columns)
        self.check_records(len(rows))
        return rows

    def read_counts(self, z: Any) -> np.ndarray:
        """Return a release of one number a cell: a table by its columns, an array of all cells or of the shape."""
        if is_table(z):
            z = self.from_columns(pick_columns(z, self.file_columns(), "the release z"))
        elif np.shape(z) == self.shape:
            z = np.reshape(np.asanyarray(z), -1)
        z = as_floats(z, "the release z", missing=self.withholds)
        if z.shape != (self.bin_count,):
            raise ValueError(
                f"{type(self.noisy).__name__} releases {self.cells_in_words} counts, one a cell; the release z has "
                f"shape {z.shape}. Check that the mechanism is the one that made the release."
            )
        return z

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a release in a file: the bins of each column, and the count."""
        return [*[name for axis in self.axes for name in axis.file_columns], "count"]

    def text_columns(self) -> list[str]:
        """Return the columns of a file whose cells are names of categories."""
        return [axis.name for axis in self.axes if axis.categories is not None]

    def to_columns(self, z: np.ndarray) -> dict[str, Any]:
        """Return the release as a table with a row a cell."""
        places = np.unravel_index(np.arange(self.bin_count), self.shape)
        where = [axis.to_columns(place) for axis, place in zip(self.axes, places, strict=True)]
        return {**{name: column for columns in where for name, column in columns.items()}, "count": z}

    def from_columns(self, columns: dict[str, Any]) -> np.ndarray:
        """Return the counts of a table whose rows may be in any order; a cell may be left out if it was withheld."""
        cell = np.ravel_multi_index([axis.from_columns(columns) for axis in self.axes], self.shape)
        times = np.bincount(cell, minlength=self.bin_count)
        wrong = np.flatnonzero((times > 1) | ((times == 0) & (not self.withholds)))
        if len(wrong):
            named, held = self.bins_in_words()[wrong[0]], "two rows" if times[wrong[0]] else "no row"
            raise ValueError(
                f"the table has {held} for the cell {named}; each of the {self.cells_in_words} cells has one, empty "
                "ones too, with noise on it. If small counts were not published, wrap the mechanism in Withheld(…)."
            )
        counts = np.full(self.bin_count, np.nan)
        counts[cell] = as_floats(columns["count"], "the counts", missing=self.withholds)
        return counts

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return a release as a table of the kind of frame that the data came in; as counts where they were none."""
        made = like(given, with_texts(self.to_columns(z)))
        return z if isinstance(made, dict) else made

    def to_frame(self, z: Any) -> pd.DataFrame:
        """Return counts as a frame, a row a cell: what a table is published as, and `check_release` reads.

        Parameters
        ----------
        z
            Counts of all cells.
        """
        import pandas as pd

        return pd.DataFrame(with_texts(self.to_columns(self.check_release(z))))

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return None: cells of several columns have no place on one axis."""
        return None

    def column_alone(self, z: np.ndarray, j: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
        """Return one column: the counts of its bins, added up over the cells; what was withheld as its limit."""
        others = tuple(k for k in range(len(self.axes)) if k != j)
        return self.children[j], self.fill_withheld(z).reshape(self.shape).sum(axis=others), np.zeros(0, bool)


def cell_of_row(mechanism, y):
    """Return the cell of a row: the bins of its columns, the last one running fastest."""
    cell = 0
    for c in range(len(mechanism.starts) - 1):
        edges = mechanism.edges[mechanism.starts[c] : mechanism.starts[c + 1]]
        cell = cell * (len(edges) - 1) + find_bin(edges, y[c])
    return cell
