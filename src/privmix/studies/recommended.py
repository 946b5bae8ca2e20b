"""The recommended mechanism against the next in a plan's order, and against what people would use instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from privmix.baselines import EMS, Baseline, Inversion
from privmix.mechanisms import Mechanism, RandomizedResponse, SquareWave, UnaryEncoding
from privmix.planning import plan
from privmix.planning.plan import classes_to_plan
from privmix.planning.words import named
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import words
from privmix.studies.shared.fits import SHORT
from privmix.studies.shared.measures import l1_error
from privmix.studies.shared.planning import TARGETS, PlannedChains, fit_planned, predicted_l1, ranked, release_planned
from privmix.studies.shared.tables import write_tables

# Settings that are predicted to have this many times the least error are not fitted: none was ever off by as much.
LARGEST_RATIO = 1.5


class Way(NamedTuple):
    """A mechanism and an estimator of the density.

    Parameters
    ----------
    words
        What figures call it.
    mechanism
        Finds the mechanism, from the name of the shape, ε and the number of records.
    baseline
        The estimator; `privmix.fit` where it is None.
    """

    words: str
    mechanism: Callable[[str, float, int], Any]
    baseline: Baseline | None = None


def in_place(place: int, target: str, epsilon: float, records: int) -> Mechanism | None:
    """Return the setting in a place of a plan that knows the shape, or None where it is far from the first."""
    found = ranked(classes_to_plan(), target, epsilon, records)
    if place >= len(found):
        return None
    errors = [predicted_l1(one, target, records) for one in (found[0], found[place])]
    return found[place] if errors[1] <= LARGEST_RATIO * errors[0] else None


@lru_cache(maxsize=256)
def without_shape(target: str, epsilon: float, records: int) -> Mechanism:
    """Return what a plan recommends that knows nothing of the shape."""
    return plan(TARGETS[target].use.bounds, epsilon=epsilon, n=records).recommended


def fixed(make: Callable[..., Mechanism], target: str, epsilon: float, records: int) -> Mechanism:
    """Return a mechanism that depends on nothing but ε."""
    return make(epsilon=epsilon, bounds=TARGETS[target].use.bounds)


# Of steps and lines, lines are closer to smooth shapes.
LINES = Inversion(joined=True)
WAYS = {
    "plan": Way("recommended without a shape, privmix.fit", without_shape),
    "first": Way("recommended, privmix.fit", partial(in_place, 0)),
    **{f"place-{k + 1}": Way(f"place {k + 1}, privmix.fit", partial(in_place, k)) for k in range(1, 6)},
    "ems64": Way("square wave, EMS, 64 cells", partial(fixed, SquareWave), EMS(cells=64, joined=True, groups=1024)),
    "ems256": Way("square wave, EMS, 256 cells", partial(fixed, SquareWave), EMS(cells=256, joined=True, groups=1024)),
    "oue16": Way("unary encoding, 16 cells, inversion", partial(fixed, partial(UnaryEncoding, 16)), LINES),
    "oue32": Way("unary encoding, 32 cells, inversion", partial(fixed, partial(UnaryEncoding, 32)), LINES),
    "response16": Way("16-ary response, inversion", partial(fixed, partial(RandomizedResponse, 16)), LINES),
}


@dataclass(frozen=True)
class Configuration(PlannedChains):
    """Four shapes, four ε, three numbers of records, two chains.

    Parameters
    ----------
    targets, ways, records, epsilons
        The grid.
    """

    replicates: int = grid(3)
    targets: tuple[str, ...] = grid(tuple(TARGETS), "target")
    ways: tuple[str, ...] = grid(tuple(WAYS), "way")
    epsilons: tuple[float, ...] = grid((0.5, 1.0, 2.0, 4.0), "epsilon")
    records: tuple[int, ...] = grid((1000, 10_000, 100_000), "records")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 500 records of one shape and short chains."""
        return cls(replicates=1, targets=("normals",), epsilons=(4.0,), records=(500,), **SHORT)


def cell(
    configuration: Configuration,
    *,
    target: str,
    way: str,
    epsilon: float,
    records: int,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the error of one way to learn the density, beside the predicted one of fits."""
    used, truth = WAYS[way], TARGETS[target].use
    mechanism = used.mechanism(target, epsilon, records)
    if mechanism is None:
        return {"l1": float("nan")}
    if used.baseline is None:
        return fit_planned(mechanism, target, records, replicate, configuration, seed)
    _, z = release_planned(target, mechanism, records, replicate)
    points = truth.grid(configuration.points)
    values = used.baseline.fit(z, mechanism).density(points)
    return {"l1": l1_error(values, truth.density(points), points), "mean": values, "setting": named(mechanism)}


def figures(results: Results, folder: Path) -> None:
    """Draw the error at the largest number of records against ε for each shape, and write tables."""
    names = {name: way.words for name, way in WAYS.items() if not name.startswith("place")}
    axes = pictures.wrapped_panels(len(results.axis("target")), 2, height=3.0, sharey=True)
    for panel, target in zip(axes.flat, results.axis("target"), strict=False):
        some, ticks = results.select(target=target), results.axis("epsilon")
        last = some.select(records=results.axis("records")[-1])
        pictures.draw_medians(panel, last, "epsilon", "l1", "way", names, ticks=ticks, spread=False)
        panel.set_title(f"{TARGETS[target].words}, n = {results.axis('records')[-1]:,}", fontsize="medium")
        panel.set_yscale("log")
    for row in axes:
        row[0].set_ylabel("L1 error")
    pictures.finish(axes, "The recommended mechanism and others: medians", results, folder / "errors.png")
    rows = {"target": words(TARGETS), "records": {}, "way": {name: way.words for name, way in WAYS.items()}}
    write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "predicted", "r_hat"))


study = Study(
    "recommended", "The recommended mechanism against others, and against what is usual", Configuration, cell, figures
)
