"""What a plan would have predicted for fits that were made: the stored cells of several studies.

Run with `python -m benchmarks.predictions`: half a minute. `planned` was made for this. `defaults` and `accuracy` were
made for other purposes: each of their cells is the mean L1 error of three or ten fits; of `accuracy` the fits are those
of the former default, with components that leave the bounds. Predictions know the shape, and are made by the present
code, whatever chose the settings of the mechanisms.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from privmix import mechanisms
from privmix.mechanisms import Laplace, Mechanism, RandomizedResponse, SquareWave
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import predict
from privmix.planning.shapes import read_shapes
from privmix.planning.words import named
from privmix.studies.defaults import RELEASES
from privmix.studies.defaults import TARGETS as SHAPES
from privmix.studies.shared.planning import TARGETS, predicted_l1

RESULTS = Path(__file__).parents[1] / "docs" / "results"
MADE = {"ours-laplace": Laplace, "ours-square": SquareWave}
# Targets of `accuracy` by their names in `defaults`.
NAMES = {"uniform": "half-uniform"}
# Draws of errors that scatter around the predicted ones.
REPETITIONS = 100
# Of a trusted holder: no rival of local mechanisms.
TRUSTED = "NoisyHistogram"


class Cell(NamedTuple):
    """Fits of one shape, number of records and mechanism; `mechanism` names it in words."""

    shape: str
    records: int
    mechanism: str
    epsilon: float


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def older() -> tuple[dict[Cell, list[float]], dict[Cell, float]]:
    """Return errors of fits and predictions of the studies that were made for other purposes."""
    found, made = defaultdict(list), {}
    for row in rows("defaults.csv"):
        if row["variant"] == "new":
            mechanism = RELEASES[row["release"]].use(bounds=(0.0, 1.0))
            cell = Cell(
                row["target"], int(row["records"]), type(mechanism).__name__, float(mechanism.guarantee.epsilon)
            )
            found[cell].append(float(row["l1"]))
            made[cell] = mechanism
    for row in rows("accuracy.csv"):
        if row["method"].startswith("ours-"):
            kind, epsilon = MADE.get(row["method"], RandomizedResponse), float(row["epsilon"])
            cell = Cell(NAMES.get(row["target"], row["target"]), int(row["records"]), f"{kind.__name__}, cut", epsilon)
            found[cell].append(float(row["l1"]))
            cells = {"cells": 16} if kind is RandomizedResponse else {}
            made[cell] = kind(epsilon=epsilon, bounds=(0.0, 1.0), **cells)
    shapes = {name: read_shapes(one.use.density, one.use.bounds)[0].probability for name, one in SHAPES.items()}
    return found, {cell: predict(experiment_of(made[cell]), shapes[cell.shape], cell.records).l1 for cell in found}


def planned() -> tuple[dict[Cell, list[float]], dict[Cell, float]]:
    """Return errors of fits and predictions of `planned`."""
    found, predictions = defaultdict(list), {}
    for row in rows("planned.csv"):
        cell = Cell(row["target"], int(row["records"]), row["family"], float(row["epsilon"]))
        found[cell].append(float(row["l1"]))
        predictions[cell] = predicted_l1(setting(cell, row["setting"]), cell.shape, cell.records)
    return found, predictions


def setting(cell: Cell, words: str) -> Mechanism:
    """Return the setting of a mechanism that was fitted, by its name in words."""
    kind, bounds = getattr(mechanisms, cell.mechanism), TARGETS[cell.shape].use.bounds
    (found,) = (one for one in kind.candidates(cell.records, bounds, epsilon=cell.epsilon) if named(one) == words)
    return found


def main() -> None:
    for name, (found, predictions) in {"planned": planned(), "defaults and accuracy": older()}.items():
        realised = {cell: float(np.mean(values)) for cell, values in found.items()}
        ratios = {cell: realised[cell] / predictions[cell] for cell in realised}
        print(f"{name}: {sum(map(len, found.values()))} fits in {len(found)} cells; L1 error over the one predicted")
        show("all", list(ratios.values()))
        for field in ("mechanism", "records", "epsilon", "shape"):
            for value in sorted({getattr(cell, field) for cell in ratios}):
                show(f"{field} {value}", [ratio for cell, ratio in ratios.items() if getattr(cell, field) == value])
        compare(found, predictions)


def show(name: str, ratios: list[float]) -> None:
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    inside = np.mean([0.5 <= ratio <= 1.6 for ratio in ratios])
    spread = f"median {median:.2f}   5–95% {low:.2f}–{high:.2f}"
    print(f"  {name:34} {spread}   within .5–1.6 {inside:.0%}   {len(ratios)} cells")


def compare(found: dict[Cell, list[float]], predicted: dict[Cell, float]) -> None:
    """Print how often the order of two mechanisms is right, and what choosing by prediction costs.

    Beside each figure stands the one to be expected of predictions without any fault, from the scatter of fits alone.
    """
    scatter, rng = scatter_of(found), np.random.default_rng(1)
    drawn = [
        {
            cell: list(predicted[cell] * np.exp(scatter * rng.standard_normal(len(values))))
            for cell, values in found.items()
        }
        for _ in range(REPETITIONS)
    ]
    print(f"  standard deviation of the log error over the data sets of a cell: {scatter:.2f}")
    for which in ("errors", "predictions"):
        right, pairs = order(found, predicted, which)
        perfect = np.mean([np.divide(*order(one, predicted, which)) for one in drawn])
        share = f"{right} of {pairs} ({right / pairs:.0%}; {perfect:.0%} if predictions had no fault)"
        print(f"  order of two mechanisms whose {which} differ by over 25%: right in {share}")
    costs = [regrets(one, predicted) for one in (found, *drawn)]
    for words, k in (("least mean", 0), ("best by other data sets", 1)):
        if costs[0][k]:
            figures = np.array([[np.exp(np.mean(np.log(one[k]))), max(one[k])] for one in costs])
            perfect = "; without fault {:.3f} and {:.2f}".format(*figures[1:].mean(axis=0))
            seen = "geometric mean {:.3f}, worst {:.2f}".format(*figures[0]) + f" of {len(costs[0][k])}"
            print(f"  error of the best predicted over the {words}: {seen}{perfect}")


def scatter_of(found: dict[Cell, list[float]]) -> float:
    """Return the standard deviation of the log error of a fit, over the data sets of a cell."""
    several = [np.log(values) for values in found.values() if len(values) > 1]
    return float(np.sqrt(np.mean([np.var(values, ddof=1) for values in several])))


def grouped(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the cells that differ in the mechanism alone."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.shape, cell.records, cell.epsilon, cell.mechanism.endswith("cut")].append(cell)
    return list(groups.values())


def order(found: dict[Cell, list[float]], predicted: dict[Cell, float], which: str) -> tuple[int, int]:
    """Return how often the order is right, and of how many pairs: those whose `which` differ by over a quarter."""
    realised = {cell: float(np.mean(values)) for cell, values in found.items()}
    errors = realised if which == "errors" else predicted
    pairs = [pair for cells in grouped(found) for pair in combinations(cells, 2)]
    apart = [(a, b) for a, b in pairs if max(errors[a], errors[b]) > 1.25 * min(errors[a], errors[b])]
    return sum((realised[a] > realised[b]) == (predicted[a] > predicted[b]) for a, b in apart), len(apart)


def regrets(found: dict[Cell, list[float]], predicted: dict[Cell, float]) -> tuple[list[float], list[float]]:
    """Return errors of the best predicted of the local mechanisms over those of the best, which is found in two ways.

    The least mean error over the data sets is too good, because the least of several noisy means is. With several data
    sets the best is also chosen by all but one and looked at in that one, each in its turn: no mechanism is helped by
    the noise that chose it. Those with fewer data sets than the chosen one are left out there.
    """
    seen, others = [], []
    for cells in grouped(cell for cell in found if cell.mechanism != TRUSTED):
        chosen = min(cells, key=predicted.__getitem__)
        seen.append(float(np.mean(found[chosen]) / min(np.mean(found[cell]) for cell in cells)))
        sets = range(len(found[chosen]))
        errors = {cell: np.array(found[cell][: len(sets)]) for cell in cells if len(found[cell]) >= len(sets)}
        if len(sets) > 1 and len(errors) > 1:
            best = [min(errors.values(), key=lambda v: np.delete(v, k).mean())[k] for k in sets]
            others.append(float(errors[chosen].mean() / np.mean(best)))
    return seen, others


if __name__ == "__main__":
    main()
