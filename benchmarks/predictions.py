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
# Ways of `recommended` whose settings a plan chose that knows the shape.
PLACES = ("first", "place-")


class Cell(NamedTuple):
    """Fits of one shape, number of records and mechanism; `mechanism` names it, with its setting, in words."""

    shape: str
    records: int
    mechanism: str
    epsilon: float


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


# Errors of fits by data set, for each cell.
Found = dict[Cell, dict[str, float]]


def older() -> tuple[Found, dict[Cell, float]]:
    """Return errors of fits and predictions of the studies that were made for other purposes."""
    found, made = defaultdict(dict), {}
    for row in rows("defaults.csv"):
        if row["variant"] == "new":
            mechanism = RELEASES[row["release"]].use(bounds=(0.0, 1.0))
            cell = Cell(
                row["target"], int(row["records"]), type(mechanism).__name__, float(mechanism.guarantee.epsilon)
            )
            found[cell][row["replicate"]] = float(row["l1"])
            made[cell] = mechanism
    for row in rows("accuracy.csv"):
        if row["method"].startswith("ours-"):
            kind, epsilon = MADE.get(row["method"], RandomizedResponse), float(row["epsilon"])
            cell = Cell(NAMES.get(row["target"], row["target"]), int(row["records"]), f"{kind.__name__}, cut", epsilon)
            found[cell][row["replicate"]] = float(row["l1"])
            cells = {"cells": 16} if kind is RandomizedResponse else {}
            made[cell] = kind(epsilon=epsilon, bounds=(0.0, 1.0), **cells)
    shapes = {name: read_shapes(one.use.density, one.use.bounds)[0].probability for name, one in SHAPES.items()}
    return found, {cell: predict(experiment_of(made[cell]), shapes[cell.shape], cell.records).l1 for cell in found}


def planned() -> tuple[Found, dict[Cell, float]]:
    """Return errors of fits and predictions of `planned`, and of those of `recommended` that know the shape.

    Both have the same data sets. Where both fitted a setting to one, it counts once, by its mean.
    """
    fits, predictions = defaultdict(lambda: defaultdict(list)), {}
    for row in rows("planned.csv") + [row for row in rows("recommended.csv") if row["way"].startswith(PLACES)]:
        if row["setting"]:
            cell = Cell(row["target"], int(row["records"]), row["setting"], float(row["epsilon"]))
            fits[cell][row["replicate"]].append(float(row["l1"]))
    found = {cell: {r: float(np.mean(errors)) for r, errors in sets.items()} for cell, sets in fits.items()}
    for cell in found:
        predictions[cell] = predicted_l1(setting(cell), cell.shape, cell.records)
    return found, predictions


def family(mechanism: str) -> str:
    """Return the class in the name of a setting."""
    return mechanism.partition(" (")[0]


def setting(cell: Cell) -> Mechanism:
    """Return the setting of a mechanism that was fitted, by its name in words."""
    kind, bounds = getattr(mechanisms, family(cell.mechanism)), TARGETS[cell.shape].use.bounds
    offered = kind.candidates(cell.records, bounds, epsilon=cell.epsilon)
    (found,) = (one for one in offered if named(one) == cell.mechanism)
    return found


def main() -> None:
    for name, (found, predictions) in {"planned": planned(), "defaults and accuracy": older()}.items():
        realised = mean_errors(found)
        ratios = {cell: realised[cell] / predictions[cell] for cell in realised}
        print(f"{name}: {sum(map(len, found.values()))} fits in {len(found)} cells; L1 error over the one predicted")
        show("all", list(ratios.values()))
        for field in ("mechanism", "records", "epsilon", "shape"):
            parts = defaultdict(list)
            for cell, ratio in ratios.items():
                parts[family(str(getattr(cell, field)))].append((getattr(cell, field), ratio))
            for value, some in sorted(parts.items(), key=lambda part: part[1][0][0]):
                show(f"{field} {value}", [ratio for _, ratio in some])
        compare(found, predictions)


def mean_errors(found: Found) -> dict[Cell, float]:
    return {cell: float(np.mean(list(sets.values()))) for cell, sets in found.items()}


def show(name: str, ratios: list[float]) -> None:
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    inside = np.mean([0.5 <= ratio <= 1.6 for ratio in ratios])
    spread = f"median {median:.2f}   5–95% {low:.2f}–{high:.2f}"
    print(f"  {name:34} {spread}   within .5–1.6 {inside:.0%}   {len(ratios)} cells")


def compare(found: Found, predicted: dict[Cell, float]) -> None:
    """Print how often the order of two mechanisms is right.

    Beside each figure stands the one to be expected of predictions without any fault, from the scatter of fits alone.
    """
    scatter, rng = scatter_of(found), np.random.default_rng(1)
    drawn = [
        {
            cell: {r: predicted[cell] * np.exp(scatter * rng.standard_normal()) for r in sets}
            for cell, sets in found.items()
        }
        for _ in range(REPETITIONS)
    ]
    print(f"  standard deviation of the log error over the data sets of a cell: {scatter:.2f}")
    for which in ("errors", "predictions"):
        right, pairs = order(found, predicted, which)
        perfect = np.mean([np.divide(*order(one, predicted, which)) for one in drawn])
        share = f"{right} of {pairs} ({right / pairs:.0%}; {perfect:.0%} if predictions had no fault)"
        print(f"  order of two mechanisms whose {which} differ by over 25%: right in {share}")


def scatter_of(found: Found) -> float:
    """Return the standard deviation of the log error of a fit, over the data sets of a cell."""
    several = [np.log(list(sets.values())) for sets in found.values() if len(sets) > 1]
    return float(np.sqrt(np.mean([np.var(values, ddof=1) for values in several])))


def grouped(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the cells that differ in the mechanism alone."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.shape, cell.records, cell.epsilon, cell.mechanism.endswith("cut")].append(cell)
    return list(groups.values())


def order(found: Found, predicted: dict[Cell, float], which: str) -> tuple[int, int]:
    """Return how often the order is right, and of how many pairs: those whose `which` differ by over a quarter."""
    right = pairs = 0
    for a, b in (pair for cells in grouped(found) for pair in combinations(cells, 2)):
        errors, expected = paired(found, a, b), (predicted[a], predicted[b])
        apart = errors if which == "errors" else expected
        if max(apart) > 1.25 * min(apart):
            pairs += 1
            right += (errors[0] > errors[1]) == (expected[0] > expected[1])
    return right, pairs


def paired(found: Found, a: Cell, b: Cell) -> tuple[float, float]:
    """Return the mean errors of two mechanisms on the data sets that both were fitted to, or on all where none was."""
    both = found[a].keys() & found[b].keys()
    one, other = (float(np.mean([v for r, v in found[cell].items() if r in both or not both])) for cell in (a, b))
    return one, other


if __name__ == "__main__":
    main()
