"""What a plan predicts against what fits reach, for every mechanism that can be planned for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix import mechanisms
from privmix.mechanisms import Mechanism
from privmix.planning.experiment import experiment_of
from privmix.planning.plan import setting_of
from privmix.planning.predict import Prediction, predict
from privmix.planning.shapes import read_shapes
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures, targets
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import SHORT, DefaultChains, fit_default, measures_of
from privmix.studies.shared.tables import write_tables

# The first two are those that the predictor was looked at with; nobody looked at the others.
TARGETS = {
    "normals": Choice("three normals", targets.THREE_NORMALS),
    "skewed": Choice("skewed", targets.SKEWED),
    "ripple": Choice("ripple", targets.RIPPLE),
    "bimodal": Choice("two unequal modes", targets.UNEQUAL_MODES),
}
FAMILIES = ("Laplace", "SquareWave", "Piecewise", "RandomizedResponse", "SubsetSelection", "NoisyHistogram")


@dataclass(frozen=True)
class Configuration(DefaultChains):
    """Four shapes, three of them with chains a quarter as long as those of `privmix.fit`.

    Parameters
    ----------
    targets, families, records, epsilons
        The grid; families are classes of mechanisms, each in the setting that a plan chooses for it.
    """

    replicates: int = grid(1)
    draws: int = 500
    thin: int = 4
    warmup: int | None = 1000
    points: int = 192
    targets: tuple[str, ...] = grid(tuple(TARGETS), "target")
    families: tuple[str, ...] = grid(FAMILIES, "family")
    epsilons: tuple[float, ...] = grid((0.5, 1.0, 2.0, 4.0), "epsilon")
    records: tuple[int, ...] = grid((1000, 10_000, 100_000), "records")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 200 records of one shape and short chains."""
        families = ("SquareWave", "RandomizedResponse")
        return cls(targets=("normals",), families=families, epsilons=(4.0,), records=(200,), **SHORT)


def best_setting(family: str, target: targets.Target, epsilon: float, records: int) -> tuple[Mechanism, Prediction]:
    """Return the setting of a mechanism that a plan would choose for a shape, and what it predicts.

    Parameters
    ----------
    family
        Class of the mechanism.
    target
        The shape.
    epsilon, records
        Budget and number of people.
    """
    (shape,) = read_shapes(target.density, target.bounds)
    candidates = getattr(mechanisms, family).candidates(records, target.bounds, epsilon=epsilon)
    made = [(one, predict(experiment_of(one), shape.probability, records)) for one in candidates]
    return min(made, key=lambda pair: pair[1].l1)


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
    truth = TARGETS[target].use
    mechanism, predicted = best_setting(family, truth, epsilon, records)
    y, _, z = truth.release(f"planned, {target}", mechanism, records=records, replicate=replicate)
    posterior = fit_default(z, mechanism, configuration, seed)
    found = measures_of(posterior, truth, configuration.points, np.quantile(y, [0.1, 0.25, 0.5, 0.75, 0.9]))
    return {
        **found,
        "predicted": predicted.l1,
        "ratio": found["l1"] / predicted.l1,
        "setting": setting_of(mechanism),
        "sampler": type(posterior.sampler).__name__,
    }


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
