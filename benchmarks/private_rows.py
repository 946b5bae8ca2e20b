"""Two private columns: errors of marginals and of the joint density, and coverage of the conditional mean.

`python -m benchmarks.private_rows FOLDER --sets 10` fits so many data sets of 10,000 people for each budget and each
way to spend it, and goes on where it stopped; `--table` prints what is in the folder. The ways: ε split over two
columns, or all of it on one column a person; each of 16 cells by randomised response, fitted on counts of cells; or on
a noisy table of 16 × 16 cells that a trusted holder made (`--ways table`). The naive fit takes what was split, or the
table with negative counts set to 0, as true: the share of each cell, spread evenly over it. With `--truth prior` the
law of the people is a draw of the model's own prior in place of two fixed groups: there bands cover as often as they
say, unless the sampler is wrong.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from privmix import PrivateMixture, default_model
from privmix.curves.columns import column_given, density_draws_over
from privmix.curves.moments import raw_moments
from privmix.curves.predictive import draw_records
from privmix.curves.prior import prior_draws
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


class People(NamedTuple):
    """Rows of both columns, their true density on the grid, and the true means of the second given the first."""

    rows: np.ndarray
    joint: np.ndarray
    means: np.ndarray


def two_groups(model: PrivateMixture, rng: np.random.Generator) -> People:
    """Return people of the two groups, inside the bounds."""
    group = (rng.random(2 * PEOPLE) >= WEIGHT[0]).astype(int)
    rows = rng.normal(MEAN[group], SD[group])
    rows = rows[((rows >= 0.0) & (rows <= 1.0)).all(axis=1)][:PEOPLE]
    return People(rows, (column(0, GRID) * WEIGHT) @ column(1, GRID).T, true_conditional_mean())


def of_the_prior(model: PrivateMixture, rng: np.random.Generator) -> People:
    """Return people whose law is a draw of the model's prior."""
    kernel: Any = model.kernel
    law = prior_draws(model, 1, rng, remainder=1e-6)
    rows = draw_records(kernel, law, np.zeros(PEOPLE, np.int64), np.zeros((PEOPLE, 2)), rng)
    given = [column_given(kernel, law, "b", {"a": float(x)}) for x in ASKED]
    means = [raw_moments(kernel.children[1], one, BOUNDS, exact=False)[0, 0] for one in given]
    return People(rows, density_draws_over(kernel, law, {"a": GRID, "b": GRID}).values[0, 0], np.array(means))


TRUTHS = {"groups": two_groups, "prior": of_the_prior}


def mechanism_of(epsilon: float, way: str) -> Mechanism:
    """Return the mechanism of counts of cells, which spends ε on both columns, on one a person, or on a table."""
    if way == "table":
        return NoisyTable(PEOPLE, a=(CELLS, BOUNDS), b=(CELLS, BOUNDS), epsilon=epsilon)
    each = RandomizedResponse(cells=CELLS, epsilon=epsilon / 2 if way == "split" else epsilon, bounds=BOUNDS)
    return Counted(Each(a=each, b=each, reports=None if way == "split" else 1))


