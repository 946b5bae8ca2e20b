"""Results of a study, as its figures read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from privmix.studies.runner.configuration import Coordinates
from privmix.studies.runner.store import Store, write_whole


@dataclass(frozen=True)
class Result:
    """One finished cell.

    Parameters
    ----------
    coordinates
        Which cell.
    values
        What the cell function returned.
    """

    coordinates: Coordinates
    values: dict[str, np.ndarray]


@dataclass(frozen=True)
class Results:
    """Finished cells of a study, all of them or a selection.

    Parameters
    ----------
    configuration
        What they were made with.
    cells
        The finished cells, in the order of the grid.
    finished, wanted
        Finished cells of the whole study, and cells that it has, whatever was selected.
    """

    configuration: Any  # of the study's own class
    cells: tuple[Result, ...]
    finished: int
    wanted: int

    @classmethod
    def load(cls, store: Store) -> Results:
        """Return what there is in a folder."""
        configuration = store.read_configuration()
        cells = configuration.cells()
        done = tuple(Result(cell, store.read(cell)) for cell in cells if store.is_finished(cell))
        return cls(configuration, done, len(done), len(cells))

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.cells)

    def select(self, **coordinates: Any) -> Results:
        """Return the cells that have these coordinates."""
        chosen = [r for r in self.cells if all(r.coordinates.get(k) == v for k, v in coordinates.items())]
        return replace(self, cells=tuple(chosen))

    def axis(self, name: str) -> list[Any]:
        """Return the values of a coordinate, in the order of the grid."""
        return list(dict.fromkeys(r.coordinates[name] for r in self.cells))

    def values(self, name: str) -> np.ndarray:
        """Return a result of all cells that have it, stacked."""
        return np.array([r.values[name] for r in self.cells if name in r.values])

    def median(self, name: str) -> Any:
        """Return the median of a result over the cells, NaN where none has it; missing values are left out."""
        return self.quantile(name, 0.5)

    def mean(self, name: str) -> Any:
        """Return the mean of a result over the cells, as `median` does."""
        values = self.values(name)
        return np.nan if not len(values) or np.isnan(values).all() else np.nanmean(values, axis=0)

    def quantile(self, name: str, probability: float) -> Any:
        """Return a quantile of a result over the cells, point by point for arrays."""
        values = self.values(name)
        if not len(values) or np.isnan(values).all():
            return np.nan
        return np.nanquantile(values, probability, axis=0)

    def first(self, **coordinates: Any) -> Result | None:
        """Return the first cell that has these coordinates, or None."""
        chosen = self.select(**coordinates).cells
        return chosen[0] if chosen else None

    def describe(self) -> str:
        """Return how much of the study there is, in words; empty where it is complete."""
        return "" if self.finished == self.wanted else f"{self.finished} of {self.wanted} cells"

    def write_table(self, path: Path) -> None:
        """Write all single numbers of all cells as a CSV table, with six digits; the files of the cells have all."""
        rows = [{**r.coordinates, **{k: _short(v) for k, v in r.values.items() if v.ndim == 0}} for r in self.cells]
        header = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_whole(path, text.getvalue().encode())


def _short(value: np.ndarray) -> Any:
    return f"{value:.6g}" if value.dtype.kind == "f" else value.item()
