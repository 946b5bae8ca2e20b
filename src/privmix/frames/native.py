"""Recognise what a user gave: a series, a frame, an xarray object, or a plain array."""

from __future__ import annotations

import sys
from typing import Any

import narwhals as nw
import xarray as xr


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
