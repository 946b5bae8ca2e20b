"""Published tables: noisy values, or counts of bins, with what was done to them before they were published.

A reader gives a `Release` whose mechanism is what the publisher states. Each statement is checked against every row: a
value that cannot be so is refused with its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privmix.mechanisms import Clamped, Mechanism, Rounded, Withheld
from privmix.mechanisms.histogram import join_bins
from privmix.mechanisms.post_processing import Clamp, Round, Step, Withhold, undo_all
from privmix.release.files import (
    Columns,
    PathLike,
    column_names,
    naming,
    numbers,
    only_numeric,
    pick,
    read_table,
    read_text,
)

#: columns that make a row of a table a bin
EDGES = ("lower", "upper")
COUNTED = "rows count from 1 below the header"


class Processing(NamedTuple):
    """What was done to noisy values before they were published: clamped first, then rounded, then withheld.

    For another order wrap the mechanism: ``Clamped(Rounded(mechanism, to=5), lower=0)``.

    Parameters
    ----------
    clamped_at
        Lower values were set to this.
    rounded_to
        Values were rounded to multiples of this, halves up.
    withheld_below
        Lower values are missing.
    withheld_unseen
        True where no row stands for them.
    """

    clamped_at: float | None = None
    rounded_to: float | None = None
    withheld_below: float | None = None
    withheld_unseen: bool | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, in order."""
        kinds = (Clamp, Round, Withhold)
        return tuple(kind(value) for kind, value in zip(kinds, self[:3], strict=True) if value is not None)

    def around(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism with these steps after it."""
        if self.clamped_at is not None:
            mechanism = Clamped(mechanism, lower=self.clamped_at)
        if self.rounded_to is not None:
            mechanism = Rounded(mechanism, to=self.rounded_to)
        if self.withheld_below is None:
            if self.withheld_unseen:
                raise ValueError("records without a row were withheld, but not below what. Give withheld_below too.")
            return mechanism
        return Withheld(mechanism, below=self.withheld_below, known=not self.withheld_unseen)


class Layout(NamedTuple):
    """Where a table has what.

    Parameters
    ----------
    column
        Column of the values; None for "count" where rows are bins, else for the only column of numbers.
    scale_column, variance_column
        Column of the scale of the noise of each row, or of its variance.
    names
        Names of the columns, where the file has no header.
    noise
        Law of the noise, by which a variance becomes a scale; Gaussian where it is not said.
    """

    column: str | None = None
    scale_column: str | None = None
    variance_column: str | None = None
    names: Sequence[str] | None = None
    noise: str | None = None


#: a table of one column of numbers, published as they came from the noise
PLAIN, UNTOUCHED = Layout(), Processing()


class Rows(NamedTuple):
    """What a table tells: the published values, with one scale a row and the edges of bins where it has them."""

    values: np.ndarray
    scale: np.ndarray | None
    edges: np.ndarray | None

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns that a mechanism reads."""
        if self.edges is None:
            return {"z": self.values}
        return {"lower": self.edges[:-1], "upper": self.edges[1:], "count": self.values}

    def fields(self) -> dict[str, Any]:
        """Return the fields of a mechanism that the table tells."""
        return {name: v for name, v in (("scale", self.scale), ("bins", self.edges)) if v is not None}


def has_bins(path: PathLike) -> bool:
    """Return whether the rows of a table are bins, with a lower and an upper edge."""
    return set(EDGES) <= set(column_names(Path(path)))


def lattice_of(noise: str, stated: dict[str, Any]) -> float | None:
    """Return what noisy values are multiples of, where the noise is discrete; whole numbers unless a step is stated."""
    return stated.get("step", 1.0) if noise.startswith("discrete") else None


def read_rows(
    path: PathLike,
    layout: Layout = PLAIN,
    done: Processing = UNTOUCHED,
    lattice: float | None = None,
    are_bins: bool | None = None,
) -> Rows:
    """Read the values of a published table; where its rows are bins, these are put in order.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file.
    layout
        Where it has what.
    done
        What was done to the noisy values; a row that cannot be after this is refused.
    lattice
        What noisy values are multiples of, where the noise is discrete.
    are_bins
        Whether rows are bins; by default where the table has lower and upper edges.
    """
    path = Path(path)
    columns = read_table(path, layout.names)
    missing = done.withheld_below is not None and not done.withheld_unseen
    if missing and len(columns) == 1:
        _refuse_blank_end(path)
    if are_bins is None:
        are_bins = set(EDGES) <= {name for name, _ in columns}
    ends = {name: numbers(path, name, pick(path, columns, name)) for name in EDGES if are_bins}
    column = layout.column or ("count" if are_bins else only_numeric(path, columns, layout[1:3]))
    values = numbers(path, column, pick(path, columns, column), missing=missing)
    check_rows(f"column {column!r} in {path}", values, done.steps, lattice)
    scale = _read_scale(path, columns, layout, lattice)
    if not are_bins:
        return Rows(values, scale, None)
    with naming(path):
        edges, order = join_bins(**ends, count=np.arange(len(values)))
    return Rows(values[order], None if scale is None else scale[order], edges)


def _refuse_blank_end(path: Path) -> None:
    """Refuse blank lines at the end of a file with one column: they may be withheld values, or nothing."""
    if path.suffix.lower() != ".parquet" and read_text(path).endswith(("\n\n", "\n\r\n")):
        raise ValueError(
            f"{path} has one column and ends in blank lines, which may be withheld values or nothing. Write nan for a "
            "value that was withheld, and take the other lines out."
        )


def check_rows(where: str, values: np.ndarray, steps: tuple[Step, ...], lattice: float | None) -> None:
    """Refuse a value that cannot be after these steps, or that no multiple of the lattice leads to; name its row."""
    try:
        found = undo_all(steps, values)
    except ValueError:
        for row, value in enumerate(values, start=1):
            _check_row(f"row {row} of {where}", value, steps)
        raise
    if lattice is None:
        return
    first, last = found.multiples(lattice)
    bad = np.flatnonzero(first > last)
    if len(bad):
        raise ValueError(
            f"row {bad[0] + 1} of {where} is {values[bad[0]]:g}, but this noise leads to multiples of {lattice:g} "
            f"alone; {COUNTED}. Check the lattice, or name continuous noise."
        )


def _check_row(where: str, value: float, steps: tuple[Step, ...]) -> None:
    """Refuse one value that cannot be after these steps."""
    try:
        undo_all(steps, np.array([value]))
    except ValueError as error:
        raise ValueError(f"{str(error).replace('row 0 of the release', where)} Note: {COUNTED}.") from error


def _read_scale(path: Path, columns: Columns, layout: Layout, lattice: float | None) -> np.ndarray | None:
    """Return the scale of each row's noise, where a column tells it."""
    if layout.scale_column is not None and layout.variance_column is not None:
        raise ValueError(f"{path}: give a column of scales or one of variances, not both.")
    name = layout.scale_column or layout.variance_column
    if name is None:
        return None
    found = numbers(path, name, pick(path, columns, name))
    bad = np.flatnonzero(found <= 0.0)
    if len(bad):
        raise ValueError(
            f"row {bad[0] + 1} of column {name!r} in {path} is {found[bad[0]]:g}, but noise has a spread above 0; "
            f"{COUNTED}. Leave out rows that were published without noise."
        )
    return found if layout.variance_column is None else scale_of_variance(layout.noise, found, lattice or 1.0)


def scale_of_variance(noise: str | None, variance: np.ndarray, step: float = 1.0) -> np.ndarray:
    """Return the scale of noise with this variance; that of discrete Gaussian noise nearly.

    Laplace noise of scale b has variance 2b², discrete Laplace noise on multiples of h the variance h²/(2 sinh²(h/2b)),
    Gaussian noise its square.
    """
    if noise == "laplace":
        return np.sqrt(0.5 * variance)
    if noise == "discrete laplace":
        return 0.5 * step / np.arcsinh(step * np.sqrt(0.5 / variance))
    return np.sqrt(variance)
