"""What is published: the sanitised records, the mechanism that made them and its guarantee; never the raw data."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import math
import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privmix.jit import part_from_dict, part_to_dict
from privmix.mechanisms import LocalMechanism
from privmix.privacy import Guarantee

FORMAT_VERSION = 1
METADATA_KEY = b"privmix"
ENTRIES = ("mechanism", "guarantee", "records", "notes")
IDEALISED = (
    "The noise is idealised floating point noise: fit for simulation and study, not a release hardened against "
    "attacks on floating point arithmetic."
)

PathLike = str | os.PathLike[str]
Columns = list[tuple[str, Sequence[Any]]]


@dataclass(frozen=True, eq=False)
class Release:
    """Sanitised records with the mechanism that made them.

    Neither the raw data nor the seed is kept: the seed and the release together would give the raw data back.

    Parameters
    ----------
    z
        Released records, one number or one row each; a read-only copy is kept.
    mechanism
        The mechanism that made them.
    notes
        Anything that a reader should know. It is published with the release, so keep confidential facts out.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> release = Release([0.3, -1.2], Laplace(epsilon=2.0, bounds=(-1.0, 1.0)))
    >>> len(release), release.guarantee
    (2, PureDP(epsilon=2.0))
    """

    z: np.ndarray
    mechanism: LocalMechanism
    notes: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, LocalMechanism):
            raise TypeError(
                f"Release was given {self.mechanism!r} as its mechanism, but needs a mechanism that perturbs each "
                "record by itself. Give an instance, such as mechanisms.Laplace(epsilon=1.0, bounds=(0.0, 1.0))."
            )
        if not isinstance(self.notes, str):
            raise TypeError(f"Release was given notes={self.notes!r}, but needs text. Give a string.")
        z = np.array(self.mechanism.check_release(self.z))
        z.setflags(write=False)
        object.__setattr__(self, "z", z)

    @classmethod
    def from_data(cls, y: Any, mechanism: LocalMechanism, seed: Any = None, notes: str = "") -> Release:
        """Privatise confidential data and forget them.

        Parameters
        ----------
        y
            Confidential records. Values outside the mechanism's bounds are clipped, with a warning.
        mechanism
            The mechanism to use.
        seed
            Anything that `numpy.random.default_rng` takes. Leave it out for data that are truly confidential: whoever
            guesses the seed can take the noise off.
        notes
            Published with the release.

        Returns
        -------
        Release
            Holds neither y nor the seed.
        """
        return cls(mechanism.privatize(y, seed=seed), mechanism, notes)

    @property
    def guarantee(self) -> Guarantee | None:
        """What the mechanism promises, or None where it promises nothing."""
        return self.mechanism.guarantee

    def __len__(self) -> int:
        return len(self.z)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        same = np.array_equal(self.z, other.z) and self.notes == other.notes
        return same and self.mechanism == other.mechanism

    def __hash__(self) -> int:
        # Adding 0.0 turns -0.0 into 0.0: the two are equal, so they must hash alike.
        return hash(((self.z + 0.0).tobytes(), self.z.shape, self.mechanism, self.notes))

    def save(self, path: PathLike) -> None:
        """Write the release to a file; what the path held before stays unless all was written.

        Parameters
        ----------
        path
            ``name.csv`` writes the records as CSV and the mechanism beside it, in ``name.csv.json``.
            ``name.parquet`` writes one Parquet file, with the mechanism in its schema metadata (needs pyarrow).
            Floats come back bit for bit from both.
        """
        path = Path(path)
        kind = _kind(path)
        text = _to_json(self)
        columns = dict(zip(_column_names(self.mechanism), np.atleast_2d(self.z.T), strict=True))
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{path} cannot be written: the folder {path.parent} does not exist. Create it.")
        if kind == ".parquet":
            _require_pyarrow(path)
            _write_together({path: lambda to: _write_parquet(to, columns, text)})
        else:
            _write_together(
                {
                    _sidecar(path): lambda to: _write_text(to, text),
                    path: lambda to: _write_csv(to, columns),
                }
            )

    @classmethod
    def load(cls, path: PathLike, known: dict[str, type] | None = None) -> Release:
        """Read a release that `save` wrote.

        Parameters
        ----------
        path
            The ``.csv`` file, with its ``.csv.json`` beside it, or the ``.parquet`` file.
        known
            Classes of your own that the file may name, by name: ``{"MyMechanism": MyMechanism}``.

        Returns
        -------
        Release
            Equal to the one that was saved.

        Raises
        ------
        FileNotFoundError
            If the file, or the JSON beside a CSV, is missing.
        ValueError
            If the file is not a release, is damaged, comes from a newer format, or states a guarantee that its
            mechanism does not give.
        """
        path = Path(path)
        parquet = _kind(path) == ".parquet"
        text, columns = _read_parquet(path) if parquet else _read_csv_release(path)
        metadata = _parse_metadata(path if parquet else _sidecar(path), text)
        mechanism = _build_mechanism(path, metadata["mechanism"], known)
        z = _stack(path, columns, mechanism)
        if metadata["records"] != len(z):
            raise ValueError(
                f"{path} has {len(z)} records, but its metadata say {metadata['records']}. The file was cut or changed "
                "after it was saved, or the metadata belong to another release; fetch both again."
            )
        release = cls(z, mechanism, metadata["notes"])
        _check_guarantee(path, metadata["guarantee"], release.guarantee)
        return release


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
    columns = _read_parquet(path)[1] if _kind(path) == ".parquet" else _read_csv(path)
    if column is None:
        column = _only_numeric(path, columns)
    return _numbers(path, column, _pick(path, columns, column))


# Metadata: everything about a release but its records.


def _to_json(release: Release) -> str:
    guarantee = release.guarantee
    metadata = {
        "format_version": FORMAT_VERSION,
        "privmix_version": _privmix_version(),
        "mechanism": part_to_dict(release.mechanism),
        "guarantee": None if guarantee is None else guarantee.to_dict(),
        "records": len(release),
        "notes": release.notes,
        "noise": IDEALISED,
    }
    try:
        return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise TypeError(
            f"{type(release.mechanism).__name__} has a field that cannot be saved: {error}. "
            "Fields must be numbers, text, tuples, arrays or parts."
        ) from error


def _privmix_version() -> str:
    try:
        return importlib.metadata.version("privmix")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _parse_metadata(source: Path, text: str) -> dict[str, Any]:
    if not text:
        raise ValueError(
            f"{source} holds no metadata, so it does not say what mechanism made it. Load a file that Release.save "
            "wrote; or read the numbers with read_column and give the mechanism: Release(z, mechanism)."
        )
    try:
        metadata = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"the metadata in {source} are not JSON ({error}). Fetch the file again, or save the release anew."
        ) from error
    _check_entries(source, metadata)
    return metadata


def _check_entries(source: Path, metadata: Any) -> None:
    version = metadata.get("format_version") if isinstance(metadata, dict) else None
    if not isinstance(version, int):
        raise ValueError(f"{source} has no format_version, so it is not the metadata of a release. Use Release.save.")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{source} has format version {version}, written by privmix {metadata.get('privmix_version', 'unknown')}; "
            f"this privmix reads up to version {FORMAT_VERSION}. Upgrade privmix."
        )
    missing = [name for name in ENTRIES if name not in metadata]
    if missing:
        raise ValueError(f"the metadata in {source} lack {', '.join(missing)}. Fetch the file again.")


def _build_mechanism(path: Path, entry: Any, known: dict[str, type] | None) -> LocalMechanism:
    try:
        mechanism = part_from_dict(entry, known)
    except (ImportError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"the mechanism that {path} describes cannot be built ({error!r}). The metadata were changed, or written "
            "by another version of privmix; read them with that version."
        ) from error
    if not isinstance(mechanism, LocalMechanism):
        raise ValueError(f"{path} names {entry['class']} as its mechanism, which is not a mechanism. Fetch it again.")
    return mechanism


def _check_guarantee(path: Path, stated: Any, guarantee: Guarantee | None) -> None:
    given = None if guarantee is None else guarantee.to_dict()
    if not _agree(stated, given):
        raise ValueError(
            f"{path} states the guarantee {stated}, but its mechanism gives {given}. The file was changed, or written "
            "by a version of privmix that computes the guarantee differently; do not rely on it, ask its publisher."
        )


def _agree(stated: Any, given: Any) -> bool:
    if isinstance(stated, dict) and isinstance(given, dict):
        return stated.keys() == given.keys() and all(_agree(stated[name], given[name]) for name in given)
    if isinstance(stated, int | float) and isinstance(given, float):
        # A calibrated scale may differ in its last bits from one machine's mathematical library to another's.
        return math.isclose(stated, given, rel_tol=1e-9)
    return stated == given


# Columns: a release's records, or those of any table.


def _column_names(mechanism: LocalMechanism) -> list[str]:
    return ["z"] if mechanism.width is None else [f"z_{j}" for j in range(mechanism.width)]


def _stack(path: Path, columns: Columns, mechanism: LocalMechanism) -> np.ndarray:
    names = _column_names(mechanism)
    arrays = [_numbers(path, name, _pick(path, columns, name)) for name in names]
    return arrays[0] if mechanism.width is None else np.column_stack(arrays)


def _pick(path: Path, columns: Columns, column: str) -> Sequence[Any]:
    found = [cells for name, cells in columns if name == column]
    if not found:
        raise ValueError(f"{path} has no column {column!r}; it has {_listed(columns)}. Check the name, or the file.")
    if len(found) > 1:
        raise ValueError(f"{path} has {len(found)} columns called {column!r}. Rename all but one of them.")
    return found[0]


def _only_numeric(path: Path, columns: Columns) -> str:
    if all(math.isfinite(_number(name)) for name, _ in columns):
        raise ValueError(
            f"the first row of {path} holds numbers ({_listed(columns)}), but the names of the columns are "
            "needed there. Add a header, or name the column."
        )
    # A column with any number counts: else one bad cell in y would quietly choose a neighbouring column of numbers.
    numeric = [(name, cells) for name, cells in columns if any(math.isfinite(_number(cell)) for cell in cells)]
    if len(numeric) > 1:
        raise ValueError(f"{path} has several columns of numbers: {_listed(numeric)}. Say which with column=.")
    if not numeric and len(columns) > 1:
        raise ValueError(f"{path} has no column of numbers; it has {_listed(columns)}. Give a file that has one.")
    return (numeric or columns)[0][0]


def _numbers(path: Path, column: str, cells: Sequence[Any]) -> np.ndarray:
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


def _listed(columns: Columns) -> str:
    return ", ".join(repr(name) for name, _ in columns)


# Files.


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no known format. Use .csv or .parquet.")
    return suffix


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise FileNotFoundError(f"{path} {what}. Give the path of a .csv or .parquet file; check its spelling.")


def _read_text(path: Path) -> str:
    try:
        # "utf-8-sig" also reads the byte order mark that spreadsheets put first.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error.reason}). Save it as UTF-8.") from error


def _read_csv_release(path: Path) -> tuple[str, Columns]:
    _check_file(path)
    sidecar = _sidecar(path)
    if not sidecar.is_file():
        raise FileNotFoundError(
            f"{path} has no {sidecar.name} beside it, which says what mechanism made the release. Fetch that file too; "
            "or read the numbers with read_column and give the mechanism: Release(z, mechanism)."
        )
    return _read_text(sidecar), _read_csv(path)


def _read_csv(path: Path) -> Columns:
    _check_file(path)
    try:
        rows = list(csv.reader(io.StringIO(_read_text(path))))
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
        raise ValueError(f"{path} has a header ({_listed(columns)}) but no records; at least one is needed.")
    return columns


def _read_parquet(path: Path) -> tuple[str, Columns]:
    """Return the metadata of a release, or of a plain file "", and the columns."""
    _check_file(path)
    pyarrow, parquet = _require_pyarrow(path)
    try:
        # Read as one file: a path like year=2024/z.parquet would otherwise gain a column "year".
        with parquet.ParquetFile(path) as file:
            table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({error}). Fetch or save it again.") from error
    columns = [(name, table.column(j).to_pylist()) for j, name in enumerate(table.column_names)]
    text = (table.schema.metadata or {}).get(METADATA_KEY, b"").decode(errors="replace")
    return text, _filled(path, columns)


def _require_pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"{path} is a Parquet file, which needs pyarrow. Run `pip install privmix[parquet]`, or use .csv."
        ) from error
    return pyarrow, parquet


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    # repr is the shortest text from which the same float is read back.
    rows = zip(*[map(repr, values.tolist()) for values in columns.values()], strict=True)
    _write_text(path, "\n".join([",".join(columns), *map(",".join, rows)]) + "\n")


def _write_parquet(path: Path, columns: dict[str, np.ndarray], text: str) -> None:
    pyarrow, parquet = _require_pyarrow(path)
    parquet.write_table(pyarrow.table(columns, metadata={METADATA_KEY: text.encode()}), path)


def _write_together(writers: dict[Path, Callable[[Path], None]]) -> None:
    """Write files so that all of them appear whole, or none does and what was there before stays."""
    mark = uuid.uuid4().hex
    fresh = {target: target.with_name(f".{target.name}.{mark}.new") for target in writers}
    kept = {target: target.with_name(f".{target.name}.{mark}.old") for target in writers}
    try:
        for target, write in writers.items():
            write(fresh[target])
        _swap(fresh, kept)
    finally:
        for leftover in (*fresh.values(), *kept.values()):
            leftover.unlink(missing_ok=True)


def _swap(fresh: dict[Path, Path], kept: dict[Path, Path]) -> None:
    """Put the fresh files in place, and the former ones back if that fails half-way."""
    *first, last = fresh
    for target in first:
        if target.exists():
            shutil.copy2(target, kept[target])
    done: list[Path] = []
    try:
        for target in (*first, last):
            os.replace(fresh[target], target)
            done.append(target)
    except BaseException:
        for target in done:
            if kept[target].exists():
                os.replace(kept[target], target)
            else:
                target.unlink()
        raise
