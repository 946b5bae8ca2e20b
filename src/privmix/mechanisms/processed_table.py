"""Noisy tables of several columns whose counts were clamped, rounded or withheld."""

from __future__ import annotations

from dataclasses import dataclass

from privmix.mechanisms.noisy_table import NoisyTable
from privmix.mechanisms.processed_counts import ProcessedCounts
from privmix.mechanisms.table_cells import TableOfCells
from privmix.mechanisms.wrapper import of_wrapped


@dataclass(frozen=True, eq=False, repr=False)
class ProcessedTable(TableOfCells, ProcessedCounts):  # type: ignore[misc]
    """A table whose noisy counts were clamped, rounded or withheld before they were published.

    Made by `Clamped`, `Rounded` and `Withheld`. A cell whose count is missing (NaN), or that a file leaves out, says
    that the noisy count lay on the withheld side.

    Guarantee: that of the noisy counts, since post-processing tells no more of the data.

    Parameters
    ----------
    mechanism
        What made the noisy counts.
    steps
        What was done to them, in order.
    """

    mechanism: NoisyTable  # type: ignore[assignment]

    axes = of_wrapped("axes")
    starts = of_wrapped("starts")
