"""Columns of pandas, polars, pyarrow and xarray: read as plain arrays, and given back as what came."""

from privmix.frames.like import like
from privmix.frames.read import Labels, as_floats, columns_of, is_table, labels_of

__all__ = ["Labels", "as_floats", "columns_of", "is_table", "labels_of", "like"]
