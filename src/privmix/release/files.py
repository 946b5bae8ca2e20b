"""Files of a release and of plain tables: CSV and Parquet, read with care and written whole or not at all.

A plain table holds a column of records, or a histogram of lower edges, upper edges and counts.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from privmix.files import whole_file, whole_files
from privmix.frames.rows import Named, with_texts
from privmix.mechanisms import NoisyHistogram
from privmix.mechanisms.histogram import join_bins

METADATA_KEY = b"privmix"
# What a table may have in place of a number that is missing, in small letters.
EMPTY = ("", "nan", "none", "null", "na")

PathLike = str | os.PathLike[str]
Columns = list[tuple[str, Sequence[Any]]]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the path before what is said to be wrong with its contents."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_table(path: Path, names: Sequence[str] | None = None) -> Columns:
    """Return the columns of a plain CSV, TSV or Parquet file; `names` are those of a text file without a header."""
    if path.suffix.lower() == ".tsv":
        return read_csv(path, names, "\t")
    return read_parquet(path)[1] if kind(path) == ".parquet" else read_csv(path, names)


def write_release(path: Path, columns: dict[str, Any], text: str) -> None:
    """Write a release: CSV with its metadata beside it, or one Parquet file."""
    if kind(path) == ".parquet":
        require_pyarrow(path)
        with whole_file(path) as to:
            write_parquet(to, columns, text)
    else:
        with whole_files(sidecar(path), path) as (beside, to):
            write_text(beside, text)
            write_csv(to, columns)


def kind(path: Path) -> str:
    """Return the suffix of a format that is known, or say which are."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no known format. Use .csv or .parquet.")
    return suffix


def sidecar(path: Path) -> Path:
    """Return the path of the metadata beside a CSV."""
    return path.with_name(path.name + ".json")


def describes_itself(path: Path) -> bool:
    """Return whether a file comes with its mechanism, beside it or inside; one that cannot be read is the reader's."""
    if sidecar(path).is_file() or path.suffix.lower() != ".parquet" or not path.is_file():
        return sidecar(path).is_file()
    try:
        _, parquet = require_pyarrow(path)
    except ImportError:
        return False
    try:
        return METADATA_KEY in (parquet.read_schema(path).metadata or {})
    except Exception:  # as in read_parquet, which says what is wrong
        return False


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise FileNotFoundError(f"{path} {what}. Give the path of a .csv or .parquet file; check its spelling.")


def read_text(path: Path) -> str:
    """Return a file as text."""
    try:
        # "utf-8-sig" also reads the byte order mark that spreadsheets put first.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error.reason}). Save it as UTF-8.") from error


def read_csv_release(path: Path) -> tuple[str, Columns]:
    """Return the metadata and the columns of a release in CSV."""
    _check_file(path)
    beside = sidecar(path)
    if not beside.is_file():
        raise FileNotFoundError(
            f"{path} has no {beside.name} beside it, which says what mechanism made the release. Fetch that file too; "
            "or read the numbers with read_column and give the mechanism: Release(z, mechanism)."
        )
    return read_text(beside), read_csv(path)


def read_csv(path: Path, names: Sequence[str] | None = None, delimiter: str = ",") -> Columns:
    """Return the columns of a CSV with a header, or with the names given."""
    _check_file(path)
    # A quotation mark in a table of tabs is a letter like others: titles have them.
    told: Any = {"delimiter": delimiter, "quoting": csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL}
    try:
        rows = list(csv.reader(io.StringIO(read_text(path)), **told))
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV ({error}). Save it again as comma-separated text.") from error
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise ValueError(f"{path} is empty; a header and at least one record are needed.")
    if names is None:
        names, rows = [name.strip() for name in rows[0]], rows[1:]
    return _filled(path, list(zip(names, _transposed(path, rows, len(names)), strict=True)))


def _transposed(path: Path, rows: list[list[str]], width: int) -> list[list[str]]:
    for number, row in enumerate(rows, start=1):
        if not row and width == 1:
            row.append("")  # a blank line in a single column is a missing number, not nothing
        if len(row) != width:
            raise ValueError(
                f"row {number} of {path} has {len(row)} cells, but the header has {width}. Correct the row; cells are "
                "separated by commas, in a .tsv file by tabs, and numbers have a decimal point."
            )
    return [[row[j].strip() for row in rows] for j in range(width)]


