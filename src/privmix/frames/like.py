"""Give a release back as the kind of thing that the data came in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import xarray as xr

from privmix.frames.read import is_arrow_array, opened


def like(source: Any, z: np.ndarray | dict[str, np.ndarray]) -> Any:
    """Return a release as a column or a frame of the kind of `source`.

    The index and the name are kept, and nothing else: other coordinates and attributes may be confidential.

    Parameters
    ----------
    source
        The data that were released: a series or frame of any library, or anything else, for which `z` is returned.
    z
        One number or row for each record; or named columns of one release of all records, which has no index.
    """
    if isinstance(source, xr.DataArray):
        return _like_xarray(source, z)
    found = opened(source)
    if found is None:
        return z
    backend = nw.get_native_namespace(found)
    if isinstance(z, dict):
        return nw.from_dict(z, backend=backend).to_native()
    if z.ndim == 1 and is_arrow_array(source):
        return backend.array(z)
    if z.ndim == 1 and isinstance(found, nw.Series):
        made = nw.new_series(name=found.name, values=z, backend=backend).to_native()
    else:
        names = _names(found, z)
        made = nw.from_dict(dict(zip(names, np.atleast_2d(z.T), strict=True)), backend=backend).to_native()
    index = nw.maybe_get_index(found)
    if index is not None:
        made.index = index
    return made


def _names(found: nw.Series | nw.DataFrame, z: np.ndarray) -> list[str]:
    """Return names of the released columns: those of the data where they correspond, else numbered."""
    width = 1 if z.ndim == 1 else z.shape[1]
    if isinstance(found, nw.DataFrame) and len(found.columns) == width:
        return found.columns
    single = found.name if isinstance(found, nw.Series) else found.columns[0] if len(found.columns) == 1 else None
    return [f"{single or 'z'}_{j}" for j in range(width)]


def _like_xarray(source: xr.DataArray, z: np.ndarray | dict[str, np.ndarray]) -> xr.DataArray | xr.Dataset:
    if isinstance(z, dict):
        return xr.Dataset({name: ("released", column) for name, column in z.items()})
    dim = source.dims[0]
    dims = source.dims if z.shape == source.shape else (dim, "coefficient")[: z.ndim]
    index = source.indexes.get(dim)
    if index is None:
        return xr.DataArray(z, dims=dims, name=source.name)
    if index.nlevels > 1:
        return xr.DataArray(z, xr.Coordinates.from_pandas_multiindex(index, dim), dims, source.name)
    return xr.DataArray(z, {dim: index}, dims, source.name)
