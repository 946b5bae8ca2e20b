"""The bin of each record as an expression of narwhals: the same count in every engine, to the last record.

Engines round differently: on values that lie on edges, floor(x/width) of one is a bin higher than that of another. So
the quotient is a first guess, off by one at most, and the record is compared with the edges of that bin themselves,
k·step + lower, which are the floats that NumPy's `linspace` has. Multiplication and addition are exact to the last bit
in all of them.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from privmix.frames.categories import numbers_named
from privmix.mechanisms import Counted

#: names of the columns of the table that comes back
BIN, COUNT = "bin", "count"
#: keys of records that are in no bin: missing, NaN or infinite; or no value that the mechanism releases
MISSING, STRANGE = -1.0, -2.0
# How far beyond the range of a mechanism a released number may lie by rounding, in widths of the range.
SLACK = 1e-9


def bin_counts(frame: Any, column: str, counted: Counted) -> tuple[np.ndarray, int, int]:
    """Return the records in each bin, how many are missing, and how many no such mechanism releases.

    Parameters
    ----------
    frame
        A `narwhals.LazyFrame`: nothing but the table of counts leaves the engine.
    column
        The released numbers.
    counted
        The bins.
    """
    x, named = nw.col(column), names_of(frame.collect_schema()[column], counted)
    if named:
        key = _name_key(x, named)
    else:
        x = x.cast(nw.Float64)
        known = x.is_finite() & ~x.is_null()
        key = _output_key(x, known, counted) if counted.edges is None else _edge_key(x, known, counted)
    table = frame.select(key.alias(BIN)).group_by(BIN).agg(nw.len().alias(COUNT))
    found = table.collect(**({"engine": "streaming"} if table.implementation.is_polars() else {}))
    return _gather(found[BIN].to_numpy(), found[COUNT].to_numpy(), counted)


def _edge_key(x: nw.Expr, known: nw.Expr, counted: Counted) -> nw.Expr:
    """Return the number of the bin: a guess, compared with the edges of the bin that it names."""
    (lower, upper), bins = counted.span, counted.bins  # type: ignore[misc]
    # Numbers that are written into SQL as they are become decimals, and the floor of one an integer.
    start, step, last = (nw.lit(value, nw.Float64) for value in (lower, (upper - lower) / bins, bins - 1.0))
    inside = nw.when(known).then(x).otherwise(start)
    guess = ((inside - start) / step).clip(0.0, bins - 1.0).floor().cast(nw.Float64)
    below, above = inside < guess * step + start, inside >= (guess + 1.0) * step + start
    key = guess - below.cast(nw.Float64) + above.cast(nw.Float64)
    key = nw.when(key < 0.0).then(nw.lit(0.0, nw.Float64)).otherwise(nw.when(key > last).then(last).otherwise(key))
    if counted.each.release_range is not None:
        slack = SLACK * (upper - lower)
        key = nw.when((inside >= lower - slack) & (inside <= upper + slack)).then(key).otherwise(STRANGE)
    return nw.when(known).then(key).otherwise(MISSING)


def names_of(kind: Any, counted: Counted) -> dict[Any, float]:
    """Return the place of each name of a category as a column of this type has it; empty where it has places."""
    if not counted.each.releases_categories:
        return {}
    categories: tuple[str, ...] = counted.each.categories
    if kind.is_numeric():
        return {number: float(categories.index(name)) for number, name in numbers_named(categories).items()}
    return {name: float(place) for place, name in enumerate(categories)}


def _name_key(x: nw.Expr, named: dict[Any, float]) -> nw.Expr:
    """Return the place of a name; what is missing, or none of them, has a key below all places."""
    x = x.cast(nw.String if all(isinstance(name, str) for name in named) else nw.Float64)
    key = nw.lit(STRANGE, nw.Float64)
    for name, place in named.items():
        key = nw.when(x == name).then(nw.lit(place, nw.Float64)).otherwise(key)
    missing = x.is_null() if all(isinstance(name, str) for name in named) else ~x.is_finite() | x.is_null()
    return nw.when(missing).then(nw.lit(MISSING, nw.Float64)).otherwise(key)


def _output_key(x: nw.Expr, known: nw.Expr, counted: Counted) -> nw.Expr:
    """Return a record that is one of the outputs as it is; others get keys below all outputs."""
    outputs = [float(value) for value in counted.outputs]
    missing, strange = min(outputs) + MISSING, min(outputs) + STRANGE
    return nw.when(known & x.is_in(outputs)).then(x).otherwise(nw.when(known).then(strange).otherwise(missing))


def _gather(keys: np.ndarray, found: np.ndarray, counted: Counted) -> tuple[np.ndarray, int, int]:
    """Return the counts in order, and those of the two keys that are no bins."""
    values = np.arange(counted.bins, dtype=np.float64) if counted.outputs is None else np.asarray(counted.outputs)
    totals: dict[float, int] = {}
    for key, records in zip(keys.tolist(), found.tolist(), strict=True):
        totals[key] = totals.get(key, 0) + int(records)  # an engine may tell 0.0 from -0.0
    counts = np.array([totals.get(value, 0) for value in values.tolist()], dtype=np.float64)
    first = float(values.min())
    return counts, totals.get(first + MISSING, 0), totals.get(first + STRANGE, 0)
