"""Sizes of the study of Appendix C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

FITS = {"neal5": "marginal (Neal 5)", "slice": "conditional (slice)", "binned": "on counts (Binned)"}
# Shape and rate of the gamma priors of both shapes of a beta component.
BASES = {"gamma2": (2.0, 2.0), "gamma90": (90.0, 2.0)}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid: five ε, three numbers of bins, two base measures.

    Parameters
    ----------
    records
        Of each data set.
    epsilons, factors, bases, fits
        The grid. The histogram has L⌊n^{1/5} + 1⌋ bins for each factor L, and ⌊n^{3/5} + 1⌋ draws are released. A base
        `gamma2` has Gamma(2, 2) priors of both shapes of a beta component, `gamma90` has Gamma(90, 2).
    """

    replicates: int = grid(10)
    draws: int = 20_000
    chains: int = 2
    records: int = 250
    epsilons: tuple[float, ...] = grid((2.0, 10.0, 50.0, 100.0, 250.0))
    factors: tuple[int, ...] = grid((2, 4, 6))
    bases: tuple[str, ...] = grid(tuple(BASES))
    fits: tuple[str, ...] = grid(tuple(FITS))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each base measure, number of bins, ε, sampler and data set."""
        return product(
            base=self.bases,
            factor=self.factors,
            epsilon=self.epsilons,
            fit=self.fits,
            replicate=range(self.replicates),
        )

    @classmethod
    def small(cls) -> Self:
        """Return one data set and short chains."""
        return cls(replicates=1, draws=300, epsilons=(10.0, 250.0), factors=(4,))
