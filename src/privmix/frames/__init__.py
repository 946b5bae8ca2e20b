"""Columns of pandas, polars, pyarrow and xarray: read as plain arrays, and given back as what came."""

from privmix.frames.labels import Labels, labels_of
from privmix.frames.like import like
from privmix.frames.read import as_floats, columns_of, is_table

__all__ = ["Labels", "as_floats", "columns_of", "is_table", "labels_of", "like"]
