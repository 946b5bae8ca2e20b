"""What a study is: a configuration, a function of one cell and a function that draws the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.seeds import cell_name, derive_seed

if TYPE_CHECKING:
    from privmix.studies.runner.results import Results


@dataclass(frozen=True)
class Study:
    """A simulation study.

    Parameters
    ----------
    name
        Under which `privmix study` finds it, and from which the seeds follow.
    title
        What it shows, in a line.
    configuration
        Class of its sizes.
    cell
        ``cell(configuration, *, seed, **coordinates)`` returns numbers and arrays by name. A function of a module, so
        that other processes can import it; it reads nothing but its arguments.
    figures
        ``figures(results, folder)`` draws the figures from whatever results there are.
    version
        Raise it whenever a cell's result changes: old results are then refused.
    """

    name: str
    title: str
    configuration: type[Configuration]
    cell: Callable[..., dict[str, Any]]
    figures: Callable[[Results, Path], None]
    version: int = 1

    def seed(self, coordinates: Coordinates) -> np.random.SeedSequence:
        """Return the seed of a cell, which depends on its name alone."""
        return derive_seed(self.name, self.version, **coordinates)

    def run_cell(self, configuration: Configuration, coordinates: Coordinates) -> dict[str, np.ndarray]:
        """Return the results of one cell as arrays."""
        values = self.cell(configuration, seed=self.seed(coordinates), **coordinates)
        arrays = {name: np.asarray(value) for name, value in values.items()}
        odd = [name for name, array in arrays.items() if array.dtype.kind not in "biufU"]
        if odd or not arrays:
            raise TypeError(
                f"{self.name}: the cell {cell_name(coordinates)} must return numbers, text and arrays of them by "
                f"name; got {values[odd[0]]!r} for {odd[0]!r}."
                if odd
                else f"{self.name}: a cell returned nothing."
            )
        return arrays
