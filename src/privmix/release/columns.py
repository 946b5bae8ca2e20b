"""Numbers of plain tables: a column of records, or a histogram of lower edges, upper edges and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privmix.mechanisms import NoisyHistogram
from privmix.mechanisms.histogram import join_bins
from privmix.release.files import Columns, PathLike, listed, naming, read_table


def read_column(path: PathLike, column: str | None = None) -> np.ndarray:
    """Read one numeric column of a plain CSV or Parquet file.

    Parameters
    ----------
    path
        A ``.csv`` file with a header, or a ``.parquet`` file.
    column
        Name of the column; may be left out where only one column has numbers.

    Returns
    -------
    ndarray
        One finite float for each record.
    """
    path = Path(path)
    columns = read_table(path)
    if column is None:
        column = _only_numeric(path, columns)
    return numbers(path, column, pick(path, columns, column))


def read_histogram(path: PathLike) -> tuple[np.ndarray, np.ndarray]:
    """Read a histogram from a plain table with the columns lower, upper and count, a row for each bin.

    Parameters
    ----------
    path
        A ``.csv`` file with a header, or a ``.parquet`` file. The rows may be in any order; other columns are ignored.

    Returns
    -------
    tuple of ndarray
        The edges of the bins and their counts, by increasing edges.
    """
    columns = read_columns(path, NoisyHistogram.column_names)
    with naming(Path(path)):
        return join_bins(**columns)


def read_columns(path: PathLike, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Read some numeric columns of a plain CSV or Parquet file, by name."""
    path = Path(path)
    columns = read_table(path)
    return {name: numbers(path, name, pick(path, columns, name)) for name in names}


def pick(path: Path, columns: Columns, column: str) -> Sequence[Any]:
    """Return the cells of the one column of that name."""
    found = [cells for name, cells in columns if name == column]
    if not found:
        raise ValueError(f"{path} has no column {column!r}; it has {listed(columns)}. Check the name, or the file.")
    if len(found) > 1:
        raise ValueError(f"{path} has {len(found)} columns called {column!r}. Rename all but one of them.")
    return found[0]


def _only_numeric(path: Path, columns: Columns) -> str:
    if all(math.isfinite(_number(name)) for name, _ in columns):
        raise ValueError(
            f"the first row of {path} holds numbers ({listed(columns)}), but the names of the columns are "
            "needed there. Add a header, or name the column."
        )
    # A column with any number counts: else one bad cell in y would quietly choose a neighbouring column of numbers.
    numeric = [(name, cells) for name, cells in columns if any(math.isfinite(_number(cell)) for cell in cells)]
    if len(numeric) > 1:
        raise ValueError(f"{path} has several columns of numbers: {listed(numeric)}. Say which with column=.")
    if not numeric and len(columns) > 1:
        raise ValueError(f"{path} has no column of numbers; it has {listed(columns)}. Give a file that has one.")
    return (numeric or columns)[0][0]


def numbers(path: Path, column: str, cells: Sequence[Any]) -> np.ndarray:
    """Return cells as finite floats, or say which is none."""
    values = np.array([_number(cell) for cell in cells], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        cell = cells[bad[0]]
        shown = "empty" if cell is None or cell == "" else f"{cell!r}, not a finite number"
        more = f" ({len(bad)} such cells in all)" if len(bad) > 1 else ""
        raise ValueError(
            f"row {bad[0] + 1} of column {column!r} in {path} is {shown}{more}; rows count from 1 below the header. "
            "Correct the cell or remove the row."
        )
    return values


def _number(cell: Any) -> float:
    # float() reads "1_000" and True as numbers, which no table means.
    if isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan
