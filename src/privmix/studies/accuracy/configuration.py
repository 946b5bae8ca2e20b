"""Sizes of the comparison with the baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from privmix.studies.runner import grid, product
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared.fits import ChainConfiguration

# Method: mechanism and estimator, in words.
METHODS = {
    "ours-laplace": "Laplace + privmix.fit",
    "decon-bootstrap": "Laplace + deconvolution, bootstrap",
    "decon-plugin": "Laplace + deconvolution, plug-in",
    "em64": "Laplace + EM, 64 cells",
    "ems64": "Laplace + EM with smoothing, 64",
    "ems256": "Laplace + EM with smoothing, 256",
    "naive": "Laplace + kernel estimate of Z",
    "naive-mixture": "Laplace + mixture of Z",
    "numpyro": "Laplace + NumPyro, truncated DP",
    "ours-square": "square wave + privmix.fit",
    "square-ems64": "square wave + EM with smoothing, 64",
    "square-ems256": "square wave + EM with smoothing, 256",
    "ours-response": "randomised response (16) + privmix.fit",
    "wavelet": "Haar (J = 4) + wavelet estimator",
}
# Needs an optional extra, and minutes for a fit: it is run where it is asked for.
EXTRA = ("numpyro",)
TARGETS = {"normals": "three normals", "skewed": "a skewed density", "uniform": "half uniform, half normal"}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """Section 4.1's target and two that nobody tuned to; chains as `privmix.fit` has them by default.

    Parameters
    ----------
    records, epsilons, methods, targets
        The grid. Targets other than the first are run at `others` records.
    others
        Records of the other targets.
    """

    replicates: int = grid(10)
    draws: int = 2000
    thin: int = 5
    chains: int = 4
    warmup: int | None = 2000
    records: tuple[int, ...] = grid((200, 1000, 10_000))
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0, 50.0))
    methods: tuple[str, ...] = grid(tuple(name for name in METHODS if name not in EXTRA))
    targets: tuple[str, ...] = grid(tuple(TARGETS))
    others: tuple[int, ...] = grid((1000,))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each target, number of records, ε, method and data set."""
        every = product(
            target=self.targets,
            records=self.records,
            epsilon=self.epsilons,
            method=self.methods,
            replicate=range(self.replicates),
        )
        return [one for one in every if one["target"] == "normals" or one["records"] in self.others]

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 100 records and short chains."""
        return cls(
            replicates=1,
            draws=200,
            thin=1,
            chains=2,
            warmup=200,
            records=(100,),
            epsilons=(10.0,),
            targets=("normals",),
        )
