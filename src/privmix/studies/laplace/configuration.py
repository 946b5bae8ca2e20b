"""Sizes of the study of Section 4.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

SAMPLERS = {
    "neal5-m1": "Neal 5, m = 1",
    "neal5-m5": "Neal 5, m = 5",
    "slice": "slice",
    "slice-exchange": "slice with exchanges",
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's sizes: 100,000 sweeps, the first half dropped, medians over 50 data sets.

    Parameters
    ----------
    records, epsilons, samplers
        The grid. The first three samplers are the paper's; the last exchanges neighbouring sticks too, as `Slice` does
        by default.
    concentration
        Of the Dirichlet process; 1, with which the paper's figures were made.
    """

    records: tuple[int, ...] = grid((50, 200, 500, 1000))
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0, 50.0))
    samplers: tuple[str, ...] = grid(tuple(SAMPLERS))
    concentration: float = 1.0

    def cells(self) -> list[Coordinates]:
        """Return a cell for each number of records, ε, sampler and data set."""
        return product(
            records=self.records, epsilon=self.epsilons, sampler=self.samplers, replicate=range(self.replicates)
        )

    @classmethod
    def small(cls) -> Self:
        """Return two data sets of 50 and 200 records and short chains."""
        return cls(replicates=2, draws=1000, records=(50, 200), epsilons=(1.0, 10.0, 50.0))
