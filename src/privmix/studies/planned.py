"""What a plan predicts against what fits reach, for every mechanism that can be planned for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix import mechanisms
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import words
from privmix.studies.shared.fits import SHORT
from privmix.studies.shared.planning import TARGETS, PlannedChains, fit_planned, ranked
from privmix.studies.shared.tables import write_tables

FAMILIES = ("Laplace", "SquareWave", "Piecewise", "RandomizedResponse", "SubsetSelection", "NoisyHistogram")


@dataclass(frozen=True)
class Configuration(PlannedChains):
    """Four shapes, six mechanisms, two chains.

    Parameters
    ----------
    targets, families, records, epsilons
        The grid; families are classes of mechanisms, each in the setting that a plan chooses for it.
    """

    replicates: int = grid(1)
    targets: tuple[str, ...] = grid(tuple(TARGETS), "target")
    families: tuple[str, ...] = grid(FAMILIES, "family")
    epsilons: tuple[float, ...] = grid((0.5, 1.0, 2.0, 4.0), "epsilon")
    records: tuple[int, ...] = grid((1000, 10_000, 100_000), "records")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 200 records of one shape and short chains."""
        families = ("SquareWave", "RandomizedResponse")
        return cls(targets=("normals",), families=families, epsilons=(4.0,), records=(200,), **SHORT)


def cell(
    configuration: Configuration,
    *,
    target: str,
    family: str,
    epsilon: float,
    records: int,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the error of a fit beside the one predicted."""
    best = ranked((getattr(mechanisms, family),), target, epsilon, records)[0]
    return fit_planned(best, target, records, replicate, configuration, seed)


def figures(results: Results, folder: Path) -> None:
    """Draw realised against predicted errors, and write tables of both."""
    axes = pictures.panels(1, 1, width=5.0, height=4.2)
    panel = axes[0, 0]
    for index, family in enumerate(results.axis("family")):
        some, marker = results.select(family=family), pictures.MARKERS[index % len(pictures.MARKERS)]
        panel.plot(some.values("predicted"), some.values("l1"), marker, label=family, markersize=4)
    ends = [0.005, 2.0]
    panel.plot(ends, ends, color="0.5", linewidth=0.8)
    panel.set(xscale="log", yscale="log", xlabel="predicted L1 error", ylabel="L1 error of the fit")
    pictures.finish(axes, "A plan's predictions against fits", results, folder / "errors.png")
    rows = {"target": words(TARGETS), "family": {}, "records": {}}
    write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "predicted", "ratio", "covered", "r_hat"))


study = Study("planned", "What a plan predicts against what fits reach", Configuration, cell, figures)
