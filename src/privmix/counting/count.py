"""`privmix.count`: a column of released numbers, in whatever engine it lives, to a release of counts."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Mapping
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
    mechanism: LocalMechanism | Mapping[Any, LocalMechanism],
    bins: int | None = None,
    *,
    by: str | None = None,
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
        What released each of them; with `by`, a mapping from each class of records to its mechanism.
    bins
        Number of bins, as in `mechanisms.Counted`, which says what they are by default.
    by
        Column with the class of each record, where classes went through mechanisms of their own: with different ε,
        say. There is a table for each, and one likelihood. Who is in which class may not depend on the value.
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
    of_names = any(one.releases_categories for one in _each(mechanism))
    opened = open_frame(frame, column, of_names=of_names)
    if by is None:
        if isinstance(mechanism, Mapping):
            raise ValueError("a mechanism for each class needs by=, the column with the class of each record.")
        return count_one(opened, column, mechanism, bins, missing, notes)
    check_classes(opened, mechanism, by)
    classes: Mapping[Any, LocalMechanism] = mechanism  # type: ignore[assignment]
    each = [
        count_one(opened.filter(nw.col(by) == name), column, one, bins, missing, notes) for name, one in classes.items()
    ]
    return functools.reduce(operator.add, each)


def _each(mechanism: Any) -> list[Any]:
    """Return the mechanisms that were given, whatever they are."""
    given = list(mechanism.values()) if isinstance(mechanism, Mapping) else [mechanism]
    return [one for one in given if isinstance(one, LocalMechanism)]


def count_one(
    frame: Any, column: str, mechanism: LocalMechanism, bins: int | None, missing: str, notes: str
) -> Release:
    """Return the counts of a column that one mechanism released."""
    counted = Counted(mechanism, bins)  # type: ignore[arg-type]
    if counted.names:
        raise ValueError("count is for one column; of rows count with mechanisms.Counted(mechanism).count(z).")
    return Release(count_column(frame, column, counted, missing), counted, notes)


def check_classes(frame: Any, mechanism: Any, by: str) -> None:
    """Refuse classes without a mechanism, and a column that is not there or has no class for some records."""
    if not isinstance(mechanism, Mapping) or not mechanism:
        raise TypeError(
            f"with by={by!r} give a mechanism for each class: count(frame, column, {{class: mechanism, …}}, by={by!r})."
        )
    if by not in frame.collect_schema():
        raise ValueError(f"the frame has no column {by!r}; it has {', '.join(map(repr, frame.collect_schema()))}.")
    found = frame.select(by).unique().collect()[by].to_list()
    other = [value for value in found if value not in mechanism]
    if other:
        raise ValueError(
            f"the column {by!r} has {other[0]!r}, for which there is no mechanism; there is one for "
            f"{', '.join(map(repr, mechanism))}. Give one for each class, or leave these records out."
        )
    absent = [name for name in mechanism if name not in found]
    if absent:
        raise ValueError(f"the column {by!r} has no record of class {absent[0]!r}. Leave its mechanism out.")


def open_frame(frame: Any, column: str, *, of_names: bool = False) -> Any:
    """Return a frame of any library as a lazy one of narwhals, with its column checked: numbers, or names."""
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
    if of_names and isinstance(schema[column], nw.String | nw.Categorical | nw.Enum):
        return found.lazy()
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
            f"the column {column!r} has {strange:,} values that {counted.name_of_each} does not release. Check that "
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
            stacklevel=5,
        )
    if not counts.sum():
        raise ValueError(f"the column {column!r} has no records to count.")
    return counts
