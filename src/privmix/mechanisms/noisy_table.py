"""Noisy table: the counts of the cells of several columns, each with noise added.

References
----------
Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.each import MOST_CELLS_OF_ROWS
from privmix.mechanisms.histogram import short
from privmix.mechanisms.noisy_counts import NoisyCounts
from privmix.mechanisms.post_processing import Step
from privmix.mechanisms.table_cells import TableOfCells
from privmix.mechanisms.table_columns import Axis, read_columns
from privmix.parts import given
from privmix.parts.checks import fill


@dataclass(frozen=True, eq=False, repr=False, init=False)
class NoisyTable(TableOfCells, NoisyCounts):
    """Release the count of each cell of a table of several columns, plus independent noise.

    A cell is a bin of each column: an age band and a sex. What statistical offices publish of two or more columns.

    Guarantee: that of a histogram whose bins are the cells (`NoisyHistogram`, with the laws of the noise): a record
    that is replaced takes 1 from one cell and adds 1 to another, one that is added or removed moves one cell by 1,
    however many columns there are. So ε = Δ/s and ρ = Δ/(2s²) with Δ = 2 for ``neighbours="replace"``, and Δ = 1 for
    ``neighbours="add-remove"``.

    Parameters
    ----------
    records
        Number n of confidential records, which is public; or None where it is not known, as under
        ``neighbours="add-remove"``. Then it is learned, as by `NoisyHistogram`.
    parts
        The columns, a mapping or pairs: for names that are no Python names, or those of other parameters.
    noise
        "laplace", "gaussian", "discrete laplace" or "discrete gaussian".
    epsilon, delta, rho
        Wanted guarantee of the whole table, as of `NoisyHistogram`.
    scale
        The parameter s of the noise instead of a guarantee: a number, or one for each cell.
    neighbours
        "replace": one record is replaced. "add-remove": one record is added or removed.
    expected
        Shape and rate of the gamma prior of the mean of n, where n is not known, as of `NoisyHistogram`.
    named
        The columns: for numbers a number of equal bins and their range, ``age=(8, (0, 100))``, or the edges of the
        bins, ``age=[0, 18, 65, 100]``; for categories their names, ``sex=("f", "m")``. All known without looking at
        the data. At most 8,192 cells in all.

    Examples
    --------
    >>> table = NoisyTable(1000, age=(8, (0, 100)), sex=("f", "m"), epsilon=1.0)
    >>> table.shape, table.scale, table.guarantee
    ((8, 2), 2.0, PureDP(epsilon=1.0))
    """

    records: int | None
    parts: tuple[tuple[str, Any], ...] = field(default=(), repr=False, metadata={"given": True})
    noise: str = given("laplace")
    epsilon: float | None = given()
    delta: float | None = given()
    rho: float | None = given()
    scale: float | np.ndarray = given()
    neighbours: str = given("replace", quiet=True)
    expected: tuple[float, float] | None = None
    axes: tuple[Axis, ...] = field(init=False, repr=False, metadata={"given": True})
    edges: np.ndarray = field(init=False, repr=False)
    starts: np.ndarray = field(init=False, repr=False)
    squared: bool = field(init=False, repr=False)
    discrete: bool = field(init=False, repr=False)
    scales: np.ndarray = field(init=False, repr=False)
    log_norms: np.ndarray = field(init=False, repr=False)

    owner: ClassVar[str] = "NoisyTable"
    details: ClassVar[dict[str, str]] = {
        "noise": "noise on each count",
        "scale": "scale of the noise",
        "cells_in_words": "cells",
    }

    def __init__(
        self,
        records: int | None,
        parts: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        noise: str = "laplace",
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        scale: Any = None,
        neighbours: str = "replace",
        expected: tuple[float, float] | None = None,
        **named: Any,
    ) -> None:
        fill(self, records=records, noise=noise, epsilon=epsilon, delta=delta, rho=rho)
        fill(self, neighbours=neighbours, expected=expected)
        self.check_counted()
        columns = [*(parts.items() if isinstance(parts, Mapping) else parts), *named.items()]
        axes, kept = read_columns(self.owner, columns)
        fill(self, axes=axes, parts=kept, edges=np.concatenate([axis.edges for axis in axes]))
        fill(self, starts=np.cumsum([0, *[len(axis.edges) for axis in axes]]))
        if self.bin_count > MOST_CELLS_OF_ROWS:
            raise ValueError(
                f"{self.owner}: the columns make {self.cells_in_words} = {self.bin_count:,} cells, more than "
                f"{MOST_CELLS_OF_ROWS:,}. Give wider bins, or fewer columns."
            )
        if np.ndim(scale) > 1 and np.shape(scale) != self.shape:
            raise ValueError(
                f"{self.owner}: scale has shape {np.shape(scale)}, but there are {self.cells_in_words} cells. Give one "
                "number for each, or one for all."
            )
        fill(self, scale=np.reshape(scale, -1) if np.ndim(scale) else scale)
        self.fill_noise(self.bin_count)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={short(kept)}" for name, kept in self.parts)
        return super().__repr__().replace("(", f"({columns}, ", 1)

    def _values(self) -> dict[str, Any]:
        """Return the values of the fields, of the columns those that can be compared: the edges are by themselves."""
        columns = repr([(axis.name, axis.categories) for axis in self.axes])
        return {**super()._values(), "parts": columns, "axes": ""}

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        cells = " × ".join(self.names)
        return f"a trusted holder published the number of records in each cell of {cells}, with noise on each count"

    def after(self, step: Step) -> TableOfCells:
        """Return the mechanism whose noisy counts are published after a step of post-processing."""
        from privmix.mechanisms.processed_table import ProcessedTable

        return ProcessedTable(self, (step,))
