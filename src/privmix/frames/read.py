"""Columns of any library: their numbers, with errors that say what was given, and the labels that they bring."""

from __future__ import annotations

import datetime
import decimal
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import xarray as xr

if TYPE_CHECKING:
    import pandas as pd

# What to do about values that look like numbers to NumPy, and are none to a statistician.
ADVICE = {
    "boolean": " Booleans are no measurements; cast them to float if 0 and 1 are meant.",
    "decimal": " Cast decimals to float first.",
    "time": " Turn times into numbers first, such as days since a date.",
    "text": "",
    "complex": "",
}
KINDS = {"b": "boolean", "M": "time", "m": "time", "U": "text", "S": "text", "T": "text", "c": "complex"}
# Groups of a DataTree whose variables have a dimension of records.
GROUPS = ("posterior", "observed_data")


def as_floats(values: Any, name: str, *, rows: bool = False, missing: bool = False) -> np.ndarray:
    """Return values as a contiguous array of finite floats, or an error that says what was given.

    Parameters
    ----------
    values
        A column: a sequence, an array, or a series of pandas, polars, pyarrow or xarray; or a frame.
    name
        What the values are, for messages.
    rows
        Whether a record is a row of numbers: then a frame gives one column for each; else it must have one column.
    missing
        Whether values may be missing (NaN, null): they come back as NaN.
    """
    refuse_masked(values, name)
    array = _to_array(values, name, rows, missing)
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array with one entry a record; got the single value {values!r}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one record is needed.")
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        found = f"{np.count_nonzero(bad)} values that are {'infinite' if missing else 'NaN or infinite'}"
        raise ValueError(f"{name} has {found}; remove or replace them first.{_first(values, bad)}")
    return array


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array of NumPy, or a list of such, with masked entries: as an array it shows what they hide."""
    entries = values if isinstance(values, list | tuple) else (values,)
    masked = sum(int(np.ma.count_masked(entry)) for entry in entries if isinstance(entry, np.ma.MaskedArray))
    if masked:
        raise ValueError(f"{name} has {masked} masked values; remove or replace them first: values.compressed().")


def is_table(values: Any) -> bool:
    """Return whether values are a frame or an xarray.Dataset: several named columns."""
    return isinstance(values, xr.Dataset) or isinstance(opened(values), nw.DataFrame)


def columns_of(table: Any, names: tuple[str, ...], name: str, *, missing: bool = False) -> dict[str, np.ndarray]:
    """Return named columns of a frame or an xarray.Dataset as arrays of floats, finite unless some may be missing.

    Parameters
    ----------
    table
        What `is_table` recognises.
    names
        The columns that are wanted.
    name
        What the table is, for messages.
    missing
        Whether values may be missing (NaN, null): they come back as NaN.
    """
    frame = table if isinstance(table, xr.Dataset) else opened(table)
    held = [str(key) for key in (frame.data_vars if isinstance(frame, xr.Dataset) else frame.columns)]  # type: ignore[union-attr]
    if not set(names) <= set(held):
        raise ValueError(
            f"{name} is a table with the columns {', '.join(held)}; it needs {', '.join(names)}. Rename its columns, "
            "or give the released numbers alone."
        )
    return {
        wanted: as_floats(_native(frame[wanted]), f"the column {wanted!r} of {name}", missing=missing)  # type: ignore[index]
        for wanted in names
    }


def _to_array(values: Any, name: str, rows: bool, missing: bool = False) -> np.ndarray:
    if isinstance(values, xr.Dataset):
        raise TypeError(f"{name} must be one column; got an xarray.Dataset. Choose a variable: dataset['…'].")
    found = opened(values)
    if isinstance(found, nw.Series):
        return _series_array(found, name, missing)
    if isinstance(found, nw.DataFrame):
        return _frame_array(found, name, rows, missing)
    if isinstance(values, xr.DataArray):
        values = values.values
    return _plain_array(values, name)


def _frame_array(frame: nw.DataFrame, name: str, rows: bool, missing: bool = False) -> np.ndarray:
    names = frame.columns
    if not rows:
        if len(names) != 1:
            raise ValueError(
                f"{name} must be one column; the table has {len(names)}: {', '.join(map(str, names))}. "
                "Choose one of them."
            )
        return _series_array(frame[names[0]], name, missing)
    _check_order(names, name)
    arrays = [_series_array(frame[column], f"the column {column!r} of {name}") for column in names]
    return np.ascontiguousarray(np.column_stack(arrays))


def _check_order(names: list[str], name: str) -> None:
    """Refuse numbered columns that are out of order: they would be read as one another."""
    found = [re.fullmatch(r"(.*?)(\d+)", str(column)) for column in names]
    numbers = [int(match[2]) for match in found if match]
    if sorted(numbers) == list(range(len(names))) and numbers != sorted(numbers):
        raise ValueError(
            f"{name} has its columns out of order: {', '.join(names)}. Put them in order of their numbers."
        )


def _series_array(series: nw.Series, name: str, missing: bool = False) -> np.ndarray:
    dtype = series.dtype
    if isinstance(dtype, nw.Object):
        return _object_array(series, name, missing)
    if not (dtype.is_integer() or dtype.is_float()):
        kind = "boolean" if isinstance(dtype, nw.Boolean) else "decimal" if dtype.is_decimal() else "text"
        kind = "time" if dtype.is_temporal() else kind
        called = f"the column {series.name!r}" if series.name else "a column"
        raise TypeError(f"{name} must be numbers; got {called} of type {dtype}.{ADVICE[kind]}")
    nulls = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if nulls.any() and missing:
        series = series.cast(nw.Float64).fill_null(float("nan"))
    elif nulls.any():
        count = np.count_nonzero(nulls)
        raise ValueError(
            f"{name} has {count} missing values; remove or replace them first.{_first(series.to_native(), nulls)}"
        )
    return np.ascontiguousarray(series.to_numpy(), dtype=np.float64)


def _object_array(series: nw.Series, name: str, missing: bool) -> np.ndarray:
    """Return a column of Python objects, among which None and pandas' NA stand for what is missing, as NaN is."""
    entries = np.asarray(series.to_native(), dtype=object)
    absent = np.array([entry is None or type(entry).__name__ == "NAType" for entry in entries], dtype=bool)
    if absent.any() and not missing:
        raise ValueError(f"{name} has {np.count_nonzero(absent)} missing values; remove or replace them first.")
    return _plain_array(np.where(absent, np.nan, entries), name)


