"""Sizes of the study of Section 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

MECHANISMS = {"gaussian": "Gaussian noise", "laplace": "Laplace noise", "none": "without privacy"}
FITS = {
    "neal5": "private Neal 5",
    "slice": "slice",
    "neal2": "Neal 2",
    "neal3": "Neal 3",
    "default": "privmix.fit",
    "deconvolution": "deconvolution kernel",
}
# Neal 2 and Neal 3 need the conjugate pair; records that are known need no private sampler.
SERVED = {
    "gaussian": tuple(FITS),
    "laplace": ("neal5", "slice", "default", "deconvolution"),
    "none": ("slice",),
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's budget, on synthetic data.

    Parameters
    ----------
    rho
        Budget of zero-concentrated differential privacy of each record.
    mechanisms
        The grid, with the fits that serve each.
    """

    replicates: int = grid(20)
    draws: int = 10_000
    rho: float = 17.8
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each mechanism, fit that serves it and data set."""
        return [
            {"mechanism": mechanism, "fit": fit, "replicate": replicate}
            for mechanism in self.mechanisms
            for fit in SERVED[mechanism]
            for replicate in range(self.replicates)
        ]

    @classmethod
    def small(cls) -> Self:
        """Return two data sets and short chains."""
        return cls(replicates=2, draws=400)
