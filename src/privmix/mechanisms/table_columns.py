"""The columns of a table of counts: numbers that are cut into bins, and named categories.

A category is a bin of width 1 around its place, so that both are edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from privmix.frames.categories import as_codes
from privmix.frames.read import as_floats
from privmix.frames.rows import Named
from privmix.mechanisms.histogram import read_edges
from privmix.parts.checks import check_categories
from privmix.parts.columns import check_names

# Edges that another program wrote may differ in the last digits, by this share of the range.
CLOSE = 1e-9


class Axis(NamedTuple):
    """One column of a table: its name, the edges of its bins, and the names of its categories, if it has any."""

    name: str
    edges: np.ndarray
    categories: tuple[str, ...] | None

    @property
    def bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Range of a number; None for categories."""
        return None if self.categories is not None else (float(self.edges[0]), float(self.edges[-1]))

    @property
    def file_columns(self) -> list[str]:
        """Names of the columns of a file: lower and upper edges, or the category."""
        return [f"{self.name}_lower", f"{self.name}_upper"] if self.categories is None else [self.name]

    def bin_of(self, y: np.ndarray) -> np.ndarray:
        """Return the bin of each value: closed on the left, the first and last open outwards."""
        return np.searchsorted(self.edges[1:-1], y, side="right")

    def values(self, place: np.ndarray, share: np.ndarray | float = 0.5) -> np.ndarray:
        """Return a value in each of some bins: a share of the way through it, or the place of the category."""
        return place + 0.0 if self.categories else self.edges[place] + share * np.diff(self.edges)[place]

    def in_words(self, place: int) -> str:
        """Return what to call a bin."""
        if self.categories is not None:
            return f"{self.name} {self.categories[place]}"
        return f"{self.name} {self.edges[place]:g} to {self.edges[place + 1]:g}"

    def to_columns(self, place: np.ndarray) -> dict[str, Any]:
        """Return bins as columns of a file."""
        if self.categories is not None:
            return {self.name: Named(place.astype(np.float64), self.categories)}
        return dict(zip(self.file_columns, (self.edges[place], self.edges[place + 1]), strict=True))

    def from_columns(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Return the bins that columns of a file name, or say which is none."""
        found = [columns[name] for name in self.file_columns]
        if self.categories is not None:
            return as_codes(found[0], self.categories, f"the column {self.name}").astype(int)
        lower, upper = (as_floats(ends, f"the column {n}") for n, ends in zip(self.file_columns, found, strict=True))
        place = np.clip(self.bin_of(0.5 * (lower + upper)), 0, self.bins - 1)
        close = CLOSE * (self.edges[-1] - self.edges[0])
        bad = (np.abs(lower - self.edges[place]) > close) | (np.abs(upper - self.edges[place + 1]) > close)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"the table has {self.name} from {lower[row]:g} to {upper[row]:g} (row {row + 1}), which is none of "
                f"the {self.bins} bins of that column. It was changed, or belongs to another mechanism."
            )
        return place


def read_columns(owner: str, given: Iterable[tuple[str, Any]]) -> tuple[tuple[Axis, ...], tuple[tuple[str, Any], ...]]:
    """Return the columns of a table, and what was given of each as a mechanism keeps it.

    Parameters
    ----------
    owner
        Whose they are, for messages.
    given
        Name of each column, with the edges of its bins, a pair (bins, (lower, upper)), or names of categories.
    """
    pairs = list(given)
    names = check_names(owner, [name for name, _ in pairs])
    read = [_read_column(owner, name, value) for name, (_, value) in zip(names, pairs, strict=True)]
    axes = tuple(axis for axis, _ in read)
    written = [*[column for axis in axes for column in axis.file_columns], "count"]
    twice = [column for column in written if written.count(column) > 1]
    if twice:
        raise ValueError(f"{owner}: a file of the table would have two columns {twice[0]!r}. Rename a column.")
    return axes, tuple((axis.name, kept) for axis, kept in read)


def _read_column(owner: str, name: str, given: Any) -> tuple[Axis, Any]:
    of = f"{owner}: column {name!r}"
    entries: list[Any] = [] if isinstance(given, str) or not np.iterable(given) else list(given)
    if any(isinstance(entry, str) for entry in entries):
        categories = check_categories(of, entries)
        return Axis(name, _frozen(np.arange(len(categories) + 1) - 0.5), categories), categories
    if not entries:
        raise ValueError(
            f"{of} needs the edges of its bins, such as [0, 18, 65, 100], a number of equal bins with their range, "
            f"such as (8, (0, 100)), or categories, such as ('f', 'm'); got {given!r}."
        )
    if len(entries) == 2 and np.iterable(entries[1]):
        edges, bounds = read_edges(of, entries[0], entries[1])
        return Axis(name, edges, None), (int(entries[0]), bounds)
    edges, _ = read_edges(of, given, None)
    return Axis(name, edges, None), edges


def _frozen(edges: np.ndarray) -> np.ndarray:
    edges.setflags(write=False)
    return edges