def counts_of(mechanism: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the counts of cells that are released."""
    return mechanism.count(mechanism.each.perturb(rng, rows)) if mechanism.is_counted else mechanism.perturb(rng, rows)


def errors(joint: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the L1 errors of a joint density on the grid, of its marginals, and of the shares of the cells."""
    step, side = GRID[1] - GRID[0], len(GRID) // CELLS
    found = {"joint": float(np.abs(joint - truth).sum() * step**2)}
    # What the noise does: a density that is level inside a cell is off by that alone.
    cells = (joint - truth).reshape(CELLS, side, CELLS, side).sum(axis=(1, 3)) * step**2
    found["cells"] = float(np.abs(cells).sum())
    for axis, name in ((1, "a"), (0, "b")):
        found[name] = float(np.abs((joint - truth).sum(axis=axis) * step).sum() * step)
    return found


def naive(z: np.ndarray, people: People) -> dict[str, Any]:
    """Return the errors of the shares of released cells, and its conditional means with their intervals."""
    side = round(np.sqrt(len(z)))  # of reports one more than there are cells: the entry is missing
    counts = np.maximum(z, 0.0).reshape(side, side)[:CELLS, :CELLS]
    if not counts.any():
        return {}
    cell = (GRID * CELLS).astype(int)
    middle, held = (np.arange(CELLS) + 0.5) / CELLS, []
    for x, true in zip(ASKED, people.means, strict=True):
        row = counts[int(x * CELLS)]
        mean = row @ middle / row.sum()
        half = 1.96 * np.sqrt(row @ (middle - mean) ** 2 / (row.sum() - 1.0) / row.sum())
        held.append(bool(abs(mean - true) <= half))
    return {**errors(counts[np.ix_(cell, cell)] * CELLS**2 / counts.sum(), people.joint), "covered": held}


def fit_one(epsilon: float, way: str, truth: str, seed: int) -> dict[str, Any]:
    """Return what one data set says."""
    rng = np.random.default_rng([seed, int(epsilon)])
    mechanism = mechanism_of(epsilon, way)
    model = default_model(mechanism)
    people = TRUTHS[truth](model, rng)
    z = counts_of(mechanism, people.rows, rng)
    began = time.process_time()
    fit = model.sample(z, seed=seed, **RUN)
    seconds = time.process_time() - began
    joint = fit.thinned(400).density({"a": GRID, "b": GRID})["mean"].values
    found = [fit.conditional("b", a=float(x)).moments(0.95).sel(moment="mean") for x in ASKED]
    lower, mean, upper = (np.array([float(one[key]) for one in found]) for key in ("lower", "mean", "upper"))
    told = {**errors(joint, people.joint), "covered": ((lower <= people.means) & (people.means <= upper)).tolist()}
    told |= {"width": (upper - lower).tolist(), "off": (mean - people.means).tolist()}
    r_hat = fit.summary(at={"a": ASKED, "b": ASKED})["r_hat"]
    told["r_hat"] = float(r_hat[[name for name in r_hat.index if "density" in name]].max())
    correlation = fit.correlation()
    told["correlation"] = [float(correlation[name].values[0, 1]) for name in ("mean", "lower", "upper")]
    told["seconds"] = seconds
    return {"epsilon": epsilon, "way": way, "seed": seed, "fit": told, "naive": naive(z, people)}


def table(folder: Path) -> None:
    """Print means over data sets, coverage with its standard error over them, and coverage point by point."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    print("| ε in all | way | sets | L1 of a, b | L1 of joint, of cells | mean covered | width | worst R-hat | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    told = {}
    for way, budgets in WAYS.items():
        for epsilon in budgets:
            some = [one for one in found if (one["epsilon"], one["way"]) == (epsilon, way)]
            for kind in ("fit", "naive"):
                told[epsilon, f"{way}, {kind}"] = [one[kind] for one in some if one[kind]]
    told = {case: sets for case, sets in told.items() if sets}
    for (epsilon, name), sets in told.items():
        print(_row(epsilon, name, sets))
    for (epsilon, name), sets in told.items():
        shares = " ".join(f"{share:.0%}" for share in np.mean([one["covered"] for one in sets], axis=0))
        off = " ".join(f"{mean:+.3f}" for mean in np.mean([one["off"] for one in sets if "off" in one] or [[]], axis=0))
        print(f"ε = {epsilon:g}, {name}, at {ASKED}: covered {shares}; mean error {off}")


def _row(epsilon: float, name: str, told: list[dict[str, Any]]) -> str:
    def mean(key: str) -> float:
        return float(np.mean([one.get(key, np.nan) for one in told]))

    each = np.mean([one["covered"] for one in told], axis=1)  # points of one data set go together
    error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
    more = ["–"] * 3
    if "width" in told[0]:
        r_hat = np.array([one["r_hat"] for one in told])
        worst = f"{r_hat.max():.2f} ({np.median(r_hat):.2f})"
        more = [f"{mean('width'):.3f}", worst, f"{mean('seconds'):.0f}"]
    shown = [
        f"{mean('a'):.3f}, {mean('b'):.3f}",
        f"{mean('joint'):.3f}, {mean('cells'):.3f}",
        f"{each.mean():.0%} ({error:.1%})",
    ]
    cells = [f"{epsilon:g}", name, str(len(told)), *shown, *more]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Fit what is not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=["split", "one"])
    parser.add_argument("--truth", choices=list(TRUTHS), default="groups")
    parser.add_argument("--budgets", type=float, nargs="+", help="these alone")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(1, 1 + (0 if asked.table else asked.sets)):
        for way in asked.ways:
            for epsilon in asked.budgets or WAYS[way]:
                path = asked.folder / f"{epsilon:g}-{way}-{seed:03d}.json"
                if not path.exists():
                    path.write_text(json.dumps(fit_one(epsilon, way, asked.truth, seed)))
    table(asked.folder)


if __name__ == "__main__":
    main()
