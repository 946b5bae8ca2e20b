"""Labels of the records in a DataTree: what the release was called, and how its records can be joined back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from privmix.frames.labels import Labels

if TYPE_CHECKING:
    import pandas as pd

# Groups of the tree whose variables have a dimension of records.
GROUPS = ("posterior", "observed_data")


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
