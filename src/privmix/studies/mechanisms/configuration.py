"""Sizes of the comparison of mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

MECHANISMS = {
    "laplace": "Laplace",
    "haar4": "Haar J = 4, tight scale",
    "square-wave": "square wave",
    "response16": "randomised response, 16 cells",
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """Section 4.1's target through four mechanisms; chains as `privmix.fit` has them by default.

    Parameters
    ----------
    records, epsilons, mechanisms
        The grid.
    """

    replicates: int = grid(20)
    draws: int = 2000
    thin: int = 5
    chains: int = 4
    warmup: int | None = 2000
    records: tuple[int, ...] = grid((200, 1000, 10_000))
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0))
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each mechanism, number of records, ε and data set."""
        return product(
            mechanism=self.mechanisms, records=self.records, epsilon=self.epsilons, replicate=range(self.replicates)
        )

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 100 and of 400 records and short chains."""
        return cls(replicates=1, draws=200, thin=1, chains=2, warmup=200, records=(100, 400), epsilons=(1.0, 10.0))