def _plain_array(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
        kind = _kind_of_objects(array) if array.dtype.kind == "O" else KINDS.get(array.dtype.kind)
        if kind is None:
            array = np.asarray(array, dtype=np.float64)
            # ascontiguousarray would make a single value an array of one.
            return np.ascontiguousarray(array) if array.ndim else array
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers; got {_shown(values)}.") from error
    raise TypeError(f"{name} must be numbers; got {_shown(values)}.{ADVICE[kind]}")


def _kind_of_objects(array: np.ndarray) -> str | None:
    """Return what the first entry is that float() would take for a number and that is none, or None."""
    types: dict[str, Any] = {"boolean": bool | np.bool_, "decimal": decimal.Decimal, "text": str | bytes}
    types["time"] = datetime.date | datetime.timedelta | datetime.time | np.datetime64 | np.timedelta64
    for entry in array.flat:
        for kind, wanted in types.items():
            if isinstance(entry, wanted):
                return kind
    return None


def _first(values: Any, bad: np.ndarray) -> str:
    """Return where the first bad value of a labelled column is; nothing where records have no labels."""
    labels = labels_of(values)
    if not labels.coords:
        return ""
    position = int(np.argwhere(bad)[0][0])
    shown = ", ".join(str(label[position]) for label in labels.coords.values())
    return f" The first is at the label {shown}."


def _native(column: Any) -> Any:
    return column.to_native() if isinstance(column, nw.Series) else column


def _shown(values: Any) -> str:
    text = repr(values)
    return text if len(text) <= 60 else text[:57] + "..."


def opened(values: Any) -> nw.Series | nw.DataFrame | None:
    """Return a series or a frame of any library behind one interface, or None for anything else."""
    if isinstance(values, xr.DataArray | xr.Dataset):
        return None
    if is_arrow_array(values):
        values = sys.modules["pyarrow"].chunked_array([values])
    found = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise TypeError(f"got {type(values).__name__}, whose rows are not computed yet; collect it first.")
    return found if isinstance(found, nw.Series | nw.DataFrame) else None


def is_arrow_array(values: Any) -> bool:
    """Return whether values are an array of pyarrow in one piece; pyarrow itself is not imported for it."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(values, arrow.Array)


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


def add_labels(tree: xr.DataTree, labels: Labels) -> None:
    """Put the labels of records on every variable that has records, and names on the release."""
    for group in GROUPS:
        dataset = tree[group].to_dataset()
        if "record" in dataset.dims:
            dataset = dataset.assign_coords({name: ("record", label) for name, label in labels.coords.items()})
        if group == "observed_data":
            dataset = _with_names(dataset, labels)
        tree[group].dataset = dataset


def _with_names(dataset: xr.Dataset, labels: Labels) -> xr.Dataset:
    # Rows of named columns have their names already, in the order of the mechanism and not of the frame.
    if dataset.sizes.get("coefficient") == len(labels.columns) and "coefficient" not in dataset.coords:
        dataset = dataset.assign_coords(coefficient=np.array(labels.columns, dtype=np.str_))
    if labels.name is not None:
        dataset["z"].attrs["long_name"] = labels.name
    return dataset


def read_labels(tree: xr.DataTree) -> Labels:
    """Return the labels that `add_labels` put on a tree."""
    observed = tree["observed_data"].to_dataset()
    coords = {str(name): coord.values for name, coord in observed.coords.items() if str(name).startswith("record")}
    columns = tuple(map(str, observed["coefficient"].values)) if "coefficient" in observed.coords else ()
    return Labels(coords, observed["z"].attrs.get("long_name"), columns)


def record_index(tree: xr.DataTree) -> pd.Index | None:
    """Return the labels of the records as a pandas index, or None where they came without."""
    import pandas as pd

    coords = read_labels(tree).coords
    if not coords:
        return None
    if list(coords) == ["record"]:
        return pd.Index(coords["record"])
    return pd.MultiIndex.from_arrays(list(coords.values()), names=[name.removeprefix("record_") for name in coords])


def coords_of(labels: Labels, dim: str = "record") -> dict:
    """Return labels as coordinates of a dimension of records."""
    return {name.replace("record", dim, 1): (dim, label) for name, label in labels.coords.items()}
