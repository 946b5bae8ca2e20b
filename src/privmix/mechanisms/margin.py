"""One column of a noisy table by itself: the counts of its bins, added up over the cells of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.global_mechanism import GlobalMechanism
from privmix.mechanisms.table_cells import TableOfCells


@dataclass(frozen=True, eq=False, repr=False)
class Margin(GlobalMechanism):
    """A column of a noisy table, to read a fit by: sums of noisy counts have noise without a name, so none is fitted.

    Parameters
    ----------
    table
        The mechanism of the whole table.
    place
        Which of its columns.
    """

    table: TableOfCells
    place: int

    is_wrapper: ClassVar[bool] = True
    output_in_words = "released count"
    column_names: ClassVar[tuple[str, ...]] = ("count",)

    def __repr__(self) -> str:
        return f"column {self.table.names[self.place]!r} of {self.table!r}"

    @property
    def each(self) -> TableOfCells:
        """The whole table, which is what a reader knows."""
        return self.table

    @property
    def records(self) -> int | None:
        """Number of records, where it is public."""
        return self.table.records

    @property
    def records_unknown(self) -> bool:
        """Whether the number of records is not known."""
        return self.table.records_unknown

    @property
    def bounds(self) -> Any:
        """Range of a number; None for categories."""
        return self.table.axes[self.place].bounds

    @property
    def categories(self) -> Any:
        """The names, where the column has categories."""
        return self.table.axes[self.place].categories

    @property
    def guarantee(self) -> Any:
        """That of the whole table."""
        return self.table.guarantee

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{self.table.in_words}; here they are added up to {self.table.names[self.place]}"

    def count_records(self, z: np.ndarray) -> int:
        """Return the number of records, or what the counts estimate."""
        return max(1, round(float(z.sum()))) if self.records is None else self.records

    def check_records(self, n: int) -> None:
        """Leave the number of records to the table."""

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the counts of the column's bins, with the noise of all cells that are added up."""
        if self.table.noisy is not self.table:
            raise ValueError(
                "what is published of one column depends on the others here, because counts of cells were "
                f"{self.table.in_words.rpartition('; ')[2]}. Ask the fit of the whole table."
            )
        axis, others = self.table.axes[self.place], tuple(k for k in range(len(self.table.axes)) if k != self.place)
        noise = self.table.perturb_counts(rng, np.zeros(self.table.bin_count)).reshape(self.table.shape)
        return np.bincount(axis.bin_of(y), minlength=axis.bins) + noise.sum(axis=others)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return the noisy counts in the column's bins; None for categories."""
        edges = self.table.axes[self.place].edges
        if self.categories is not None:
            return None
        return Bars(z / (self.count_records(z) * np.diff(edges)), edges, "released counts (noisy)")
