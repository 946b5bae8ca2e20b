"""Files too large for memory: counted piece by piece, with only the table kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from privmix.counting.bins import bin_counts
from privmix.counting.count import WAYS, accept
from privmix.mechanisms import Counted, LocalMechanism
from privmix.release import Release
from privmix.release.files import (
    METADATA_KEY,
    describes_itself,
    naming,
    numbers,
    only_numeric,
    pick,
    read_table,
    read_text,
    require_pyarrow,
    sidecar,
)
from privmix.release.metadata import CHECKSUM, CUT, build_mechanism, check_guarantee, parse_metadata

#: rows of a Parquet file beyond which `privmix fit` counts it, and does not read it: at 1,000,000 the numbers take
#: some 100 MB, and nothing is shown of single records
MOST_ROWS_READ = 1_000_000
# Rows that are held at a time: 32 MB, and some times that while they are compared with edges.
ROWS_AT_A_TIME = 1 << 22

#: is told the rows that were counted, and those of all files
Show = Callable[[int, int], None]


def rows_of(path: Path) -> int:
    """Return the number of rows of a Parquet file, from its end: no row is read."""
    return open_parquet(path).metadata.num_rows


def open_parquet(path: Path) -> Any:
    """Return an open Parquet file, or say what is wrong with it."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist. Give the path of a .parquet or .csv file; check its spelling.")
    _, parquet = require_pyarrow(path)
    try:
        return parquet.ParquetFile(path)
    except Exception as error:  # a damaged file makes the reader raise whatever it likes
        raise ValueError(f"{path} cannot be read as Parquet ({error}). Fetch or save it again.") from error


def count_files(
    paths: Sequence[Path],
    column: str | None,
    mechanism: LocalMechanism,
    bins: int | None = None,
    *,
    missing: str = "refuse",
    notes: str = "",
    show: Show | None = None,
) -> Release:
    """Count a column of released numbers in some files, a piece at a time.

    Parameters
    ----------
    paths
        Parquet files, of which little is in memory at a time, or CSV files.
    column
        The released numbers; may be left out where a file has one column of numbers.
    mechanism, bins, missing, notes
        As in `privmix.count`.
    show
        Is told the rows that were counted and those of all Parquet files, after every piece.
    """
    if missing not in WAYS:
        raise ValueError(f"missing must be 'refuse' or 'drop'; got {missing!r}.")
    counted = Counted(mechanism, bins)  # type: ignore[arg-type]
    refuse_twice(paths)
    for path in paths:
        check_stated(path, mechanism)
    total, absent, strange, done = np.zeros(counted.bins), 0, 0, 0
    rows = sum(rows_of(path) for path in paths if _is_parquet(path))
    for path in paths:
        for piece, found in _pieces(path, column):
            counts, lacking, odd = bin_counts(nw.from_native(piece).lazy(), found, counted)
            total, absent, strange, done = total + counts, absent + lacking, strange + odd, done + len(piece)
            if show is not None:
                show(done, max(rows, done))
    return Release(accept(column or found, counted, missing, total, absent, strange), counted, notes)


def refuse_twice(paths: Sequence[Path]) -> None:
    """Refuse a file that is given twice, or a copy of a release: its records would count twice."""
    marks = [_mark_of(path) for path in paths]
    twice = [path for path, mark in zip(paths, marks, strict=True) if marks.count(mark) > 1]
    if twice:
        raise ValueError(f"{twice[-1]} has the records of another file here; they would count twice. Give each once.")


def _mark_of(path: Path) -> str:
    """Return what two files of the same records have in common: the checksum of noisy records, or the place."""
    if describes_itself(path):
        metadata = read_metadata(path)
        if CHECKSUM in metadata and not str(metadata["mechanism"].get("class")).startswith("Counted"):
            return metadata[CHECKSUM]["records"]
    return str(path.resolve())


