"""How many people a wanted accuracy needs, by mechanism: what a plan says, and what fits reach with as many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix import mechanisms
from privmix.model import default_model
from privmix.planning import plan
from privmix.samplers.auto import binned_serves
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import words
from privmix.studies.shared.fits import SHORT
from privmix.studies.shared.planning import TARGETS, PlannedChains, fit_planned, ranked
from privmix.studies.shared.tables import write_tables

FAMILIES = ("SubsetSelection", "RandomizedResponse", "UnaryEncoding", "Piecewise", "SquareWave", "Staircase", "Laplace")
# More people than these are planned for, but no release of them is fitted: where counts can stand for it, and else.
MOST_FITTED, MOST_RECORDS_FITTED = 1_000_000, 300_000
# Where a plan begins to look.
START = 100_000


@dataclass(frozen=True)
class Configuration(PlannedChains):
    """Section 4.1's shape, three accuracies, four ε.

    Parameters
    ----------
    targets, families, wanted, epsilons
        The grid; `wanted` are L1 errors.
    fitted
        Most people of a release that is fitted.
    """

    replicates: int = grid(3)
    fitted: int = MOST_FITTED
    targets: tuple[str, ...] = grid(("normals",), "target")
    families: tuple[str, ...] = grid(FAMILIES, "family")
    epsilons: tuple[float, ...] = grid((0.5, 1.0, 2.0, 4.0), "epsilon")
    wanted: tuple[float, ...] = grid((0.2, 0.1, 0.05), "wanted")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of one mechanism, and one that would need too many."""
        families = ("SquareWave", "Laplace")
        return cls(replicates=1, families=families, epsilons=(4.0,), wanted=(0.2,), fitted=3000, **SHORT)


@lru_cache(maxsize=256)
def people_needed(family: str, target: str, epsilon: float, wanted: float) -> float:
    """Return how many people a mechanism needs for an accuracy, by a plan that knows the shape."""
    truth, kind = TARGETS[target].use, getattr(mechanisms, family)
    made = plan(truth.bounds, epsilon=epsilon, n=START, shape=truth.density, only=[kind])
    return float(made.for_accuracy(wanted)["needed"].iloc[0])


def cell(
    configuration: Configuration,
    *,
    target: str,
    family: str,
    epsilon: float,
    wanted: float,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the number of people, and the error of a fit with as many where they are not too many."""
    needed = people_needed(family, target, epsilon, wanted)
    if needed <= configuration.fitted:
        records = math.ceil(needed)
        best = ranked((getattr(mechanisms, family),), target, epsilon, records)[0]
        if records <= MOST_RECORDS_FITTED or binned_serves(default_model(best)):
            return {"needed": needed, **fit_planned(best, target, records, replicate, configuration, seed)}
    return {"needed": needed, "l1": float("nan")}


def figures(results: Results, folder: Path) -> None:
    """Draw the number of people against ε, and write tables of it and of what fits reached."""
    axes = pictures.wrapped_panels(len(results.axis("wanted")), 3, height=3.0, sharey=True)
    names = {family: family for family in results.axis("family")}
    for panel, wanted in zip(axes.flat, results.axis("wanted"), strict=False):
        some, ticks = results.select(wanted=wanted), results.axis("epsilon")
        pictures.draw_medians(panel, some, "epsilon", "needed", "family", names, ticks=ticks, spread=False)
        panel.set_title(f"L1 = {wanted:g}", fontsize="medium")
        panel.set_yscale("log")
    axes[0, 0].set_ylabel("people")
    pictures.finish(axes, "How many people an accuracy needs", results, folder / "people.png")
    rows = {"target": words(TARGETS), "wanted": {}, "family": {}}
    write_tables(results, folder / "tables.md", rows, "epsilon", ("needed", "l1", "r_hat"))


study = Study(
    "people", "How many people an accuracy needs, and what fits of as many reach", Configuration, cell, figures
)
