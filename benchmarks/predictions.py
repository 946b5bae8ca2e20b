"""What a plan would have predicted for fits that were made: the stored cells of several studies.

Run with `python -m benchmarks.predictions`: two minutes. `planned` was made for this. `defaults` and `accuracy` were
made for other purposes: each of their cells is the mean L1 error of three or ten fits; of `accuracy` the fits are those
of the former default, with components that leave the bounds. Predictions know the shape, and are made by the present
code, whatever chose the settings of the mechanisms.
"""

from __future__ import annotations

import csv
from collections import defaultdict
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
        compare(realised, predictions)
        show_regret(found, predictions)


def show(name: str, ratios: list[float]) -> None:
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    inside = np.mean([0.5 <= ratio <= 1.6 for ratio in ratios])
    spread = f"median {median:.2f}   5–95% {low:.2f}–{high:.2f}"
    print(f"  {name:34} {spread}   within .5–1.6 {inside:.0%}   {len(ratios)} cells")


def compare(realised: dict[Cell, float], predicted: dict[Cell, float]) -> None:
    """Print how often the order of two mechanisms at one ε is right where they differ by a quarter."""
    groups = defaultdict(list)
    for cell in realised:
        groups[cell.shape, cell.records, cell.epsilon, cell.mechanism.endswith("cut")].append(cell)
    pairs = [pair for cells in groups.values() for pair in combinations(cells, 2)]
    for which, errors in (("errors", realised), ("predictions", predicted)):
        apart = [(a, b) for a, b in pairs if max(errors[a], errors[b]) > 1.25 * min(errors[a], errors[b])]
        right = sum((realised[a] > realised[b]) == (predicted[a] > predicted[b]) for a, b in apart)
        share = f"{right} of {len(apart)} ({right / len(apart):.0%})"
        print(f"  order of two mechanisms whose {which} differ by over 25%: right in {share}")


def show_regret(found: dict[Cell, list[float]], predicted: dict[Cell, float]) -> None:
    """Print the error of the best predicted of the local mechanisms over that of the best.

    The best is found twice. The least mean error over the data sets is too good, because the least of several noisy
    means is. With several data sets the best is also chosen by all but one and looked at in that one, each in its turn:
    no mechanism is helped by the noise that chose it. Those with fewer data sets than the chosen one are left out.
    """
    groups = defaultdict(list)
    for cell in found:
        if cell.mechanism != TRUSTED:
            groups[cell.shape, cell.records, cell.epsilon, cell.mechanism.endswith("cut")].append(cell)
    seen, others = [], []
    for cells in groups.values():
        chosen = min(cells, key=predicted.__getitem__)
        sets = range(len(found[chosen]))
        errors = {cell: np.array(found[cell][: len(sets)]) for cell in cells if len(found[cell]) >= len(sets)}
        seen.append(errors[chosen].mean() / min(values.mean() for values in errors.values()))
        if len(sets) > 1 and len(errors) > 1:
            best = [min(errors.values(), key=lambda v: np.delete(v, k).mean())[k] for k in sets]
            others.append(errors[chosen].mean() / np.mean(best))
    for words, values in (("least mean", seen), ("best by other data sets", others)):
        if values:
            mean, share = np.exp(np.mean(np.log(values))), np.mean(np.array(values) <= 1.3)
            spread = f"geometric mean {mean:.3f}, worst {max(values):.2f}, at most 1.3 in {share:.0%} of {len(values)}"
            print(f"  error of the best predicted over the {words}: {spread}")


if __name__ == "__main__":
    main()