def check_stated(path: Path, mechanism: LocalMechanism) -> None:
    """Refuse a file that says of itself that another mechanism made it, or that it holds counts; verify its records."""
    if not describes_itself(path):
        return
    metadata = read_metadata(path)
    stated: Any = build_mechanism(path, metadata["mechanism"], {type(mechanism).__name__: type(mechanism)})
    if stated.is_counted:
        raise ValueError(f"{path} is a table of counts already. Fit it, or add it to others: privmix fit FILE FILE.")
    if stated != mechanism:
        raise ValueError(
            f"{path} says that {stated!r} made it, and not {mechanism!r}. The records would be taken for what they "
            "are not, and the counts promise what they do not. Name the mechanism that made them."
        )
    check_records(path, metadata)


def read_metadata(path: Path) -> dict[str, Any]:
    """Return what a release says of itself."""
    if not _is_parquet(path):
        return parse_metadata(sidecar(path), read_text(sidecar(path)))
    found = (open_parquet(path).schema_arrow.metadata or {}).get(METADATA_KEY, b"")
    return parse_metadata(path, found.decode(errors="replace"))


def check_records(path: Path, metadata: dict[str, Any]) -> None:
    """Refuse a release whose records are not those that were saved."""
    if CHECKSUM in metadata and metadata[CHECKSUM]["records"] != sum_file(path):
        raise ValueError(f"the records in {path} are not those that were saved: their checksum differs. {CUT}")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _pieces(path: Path, column: str | None) -> Iterator[tuple[Any, str]]:
    """Return some rows of the column after others, each as a table, with its name."""
    if not _is_parquet(path):
        import pandas as pd

        columns = read_table(path)
        found = column or only_numeric(path, columns)
        values = numbers(path, found, pick(path, columns, found), missing=True, infinite=True)
        yield pd.DataFrame({found: values}), found
        return
    file = open_parquet(path)
    found = find_column(path, file, column)
    for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, columns=[found]):
        yield require_pyarrow(path)[0].Table.from_batches([batch]), found


def find_column(path: Path, file: Any, column: str | None) -> str:
    """Return the name of the column of numbers, or say why there is none."""
    schema = nw.from_native(file.schema_arrow.empty_table()).collect_schema()
    numeric = [name for name, kind in schema.items() if kind.is_integer() or kind.is_float()]
    if column is None and len(numeric) == 1:
        return numeric[0]
    if column is None and not numeric:
        raise TypeError(f"{path} has no column of numbers; its columns are {', '.join(map(repr, schema))}.")
    if column is None:
        raise ValueError(f"{path} has {len(numeric)} columns of numbers: {', '.join(numeric)}. Say which with column=.")
    if column not in schema:
        raise ValueError(f"{path} has no column {column!r}; it has {', '.join(map(repr, schema))}.")
    if column not in numeric:
        raise TypeError(f"the column {column!r} of {path} must be numbers; it is of type {schema[column]}.")
    return column


def count_release(path: Path, show: Show | None = None) -> Release:
    """Return the counts of a release that was saved as Parquet, its records checked as `Release.load` does.

    Parameters
    ----------
    path
        The file, which says itself what mechanism made it.
    show
        As in `count_files`.
    """
    metadata = read_metadata(path)
    mechanism: Any = build_mechanism(path, metadata["mechanism"], None)
    check_guarantee(path, metadata["guarantee"], mechanism.guarantee)
    with naming(path):
        counts = count_files([path], "z", mechanism, notes=metadata["notes"], show=show)
    if counts.records != metadata["records"]:
        raise ValueError(f"{path} has {counts.records} records, but its metadata say {metadata['records']}. {CUT}")
    return counts


def sum_file(path: Path) -> str:
    """Return the checksum of the records in a file, as `sum_records` gives of the records themselves."""
    pieces = _pieces(path, "z")
    if _is_parquet(path):
        rows = rows_of(path)
    else:  # which is one piece
        pieces = iter(some := list(pieces))
        rows = sum(len(piece) for piece, _ in some)
    found = hashlib.sha256(repr((rows,)).encode())
    for piece, name in pieces:
        found.update(np.ascontiguousarray(piece[name].to_numpy() + 0.0, dtype="<f8").tobytes())
    return found.hexdigest()
