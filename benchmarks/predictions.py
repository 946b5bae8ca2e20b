"""What a plan would have predicted for fits that were made: the stored cells of the studies `defaults` and `accuracy`.

Run with `python -m benchmarks.predictions`: half a minute. Each cell is the mean L1 error of three or ten fits of one
shape, number of records and mechanism; predictions know the shape. Of `accuracy` the fits are those of the former
default, with components that leave the bounds.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np

from privmix.mechanisms import Laplace, Mechanism, RandomizedResponse, SquareWave
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import predict
from privmix.planning.shapes import read_shapes
from privmix.studies.defaults import RELEASES, TARGETS

RESULTS = Path(__file__).parents[1] / "docs" / "results"
MADE = {"ours-laplace": Laplace, "ours-square": SquareWave}
# Targets of `accuracy` by their names in `defaults`.
NAMES = {"uniform": "half-uniform"}


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def cells() -> dict[tuple[str, int, str, float], list[float]]:
    """Return errors by target, number of records, mechanism and ε."""
    found: dict[tuple[str, int, str, float], list[float]] = defaultdict(list)
    for row in rows("defaults.csv"):
        if row["variant"] == "new":
            made = RELEASES[row["release"]].use(bounds=(0.0, 1.0))
            key = row["target"], int(row["records"]), type(made).__name__, made.guarantee.epsilon
            found[key].append(float(row["l1"]))
    for row in rows("accuracy.csv"):
        if row["method"].startswith("ours-"):
            kind = MADE.get(row["method"], RandomizedResponse).__name__
            key = NAMES.get(row["target"], row["target"]), int(row["records"]), f"{kind}, cut", float(row["epsilon"])
            found[key].append(float(row["l1"]))
    return found


def mechanism_of(kind: str, epsilon: float) -> Mechanism:
    made = {"Laplace": Laplace, "SquareWave": SquareWave}.get(kind.removesuffix(", cut"))
    unit = (0.0, 1.0)
    return made(epsilon=epsilon, bounds=unit) if made else RandomizedResponse(16, epsilon=epsilon, bounds=unit)


def main() -> None:
    found = cells()
    shapes = {name: read_shapes(one.use.density, one.use.bounds)[0].probability for name, one in TARGETS.items()}
    realised = {key: float(np.mean(values)) for key, values in found.items()}
    predicted = {
        key: predict(experiment_of(mechanism_of(key[2], key[3])), shapes[key[0]], key[1]).l1 for key in realised
    }
    ratios = {key: realised[key] / predicted[key] for key in realised}
    print(f"{sum(map(len, found.values()))} fits in {len(found)} cells; L1 error of the fits over the one predicted")
    show("all", list(ratios.values()))
    for which, words in ((2, "mechanism"), (1, "records"), (0, "shape")):
        for value in sorted({key[which] for key in ratios}, key=str):
            show(f"{words} {value}", [ratio for key, ratio in ratios.items() if key[which] == value])
    compare(realised, predicted)


def show(name: str, ratios: list[float]) -> None:
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    inside = np.mean([0.5 <= ratio <= 1.6 for ratio in ratios])
    spread = f"median {median:.2f}   5–95% {low:.2f}–{high:.2f}"
    print(f"  {name:34} {spread}   within .5–1.6 {inside:.0%}   {len(ratios)} cells")


def compare(realised: dict, predicted: dict) -> None:
    """Print how often the order of two mechanisms at one ε is right where they differ by a quarter."""
    groups = defaultdict(list)
    for key in realised:
        groups[key[0], key[1], key[3], key[2].endswith("cut")].append(key)
    right = [
        (realised[a] > realised[b]) == (predicted[a] > predicted[b])
        for keys in groups.values()
        for a, b in combinations(keys, 2)
        if max(realised[a], realised[b]) > 1.25 * min(realised[a], realised[b])
    ]
    print(f"order of two mechanisms that differ by over 25%: right in {sum(right)} of {len(right)} pairs")


if __name__ == "__main__":
    main()
