"""Sizes of the study of Section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

MECHANISMS = {
    "laplace": "Laplace",
    **{f"haar{levels}-paper": f"Haar J = {levels}, the paper's scale" for levels in (2, 4, 6)},
    **{f"haar{levels}-tight": f"Haar J = {levels}, tight scale" for levels in (2, 4, 6)},
}
FITS = {
    "neal5": "betas, private Neal 5",
    "slice": "betas, slice",
    "auto": "betas, Auto",
    "default": "privmix.fit",
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's grid, with two scales of the wavelet noise.

    Parameters
    ----------
    records
        Of each data set.
    shape, rate
        Of the gamma priors of both shapes of a beta component; the paper's text has 2 and 2.
    epsilons, mechanisms, fits
        The grid. Of the fits, `neal5` and `slice` are the paper's samplers on the paper's model, `auto` is the same
        posterior by a sampler that integrates the records out, and `default` is `privmix.fit`, another model: where
        the first three differ the chains are at fault, where they agree and `default` does better it is the prior,
        and where all are poor it is the release.
    """

    replicates: int = grid(20)
    records: int = 250
    shape: float = 2.0
    rate: float = 2.0
    epsilons: tuple[float, ...] = grid((2.0, 10.0, 50.0, 100.0, 250.0))
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS))
    fits: tuple[str, ...] = grid(tuple(FITS))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each mechanism, ε, fit and data set."""
        return product(
            mechanism=self.mechanisms, epsilon=self.epsilons, fit=self.fits, replicate=range(self.replicates)
        )

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 80 records and short chains."""
        return cls(replicates=1, draws=400, records=80, epsilons=(10.0, 250.0))
