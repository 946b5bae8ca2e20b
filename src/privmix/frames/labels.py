"""The labels that came with records: a pandas index or an xarray coordinate, and the names of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import xarray as xr

from privmix.frames.native import opened


class Labels(NamedTuple):
    """What a column brought besides its numbers.

    ``coords`` has the labels of the records: under "record", or under "record_<level>" for each level of a
    hierarchical index; empty where there are none. ``name`` is the column's name, ``columns`` those of a frame.
    """

    coords: dict[str, np.ndarray] = {}  # noqa: RUF012 - never changed
    name: str | None = None
    columns: tuple[str, ...] = ()


def labels_of(values: Any) -> Labels:
    """Return the labels and names of a column or a frame; empty for plain arrays.

    Parameters
    ----------
    values
        Anything; pandas and xarray have labels, polars and pyarrow names alone.
    """
    if isinstance(values, xr.DataArray):
        index = values.indexes.get(values.dims[0]) if values.dims else None
        return Labels(_coords(index), _text(values.name))
    found = opened(values)
    if found is None:
        return Labels()
    index = nw.maybe_get_index(found)
    if isinstance(found, nw.Series):
        return Labels(_coords(index), _text(found.name))
    columns = tuple(str(column) for column in found.columns)
    return Labels(_coords(index), columns[0] if len(columns) == 1 else None, columns)


def _coords(index: Any) -> dict[str, np.ndarray]:
    if index is None:
        return {}
    if index.nlevels == 1:
        return {"record": _storable(index)}
    names = [level if name is None else name for level, name in enumerate(index.names)]
    return {f"record_{name}": _storable(index.get_level_values(level)) for level, name in enumerate(names)}


def _storable(index: Any) -> np.ndarray:
    """Return labels as numbers, times or text, which netCDF can hold; others (intervals, tuples, …) as text."""
    array = np.asarray(index)
    return array if array.dtype.kind in "iufM" else np.array([str(label) for label in index], dtype=np.str_)


def _text(name: Any) -> str | None:
    return None if name is None or name == "" else str(name)
