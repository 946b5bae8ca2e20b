"""Columns of named categories: as places among the names, and back as the kind of column that they came in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from privmix.frames.read import as_floats, opened


def as_codes(values: Any, categories: tuple[str, ...], name: str, *, missing: bool = False) -> np.ndarray:
    """Return the place of each value among the categories, as floats; NaN where it is missing.

    Parameters
    ----------
    values
        Names, as a sequence, an array or a column of pandas, polars or pyarrow, of text or of a categorical type; or
        places themselves, as numbers. Where names are numbers, such as ("1", "2"), numbers are names too, and only an
        array of floats, which is what `privatize` returns for an array, has places.
    categories
        All names.
    name
        What the values are, for messages.
    missing
        Whether values may be missing.
    """
    texts = _texts(values)
    if texts is None:
        numbers, named = as_floats(values, name, missing=missing), numbers_named(categories)
        if not named or _is_array_of_floats(values):
            return _check_codes(numbers, categories, name)
        texts = [None if np.isnan(number) else named.get(number, f"{number:g}") for number in numbers.tolist()]
    place = {category: float(j) for j, category in enumerate(categories)}
    codes = np.array([np.nan if text is None else place.get(text, -1.0) for text in texts])
    if not len(codes):
        raise ValueError(f"{name} is empty; at least one record is needed.")
    absent = int(np.count_nonzero(np.isnan(codes)))
    if absent and not missing:
        raise ValueError(f"{name} has {absent} missing values; remove or replace them first.")
    _refuse_unknown([texts[i] for i in np.flatnonzero(codes == -1.0)], categories, name)
    return codes


def _texts(values: Any) -> list[Any] | None:
    """Return values as texts, None where one is missing; or None where all are numbers."""
    found = opened(values)
    if isinstance(found, nw.DataFrame) and len(found.columns) == 1:
        found = found[found.columns[0]]
    if isinstance(found, nw.Series):
        if found.dtype.is_numeric():
            return None
        known = isinstance(found.dtype, nw.String | nw.Categorical | nw.Enum)
        return [_text(entry) for entry in (found.cast(nw.String).to_list() if known else found.to_list())]
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind in "biuf":
        return None
    entries = array.tolist()
    return None if all(isinstance(entry, int | float) for entry in entries) else [_text(entry) for entry in entries]


def _text(entry: Any) -> Any:
    """Return None for what stands for a missing value in any library; else the entry."""
    if isinstance(entry, str):
        return entry
    # pandas' NA is equal to nothing, and says so by a value that is neither true nor false.
    return None if entry is None or type(entry).__name__ == "NAType" or entry != entry else entry


def numbers_named(categories: tuple[str, ...]) -> dict[float, str]:
    """Return the category that each number is the name of; of none where numbers as names are the places too."""
    if categories == tuple(map(str, range(len(categories)))):
        return {}
    found: dict[float, str] = {}
    for category in categories:
        number = _number(category)
        if np.isfinite(number) and found.setdefault(number, category) != category:
            raise ValueError(f"the categories {found[number]!r} and {category!r} are one number: give them as text.")
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _is_array_of_floats(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "f"


def _refuse_unknown(unknown: list[Any], categories: tuple[str, ...], name: str) -> None:
    if unknown:
        shown = ", ".join(map(repr, categories[:6])) + (", …" if len(categories) > 6 else "")
        raise ValueError(
            f"{name} has {len(unknown)} values that are none of the categories {shown}; the first is {unknown[0]!r}. "
            "Correct them, or name every category where the mechanism is made."
        )


def _check_codes(codes: np.ndarray, categories: tuple[str, ...], name: str) -> np.ndarray:
    kept = codes[~np.isnan(codes)]
    bad = kept[(kept != np.floor(kept)) | (kept < 0) | (kept >= len(categories))]
    if len(bad):
        raise ValueError(
            f"{name} has {len(bad)} numbers that are no place of a category, from 0 to {len(categories) - 1}; the "
            f"first is {bad[0]:g}. Give names, or places."
        )
    return codes


def as_names(codes: np.ndarray, categories: tuple[str, ...]) -> list[str | None]:
    """Return the names of places; None where one is missing."""
    return [None if np.isnan(code) else categories[int(code)] for code in codes]


def named_column(source: Any, codes: np.ndarray, categories: tuple[str, ...]) -> Any:
    """Return places as a column of names of the kind of the source, with its name and index; places for an array."""
    found = opened(source)
    if not isinstance(found, nw.Series):
        return codes
    made = named_like(found, codes, categories, nw.get_native_namespace(found)).to_native()
    index = nw.maybe_get_index(found)
    if index is not None:
        made.index = index
    return made


def named_like(source: nw.Series | None, codes: np.ndarray, categories: tuple[str, ...], backend: Any) -> Any:
    """Return places as a column of names, of a categorical type where the source was one.

    Parameters
    ----------
    source
        The column that the data came in, or None where there was none.
    codes, categories
        Places, and all names.
    backend
        The library that the column is to be of.
    """
    name = "" if source is None else source.name
    made = nw.new_series(name=name, values=as_names(codes, categories), dtype=nw.String, backend=backend)
    if source is not None and isinstance(source.dtype, nw.Categorical | nw.Enum):
        made = made.cast(nw.Enum(categories) if backend.__name__ in ("polars", "pandas") else nw.Categorical)
    return made