def _filled(path: Path, columns: Columns) -> Columns:
    if not columns or len(columns[0][1]) == 0:
        raise ValueError(f"{path} has a header ({listed(columns)}) but no records; at least one is needed.")
    return columns


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a plain table; of a Parquet file no row is read."""
    if path.suffix.lower() != ".parquet":
        return [name for name, _ in read_table(path)]
    _check_file(path)
    _, parquet = require_pyarrow(path)
    try:
        return list(parquet.read_schema(path).names)
    except Exception as error:  # a damaged file makes the reader raise whatever it likes
        raise ValueError(f"{path} cannot be read as Parquet ({_first_line(error)}). Fetch or save it again.") from error


def read_parquet(path: Path) -> tuple[str, Columns]:
    """Return the metadata of a release, or of a plain file "", and the columns."""
    _check_file(path)
    _, parquet = require_pyarrow(path)
    try:
        # Read as one file: a path like year=2024/z.parquet would otherwise gain a column "year".
        with parquet.ParquetFile(path) as file:
            table = file.read()
        columns = [(name, table.column(j).to_pylist()) for j, name in enumerate(table.column_names)]
    except Exception as error:  # a damaged file makes the reader raise whatever it likes
        raise ValueError(f"{path} cannot be read as Parquet ({_first_line(error)}). Fetch or save it again.") from error
    text = (table.schema.metadata or {}).get(METADATA_KEY, b"").decode(errors="replace")
    return text, _filled(path, columns)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def require_pyarrow(path: Path) -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or say how to get them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"{path} is a Parquet file, which needs pyarrow. Run `pip install privmix[parquet]`, or use .csv."
        ) from error
    return pyarrow, parquet


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    path.write_text(text, encoding="utf-8", newline="\n")


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Write columns from which the same floats are read back."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*[_cells(values) for values in columns.values()], strict=True))
    write_text(path, text.getvalue())


def _cells(values: Any) -> list[str]:
    """Return a column as text: names of categories, or numbers from which the same floats are read back."""
    if isinstance(values, Named):
        return ["" if name is None else name for name in values.texts()]
    return list(map(repr, values.tolist()))  # the shortest such text


def write_parquet(path: Path, columns: dict[str, Any], text: str) -> None:
    """Write columns with the metadata in the schema."""
    pyarrow, parquet = require_pyarrow(path)
    made = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(with_texts(columns), metadata={METADATA_KEY: text.encode()}), made)
    path.write_bytes(made.getvalue())


def listed(columns: Columns) -> str:
    """Return the names of the columns, for messages."""
    return ", ".join(repr(name) for name, _ in columns)


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
        column = only_numeric(path, columns)
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


def only_numeric(path: Path, columns: Columns, others: Sequence[str | None] = ()) -> str:
    """Return the name of the one column of numbers, those with other names left out, or say why there is none."""
    if all(math.isfinite(_number(name)) for name, _ in columns):
        raise ValueError(
            f"the first row of {path} holds numbers ({listed(columns)}), but the names of the columns are "
            "needed there. Add a header, or name the column."
        )
    # A column with any number counts: else one bad cell in y would quietly choose a neighbouring column of numbers.
    columns = [(name, cells) for name, cells in columns if name not in others]
    numeric = [(name, cells) for name, cells in columns if any(math.isfinite(_number(cell)) for cell in cells)]
    if len(numeric) > 1:
        raise ValueError(f"{path} has several columns of numbers: {listed(numeric)}. Say which with column=.")
    if not numeric and len(columns) > 1:
        raise ValueError(f"{path} has no column of numbers; it has {listed(columns)}. Give a file that has one.")
    if not columns:
        raise ValueError(f"{path} has no column of values beside {', '.join(map(repr, filter(None, others)))}.")
    return (numeric or columns)[0][0]


def numbers(
    path: Path, column: str, cells: Sequence[Any], *, missing: bool = False, infinite: bool = False
) -> np.ndarray:
    """Return cells as finite floats, or say which is none; where values may be missing, empty cells are NaN.

    Parameters
    ----------
    path, column
        Where the cells are, for messages.
    cells
        As a reader gives them.
    missing, infinite
        Whether cells may be empty, and numbers infinite.
    """
    values = np.array([_number(cell) for cell in cells], dtype=np.float64)
    empty = np.array([missing and str(cell).lower() in EMPTY for cell in cells])
    bad = np.flatnonzero(~np.isfinite(values) & ~empty & ~(np.isinf(values) & infinite))
    if len(bad):
        cell = cells[bad[0]]
        shown = "empty" if cell is None or cell == "" else f"{cell!r}, not a finite number"
        more = f" ({len(bad)} such cells in all)" if len(bad) > 1 else ""
        raise ValueError(
            f"row {bad[0] + 1} of column {column!r} in {path} is {shown}{more}; rows count from 1 below the header. "
            "Correct the cell or remove the row."
        )
    return values


def names(cells: Sequence[Any]) -> list[str | None]:
    """Return cells as names of categories; None where one is empty."""
    return [None if cell is None or cell == "" else str(cell) for cell in cells]


def _number(cell: Any) -> float:
    # float() reads "1_000" and True as numbers, which no table means.
    if isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
