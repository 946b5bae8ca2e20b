"""`privmix.count`: a column of released numbers, in whatever engine it lives, to a release of counts."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np

from privmix.counting.bins import bin_counts
from privmix.mechanisms import Counted, LocalMechanism
from privmix.release import Release

# What to do with records that are missing, NaN or infinite.
WAYS = ("refuse", "drop")


def count(
    frame: Any,
    column: str,
    mechanism: LocalMechanism,
    bins: int | None = None,
    *,
    missing: str = "refuse",
    notes: str = "",
) -> Release:
    """Count a column of released numbers where the data are; only the table comes back.

    The counting is done by the engine that holds the frame: pandas, Polars (a LazyFrame is streamed), PyArrow, DuckDB
    relations, Dask, and what else narwhals knows, such as PySpark and Ibis. All give the same counts, also of numbers
    that lie on edges.

    Parameters
    ----------
    frame
        A frame, a lazy frame, a relation: not the raw data, but what the mechanism released of them.
    column
        The released numbers.
    mechanism
        What released each of them.
    bins
        Number of bins, as in `mechanisms.Counted`, which says what they are by default.
    missing
        What to do with records that are null, NaN or infinite: "refuse", or "drop" with a warning that says how many.
    notes
        Published with the release.

    Returns
    -------
    Release
        ``release.counts``, with ``release.mechanism.edges`` or ``.outputs``. Tables of the same mechanism and bins add
        up, ``monday + tuesday``; `privmix.fit` takes one as it takes any release.

    Examples
    --------
    >>> import pandas as pd, privmix
    >>> mechanism = privmix.mechanisms.RandomizedResponse(cells=3, epsilon=1.0, bounds=(0.0, 3.0))
    >>> release = privmix.count(pd.DataFrame({"z": [0, 2, 2, 1, 2]}), "z", mechanism)
    >>> release.counts
    array([1., 1., 3.])
    """
    counted = Counted(mechanism, bins)  # type: ignore[arg-type]
    counts = count_column(open_frame(frame, column), column, counted, missing)
    return Release(counts, counted, notes)


def open_frame(frame: Any, column: str) -> Any:
    """Return a frame of any library as a lazy one of narwhals, with its column checked."""
    try:
        found = nw.from_native(frame)
    except TypeError as error:
        raise TypeError(
            f"count takes a frame of pandas, Polars, PyArrow, DuckDB, Dask, PySpark or Ibis; got "
            f"{type(frame).__name__}. Of an array z make one: pandas.DataFrame({{'z': z}})."
        ) from error
    schema = found.collect_schema()
    if column not in schema:
        raise ValueError(f"the frame has no column {column!r}; it has {', '.join(map(repr, schema))}.")
    if not (schema[column].is_integer() or schema[column].is_float()):
        raise TypeError(f"the column {column!r} must be numbers; it is of type {schema[column]}. Cast it first.")
    return found.lazy()


def count_column(frame: Any, column: str, counted: Counted, missing: str) -> np.ndarray:
    """Return the counts of a column of a lazy frame, or say what is wrong with it."""
    if missing not in WAYS:
        raise ValueError(f"missing must be 'refuse' or 'drop'; got {missing!r}.")
    return accept(column, counted, missing, *bin_counts(frame, column, counted))


def accept(column: str, counted: Counted, missing: str, counts: np.ndarray, absent: int, strange: int) -> np.ndarray:
    """Return counts, or refuse those of a column with records that are in no bin."""
    if strange:
        raise ValueError(
            f"the column {column!r} has {strange:,} numbers that {counted.name_of_each} does not release. Check that "
            "the mechanism is the one that made the release."
        )
    if absent and missing == "refuse":
        raise ValueError(
            f"the column {column!r} has {absent:,} values that are missing, NaN or infinite. Find out why; to leave "
            "them out give missing='drop' (--missing drop on the command line)."
        )
    if absent:
        warnings.warn(
            f"{absent:,} of {int(counts.sum()) + absent:,} values of the column {column!r} are missing, NaN or "
            "infinite; they were left out.",
            stacklevel=4,
        )
    if not counts.sum():
        raise ValueError(f"the column {column!r} has no records to count.")
    return counts
