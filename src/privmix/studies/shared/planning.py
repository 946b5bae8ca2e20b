"""What plans are tried on: four shapes, the settings that a plan compares, and a fit beside its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privmix.mechanisms import Mechanism
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import predict
from privmix.planning.shapes import read_shapes
from privmix.planning.words import named
from privmix.studies.shared import targets
from privmix.studies.shared.choices import Choice
from privmix.studies.shared.fits import ChainConfiguration, DefaultChains, fit_default, measures_of
from privmix.studies.shared.measures import l1_error, spread_draws

# The first two are those that the predictor was looked at with; nobody looked at the others.
TARGETS = {
    "normals": Choice("three normals", targets.THREE_NORMALS),
    "skewed": Choice("skewed", targets.SKEWED),
    "ripple": Choice("ripple", targets.RIPPLE),
    "bimodal": Choice("two unequal modes", targets.UNEQUAL_MODES),
}


@dataclass(frozen=True)
class PlannedChains(DefaultChains):
    """Two chains of 3,000 sweeps: enough for an error, and short enough for hundreds of fits."""

    draws: int = 500
    thin: int = 4
    chains: int = 2
    warmup: int | None = 1000
    points: int = 192


# Where mixing is watched: quantiles of the records.
WATCHED = (0.1, 0.25, 0.5, 0.75, 0.9)


@lru_cache(maxsize=1024)
def predicted_l1(mechanism: Mechanism, target: str, records: int) -> float:
    """Return the L1 error that a plan predicts for a shape that it knows."""
    truth = TARGETS[target].use
    (shape,) = read_shapes(truth.density, truth.bounds)
    return predict(experiment_of(mechanism), shape.probability, records).l1


@lru_cache(maxsize=256)
def ranked(kinds: tuple[type[Mechanism], ...], target: str, epsilon: float, records: int) -> list[Mechanism]:
    """Return every setting that a plan compares for a shape, the best predicted first.

    Parameters
    ----------
    kinds
        Classes of mechanisms.
    target
        Name of the shape, which the predictions know.
    epsilon, records
        Budget and number of people.
    """
    bounds = TARGETS[target].use.bounds
    settings = [one for kind in kinds for one in kind.candidates(records, bounds, epsilon=epsilon)]
    return sorted(settings, key=lambda one: predicted_l1(one, target, records))


def release_planned(target: str, mechanism: Mechanism, records: int, replicate: int) -> tuple[np.ndarray, np.ndarray]:
    """Return records and release of a data set: the same records in all studies of plans."""
    y, _, z = TARGETS[target].use.release(f"planned, {target}", mechanism, records=records, replicate=replicate)
    return y, z


def fit_planned(
    mechanism: Mechanism,
    target: str,
    records: int,
    replicate: int,
    configuration: ChainConfiguration,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the error of a fit beside the one predicted, and how far its first and last chain are apart.

    Parameters
    ----------
    mechanism
        In some setting.
    target, records, replicate
        Shape, number of records and which data set of them.
    configuration, seed
        Settings and seed of the chains.
    """
    truth, predicted = TARGETS[target].use, predicted_l1(mechanism, target, records)
    y, z = release_planned(target, mechanism, records, replicate)
    posterior = fit_default(z, mechanism, configuration, seed)
    found, points = measures_of(posterior, truth, configuration.points, np.quantile(y, WATCHED)), configuration.points
    means = spread_draws(posterior).density_draws(truth.grid(points)).values.mean(axis=1)
    return {
        **found,
        "apart": l1_error(means[0], means[-1], truth.grid(points)),
        "predicted": predicted,
        "ratio": found["l1"] / predicted,
        "setting": named(mechanism),
        "sampler": type(posterior.sampler).__name__,
    }
