"""Two private columns: errors of marginals and of the joint density, and coverage of the conditional mean.

`python -m benchmarks.private_rows FOLDER --sets 10` fits so many data sets of 10,000 people for each budget and each
way to spend it, and goes on where it stopped; `--table` prints what is in the folder. The ways: ε split over two
columns, or all of it on one column a person; each of 16 cells by randomised response, fitted on counts of cells; or on
a noisy table of 16 × 16 cells that a trusted holder made (`--ways table`). The naive fit takes what was split, or the
table with negative counts set to 0, as true: the share of each cell, spread evenly over it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from privmix import default_model
from privmix.mechanisms import Counted, Each, Mechanism, NoisyTable, RandomizedResponse

BOUNDS, CELLS, PEOPLE = (0.0, 1.0), 16, 10_000
#: budgets in all of each way to spend them
WAYS = {"split": (2.0, 8.0), "one": (2.0, 8.0), "table": (1.0,)}
# Two groups: weight, means and standard deviations of both columns.
WEIGHT, MEAN, SD = np.array([0.4, 0.6]), np.array([[0.3, 0.25], [0.65, 0.6]]), np.array([[0.08, 0.06], [0.1, 0.12]])
GRID = (np.arange(64) + 0.5) / 64
ASKED = np.array([0.25, 0.35, 0.5, 0.65, 0.75])
RUN = {"draws": 1000, "warmup": 1000, "thin": 3, "chains": 2}


def column(j: int, points: np.ndarray) -> np.ndarray:
    """Return the density of column j in both groups, cut to the bounds, (point, group)."""
    low, high = (BOUNDS[0] - MEAN[:, j]) / SD[:, j], (BOUNDS[1] - MEAN[:, j]) / SD[:, j]
    return stats.truncnorm.pdf(points[:, None], low, high, MEAN[:, j], SD[:, j])


def true_conditional_mean() -> np.ndarray:
    """Return the mean of the second column given values of the first."""
    low, high = (BOUNDS[0] - MEAN[:, 1]) / SD[:, 1], (BOUNDS[1] - MEAN[:, 1]) / SD[:, 1]
    weight = WEIGHT * column(0, ASKED)
    return weight @ stats.truncnorm.mean(low, high, MEAN[:, 1], SD[:, 1]) / weight.sum(axis=1)


def draw_people(rng: np.random.Generator) -> np.ndarray:
    """Return rows of both columns, inside the bounds."""
    group = (rng.random(2 * PEOPLE) >= WEIGHT[0]).astype(int)
    rows = rng.normal(MEAN[group], SD[group])
    return rows[((rows >= 0.0) & (rows <= 1.0)).all(axis=1)][:PEOPLE]


def release(epsilon: float, way: str, people: np.ndarray, rng: np.random.Generator) -> tuple[Mechanism, np.ndarray]:
    """Return counts of cells, and their mechanism, which spends ε on both columns, on one a person, or on a table."""
    if way == "table":
        table = NoisyTable(len(people), a=(CELLS, BOUNDS), b=(CELLS, BOUNDS), epsilon=epsilon)
        return table, table.perturb(rng, people)
    each = RandomizedResponse(cells=CELLS, epsilon=epsilon / 2 if way == "split" else epsilon, bounds=BOUNDS)
    rows = Each(a=each, b=each, reports=None if way == "split" else 1)
    return Counted(rows), Counted(rows).count(rows.perturb(rng, people))


def errors(joint: np.ndarray) -> dict[str, float]:
    """Return the L1 errors of a joint density on the grid and of its marginals."""
    truth = (column(0, GRID) * WEIGHT) @ column(1, GRID).T
    step = GRID[1] - GRID[0]
    found = {"joint": float(np.abs(joint - truth).sum() * step**2)}
    for axis, name in ((1, "a"), (0, "b")):
        found[name] = float(np.abs((joint - truth).sum(axis=axis) * step).sum() * step)
    return found


def naive(z: np.ndarray) -> dict[str, Any]:
    """Return the errors of the shares of released cells, and its conditional means with their intervals."""
    side = round(np.sqrt(len(z)))  # of reports one more than there are cells: the entry is missing
    counts = np.maximum(z, 0.0).reshape(side, side)[:CELLS, :CELLS]
    if not counts.any():
        return {}
    cell = (GRID * CELLS).astype(int)
    middle, held = (np.arange(CELLS) + 0.5) / CELLS, []
    for x, true in zip(ASKED, true_conditional_mean(), strict=True):
        row = counts[int(x * CELLS)]
        mean = row @ middle / row.sum()
        half = 1.96 * np.sqrt(row @ (middle - mean) ** 2 / (row.sum() - 1.0) / row.sum())
        held.append(bool(abs(mean - true) <= half))
    return {**errors(counts[np.ix_(cell, cell)] * CELLS**2 / counts.sum()), "covered": held}


def fit_one(epsilon: float, way: str, seed: int) -> dict[str, Any]:
    """Return what one data set says."""
    rng = np.random.default_rng([seed, int(epsilon)])
    mechanism, z = release(epsilon, way, draw_people(rng), rng)
    began = time.process_time()
    fit = default_model(mechanism).sample(z, seed=seed, **RUN)
    seconds = time.process_time() - began
    joint = fit.thinned(400).density({"a": GRID, "b": GRID})["mean"].values
    covered, width = [], []
    for x, true in zip(ASKED, true_conditional_mean(), strict=True):
        found = fit.conditional("b", a=float(x)).moments(0.95).sel(moment="mean")
        covered.append(bool(found["lower"] <= true <= found["upper"]))
        width.append(float(found["upper"] - found["lower"]))
    r_hat = fit.summary(at={"a": ASKED, "b": ASKED})["r_hat"]
    worst = float(r_hat[[name for name in r_hat.index if "density" in name]].max())
    told = {**errors(joint), "covered": covered, "width": width, "r_hat": worst, "seconds": seconds}
    correlation = fit.correlation()
    told["correlation"] = [float(correlation[name].values[0, 1]) for name in ("mean", "lower", "upper")]
    return {"epsilon": epsilon, "way": way, "seed": seed, "fit": told, "naive": naive(z)}


def table(folder: Path) -> None:
    """Print means over data sets."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    print("| ε in all | way | sets | L1 of a, b | L1 of the joint | mean covered | width | worst R-hat | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for way, budgets in WAYS.items():
        for epsilon in budgets:
            some = [one for one in found if (one["epsilon"], one["way"]) == (epsilon, way)]
            for kind in ("fit", "naive"):
                told = [one[kind] for one in some if one[kind]]
                if told:
                    print(_row(epsilon, f"{way}, {kind}", told))


def _row(epsilon: float, name: str, told: list[dict[str, Any]]) -> str:
    def mean(key: str) -> float:
        return float(np.mean([one[key] for one in told]))

    more = ["–"] * 3
    if "width" in told[0]:
        more = [f"{mean('width'):.3f}", f"{max(one['r_hat'] for one in told):.2f}", f"{mean('seconds'):.0f}"]
    shown = [f"{mean('a'):.3f}, {mean('b'):.3f}", f"{mean('joint'):.3f}", f"{mean('covered'):.0%}"]
    cells = [f"{epsilon:g}", name, str(len(told)), *shown, *more]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Fit what is not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=["split", "one"])
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(1, 1 + (0 if asked.table else asked.sets)):
        for way in asked.ways:
            for epsilon in WAYS[way]:
                path = asked.folder / f"{epsilon:g}-{way}-{seed:03d}.json"
                if not path.exists():
                    path.write_text(json.dumps(fit_one(epsilon, way, seed)))
    table(asked.folder)


if __name__ == "__main__":
    main()
