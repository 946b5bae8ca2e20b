"""Rows of named columns, of any library: picked by name, stacked, and given back as they came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import xarray as xr

from privmix.frames.categories import as_names, named_like
from privmix.frames.read import opened, refuse_masked


class Named(NamedTuple):
    """A column of categories: the place of each entry, NaN where it is missing, and the names."""

    codes: np.ndarray
    categories: tuple[str, ...]

    def texts(self) -> list[str | None]:
        """Return the name of each entry."""
        return as_names(self.codes, self.categories)


def with_texts(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns with the names of categories in place of their places."""
    return {name: column.texts() if isinstance(column, Named) else column for name, column in columns.items()}


def pick_columns(rows: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    """Return the columns of rows by name, as they came.

    Parameters
    ----------
    rows
        A frame or a mapping with these columns, in any order and no others; or an array of rows, whose columns are in
        this order.
    names
        The columns.
    what
        What the rows are, for messages.
    """
    refuse_masked(rows, what)
    if isinstance(rows, xr.DataArray):
        rows = _unlabelled(rows, names)
    found = rows if isinstance(rows, Mapping) else opened(rows)
    if isinstance(found, nw.DataFrame):
        found = {str(name): found.get_column(name).to_native() for name in found.columns}
    if isinstance(found, Mapping):
        _check_names(list(found), names, what)
        columns = {name: found[name] for name in names}
        _check_lengths(columns, what)
        return columns
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(
            f"{what} must be rows of {len(names)} columns ({', '.join(names)}), a frame or an array; got shape "
            f"{array.shape}."
        )
    if not len(array):
        raise ValueError(f"{what} is empty; at least one record is needed.")
    return {name: array[:, j] for j, name in enumerate(names)}


def _unlabelled(rows: xr.DataArray, names: Sequence[str]) -> Any:
    """Return columns by name where the second dimension is labelled by text, or the first by these names."""
    for axis, dim in ((1, rows.dims[-1]), (0, rows.dims[0])) if rows.ndim == 2 else ():
        labels = rows.coords[dim].values.tolist() if dim in rows.coords else [0]
        if all(isinstance(label, str) for label in labels) and (axis == 1 or set(labels) == set(names)):
            return {label: rows.isel({dim: j}).values for j, label in enumerate(labels)}
    return rows.values


def _check_lengths(columns: dict[str, Any], what: str) -> None:
    lengths = {name: len(column) for name, column in columns.items() if hasattr(column, "__len__")}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"{what} has columns of different lengths: {told}.")


def _check_names(held: list[str], names: Sequence[str], what: str) -> None:
    absent = [name for name in names if name not in held]
    more = [name for name in held if name not in names]
    if absent or more:
        told = [f"no column {', '.join(map(repr, absent))}"] if absent else []
        told += [f"{', '.join(map(repr, more))} besides"] if more else []
        raise ValueError(
            f"{what} has {' and '.join(told)}; the columns are {', '.join(names)}. Choose and rename them: "
            f"frame[[{', '.join(map(repr, names))}]]."
        )


def stack_columns(columns: Sequence[Any], read: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return columns side by side as floats, each read by a function, NaN where an entry is missing."""
    return np.column_stack([column.codes if isinstance(column, Named) else read(column) for column in columns])


def like_rows(source: Any, columns: dict[str, Any], rows: np.ndarray) -> Any:
    """Return a release as a frame of the kind that the data came in, with its index; as an array where they were none.

    Parameters
    ----------
    source
        The data that were released.
    columns
        The release by column: numbers, or `Named`.
    rows
        The same as an array.
    """
    found = opened(source)
    if not isinstance(found, nw.DataFrame):
        return rows
    backend = nw.get_native_namespace(found)
    made = {name: _column(found, name, column, backend).to_native() for name, column in columns.items()}
    # A frame's own constructor: that of narwhals takes categorical columns of pandas for text.
    frame = backend.DataFrame(made) if hasattr(backend, "DataFrame") else backend.table(made)
    index = nw.maybe_get_index(found)
    if index is not None:
        frame.index = index
    return frame


def _column(found: nw.DataFrame, name: str, column: Any, backend: Any) -> nw.Series:
    if isinstance(column, Named):
        source = found[name] if name in found.columns else None
        return named_like(source, column.codes, column.categories, backend).alias(name)
    series = nw.new_series(name=name, values=column, backend=backend)
    # pandas writes a missing number as NaN; elsewhere NaN is a number, and null is missing.
    return series if backend.__name__ == "pandas" else series.fill_nan(None)
