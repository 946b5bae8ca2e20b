"""Files of a release and of plain tables: CSV and Parquet, read with care and written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from privmix.files import whole_file, whole_files

METADATA_KEY = b"privmix"

PathLike = str | os.PathLike[str]
Columns = list[tuple[str, Sequence[Any]]]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the path before what is said to be wrong with its contents."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_table(path: Path) -> Columns:
    """Return the columns of a plain CSV or Parquet file."""
    return read_parquet(path)[1] if kind(path) == ".parquet" else read_csv(path)


def write_release(path: Path, columns: dict[str, np.ndarray], text: str) -> None:
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


def read_csv(path: Path) -> Columns:
    """Return the columns of a CSV with a header."""
    _check_file(path)
    try:
        rows = list(csv.reader(io.StringIO(read_text(path))))
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV ({error}). Save it again as comma-separated text.") from error
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise ValueError(f"{path} is empty; a header and at least one record are needed.")
    header = [name.strip() for name in rows[0]]
    return _filled(path, list(zip(header, _transposed(path, rows[1:], len(header)), strict=True)))


def _transposed(path: Path, rows: list[list[str]], width: int) -> list[list[str]]:
    for number, row in enumerate(rows, start=1):
        if not row and width == 1:
            row.append("")  # a blank line in a single column is a missing number, not nothing
        if len(row) != width:
            raise ValueError(
                f"row {number} of {path} has {len(row)} cells, but the header has {width}. Correct the row; cells are "
                "separated by commas, and numbers have a decimal point."
            )
    return [[row[j].strip() for row in rows] for j in range(width)]


def _filled(path: Path, columns: Columns) -> Columns:
    if not columns or len(columns[0][1]) == 0:
        raise ValueError(f"{path} has a header ({listed(columns)}) but no records; at least one is needed.")
    return columns


def read_parquet(path: Path) -> tuple[str, Columns]:
    """Return the metadata of a release, or of a plain file "", and the columns."""
    _check_file(path)
    pyarrow, parquet = require_pyarrow(path)
    try:
        # Read as one file: a path like year=2024/z.parquet would otherwise gain a column "year".
        with parquet.ParquetFile(path) as file:
            table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({error}). Fetch or save it again.") from error
    columns = [(name, table.column(j).to_pylist()) for j, name in enumerate(table.column_names)]
    text = (table.schema.metadata or {}).get(METADATA_KEY, b"").decode(errors="replace")
    return text, _filled(path, columns)


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


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Write columns from which the same floats are read back."""
    # repr is the shortest text from which the same float is read back.
    rows = zip(*[map(repr, values.tolist()) for values in columns.values()], strict=True)
    write_text(path, "\n".join([",".join(columns), *map(",".join, rows)]) + "\n")


def write_parquet(path: Path, columns: dict[str, np.ndarray], text: str) -> None:
    """Write columns with the metadata in the schema."""
    pyarrow, parquet = require_pyarrow(path)
    parquet.write_table(pyarrow.table(columns, metadata={METADATA_KEY: text.encode()}), path)


def listed(columns: Columns) -> str:
    """Return the names of the columns, for messages."""
    return ", ".join(repr(name) for name, _ in columns)
