"""The recommended mechanism with `privmix.fit` against what is usual in the local model, from the stored `recommended`.

Run with `python -m benchmarks.usual`: it prints the table of the results page, mean L1 errors over data sets, and the
cells in which ours is not ahead of every other. Ours is what a plan recommends that is not told the shape. Of the two
numbers of cells that EMS and unary encoding are tried with, the one that turned out better is taken, cell by cell.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from benchmarks.predictions import rows
from privmix.studies.shared.planning import TARGETS

PEERS = {
    "square wave, EMS": ("ems64", "ems256"),
    "unary encoding, inversion": ("oue16", "oue32"),
    "16-ary response, inversion": ("response16",),
}
OURS = "plan"
# Below this nothing is told of a density at these ε.
LEAST_RECORDS = 10_000


def errors() -> dict[tuple, dict[str, np.ndarray]]:
    """Return errors by shape, records and ε, then way: on the data sets that ours was fitted to."""
    found: dict[tuple, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows("recommended.csv"):
        key = row["target"], int(row["records"]), float(row["epsilon"])
        found[key][row["way"]][row["replicate"]] = float(row["l1"])
    return {
        key: {
            way: np.array([sets[r] for r in ways[OURS]]) for way, sets in ways.items() if set(ways[OURS]) <= set(sets)
        }
        for key, ways in found.items()
        if OURS in ways
    }


def main() -> None:
    found = {key: ways for key, ways in errors().items() if key[1] >= LEAST_RECORDS}
    behind, budgets = [], sorted({key[2] for key in found})
    print("| shape, n | | " + " | ".join(f"ε = {epsilon:g}" for epsilon in budgets) + " |")
    print("|---" * (len(budgets) + 2) + "|")
    for target in TARGETS:
        for records in sorted({key[1] for key in found}):
            cells = [found.get((target, records, epsilon), {}) for epsilon in budgets]
            for name, ways in {"**recommended, `privmix.fit`**": (OURS,), **PEERS}.items():
                values = [best(cell, ways) for cell in cells]
                print(f"| {target}, {records:,} | {name} | " + " | ".join(map(shown, values)) + " |")
                behind += [
                    f"{target}, n = {records:,}, ε = {epsilon:g}: {name} {compared(value, cell[OURS])}"
                    for epsilon, cell, value in zip(budgets, cells, values, strict=True)
                    if ways != (OURS,) and OURS in cell and value.mean() <= cell[OURS].mean()
                ]
    print(f"{len(found)} cells; error of the other over ours where ours is not ahead:", *behind, sep="\n  ")


def best(cell: dict[str, np.ndarray], ways: tuple[str, ...]) -> np.ndarray:
    return min((cell[way] for way in ways if way in cell), key=np.mean, default=np.array([np.nan]))


def compared(other: np.ndarray, ours: np.ndarray) -> str:
    """Return the ratio of mean errors, and how far it is known: paired, by the scatter over data sets."""
    ratios, sets = np.log(other / ours), len(ours)
    known = f" ± {np.std(ratios, ddof=1) / np.sqrt(sets):.2f}" if sets > 1 else ""
    return f"{other.mean() / ours.mean():.2f}{known} ({sets} data set{'s' if sets > 1 else ''})"


def shown(errors: np.ndarray) -> str:
    value = float(errors.mean())
    return (f"{value:.2f}" if value >= 0.1 else f"{value:.3f}").lstrip("0")


if __name__ == "__main__":
    main()
