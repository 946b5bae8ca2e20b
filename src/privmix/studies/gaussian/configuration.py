"""Sizes of the study of Section 4.3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

SAMPLERS = {"neal2": "Neal 2", "neal3": "Neal 3", "neal5": "private Neal 5"}
CALIBRATIONS = {"classical": "classical noise, the paper's", "analytic": "analytic noise, the least with (ε, δ)"}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid at δ = .1, with two calibrations of the noise.

    Parameters
    ----------
    draws
        Fewer than the paper's 50,000: a sweep of Neal 2 or Neal 3 costs thirty of private Neal 5.
    records, concentration
        Of each data set; of the Dirichlet process.
    epsilons, deltas, calibrations, samplers
        The grid. The classical noise does not have the (ε, δ) that it is made for: its formula is proven below ε = 1.
    """

    draws: int = 10_000
    records: int = 250
    concentration: float = 1.0
    epsilons: tuple[float, ...] = grid((5.0, 10.0, 25.0, 50.0))
    deltas: tuple[float, ...] = grid((0.1,))
    calibrations: tuple[str, ...] = grid(tuple(CALIBRATIONS))
    samplers: tuple[str, ...] = grid(tuple(SAMPLERS))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each calibration, δ, ε, sampler and data set."""
        return product(
            calibration=self.calibrations,
            delta=self.deltas,
            epsilon=self.epsilons,
            sampler=self.samplers,
            replicate=range(self.replicates),
        )

    @classmethod
    def small(cls) -> Self:
        """Return two data sets of 60 records and short chains."""
        return cls(replicates=2, draws=400, records=60, epsilons=(5.0, 50.0))
