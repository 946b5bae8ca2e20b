"""What a column brought besides its numbers: labels of its records and names, and how they are kept in a DataTree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import xarray as xr

if TYPE_CHECKING:
    import pandas as pd

# Groups of the tree whose variables have a dimension of records.
GROUPS = ("posterior", "observed_data")


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
    if dataset.sizes.get("coefficient") == len(labels.columns):
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
