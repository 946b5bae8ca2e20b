"""What was predicted against what fits really reach: releases are simulated, fitted and compared with the shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from privmix.mechanisms import Mechanism
from privmix.planning.experiment import CELLS, edges_of, experiment_of
from privmix.planning.predict import predict
from privmix.planning.shapes import Shape
from privmix.sampling import fit

if TYPE_CHECKING:
    from privmix.planning.plan import Plan, Row


class Task(NamedTuple):
    """One release to simulate and fit."""

    mechanism: Mechanism
    shape: Shape
    n: int
    replicate: int
    seed: int
    chains: dict[str, Any]


def check_rows(
    plan: Plan, rows: Sequence[Row], replicates: int, executor: Any, seed: int, chains: dict[str, Any]
) -> pd.DataFrame:
    """Return predicted and realised errors, a row for each fit.

    Parameters
    ----------
    plan
        What was planned.
    rows
        Mechanisms to try.
    replicates
        Data sets for each shape and mechanism.
    executor
        Anything with `map`, or None.
    seed
        Of data, noise and chains.
    chains
        Settings of the fits.
    """
    tasks = [
        Task(row.mechanism, shape, plan.n, replicate, seed, chains)
        for row in rows
        for shape in plan.shapes
        for replicate in range(replicates)
    ]
    return pd.DataFrame(list((map if executor is None else executor.map)(realised, tasks)))


def realised(task: Task) -> dict[str, Any]:
    """Return the error of one simulated release, beside the one predicted."""
    mechanism, shape, n, replicate, seed, chains = task
    entropy = np.random.SeedSequence([seed, replicate])
    y = draw_records(shape.probability, mechanism.bounds, n, np.random.default_rng(entropy.spawn(1)[0]))
    z = mechanism.privatize(y, seed=np.random.default_rng(entropy.spawn(1)[0]))
    posterior = fit(z, mechanism, seed=seed + replicate, **chains)
    edges = edges_of(mechanism.bounds)
    middle = 0.5 * (edges[:-1] + edges[1:])
    density = posterior.density(middle)["mean"].values * (edges[1] - edges[0])
    error = float(np.abs(density / density.sum() - shape.probability).sum())
    expected = predict(experiment_of(mechanism), shape.probability, n, shape.is_given).l1
    return {
        "mechanism": type(mechanism).__name__,
        "shape": shape.words,
        "replicate": replicate,
        "l1": error,
        "predicted": expected,
        "ratio": error / expected,
    }


def draw_records(probability: np.ndarray, bounds: tuple[float, float], n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n records of a shape, uniform inside each cell.

    Parameters
    ----------
    probability
        Of each cell.
    bounds
        Range of a record.
    n
        How many.
    rng
        Source of randomness.
    """
    counts = rng.multinomial(n, probability)
    place = (np.repeat(np.arange(CELLS), counts) + rng.random(n)) / CELLS
    return bounds[0] + (bounds[1] - bounds[0]) * rng.permutation(place)
