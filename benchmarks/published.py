"""Releases as they are published: the right likelihood against one that ignores what was done to the noisy numbers.

Run with `python -m benchmarks.published --store rows.jsonl`: some forty minutes of one core for 50 data sets of each
kind. Fits that the file holds are not made again, so that it can be run in pieces (`--minutes 10`); for one kind add
`--only ages`. Each data set has its own density, drawn from the default model's prior, so that a 95% band should hold
it at 95% of the points. A band from few effective draws holds a little less; so there is a second measure, free of
that: of 39 draws far apart, the least and the greatest have the truth between them at 38/40 = 95% of the points.

- clamped: 2,000 people in 400 cells, Gaussian noise of standard deviation 10, negative counts set to 0; ignored: the
  published counts are taken as noisy ones. (Under Laplace noise nothing is lost by that: the mass at or below 0 of
  c + noise and the density of noise −c both fall as e^{−c/s} in c, so that the likelihoods are the same.)
- withheld: 20,000 people in 100 cells, Gaussian noise of standard deviation 18.3, counts below 90 withheld; ignored:
  they count as 0.
- ages: 2,000 whole numbers from 0 to 100, discrete Laplace noise at ε = 1; ignored: records and noise are continuous.
  (To round whole numbers to whole numbers changes nothing, and lets them be counted in bins.)
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared import summarise_density
from privmix import default_model
from privmix.curves.density import density_draws
from privmix.curves.predictive import draw_records, release_records
from privmix.curves.prior import prior_draws
from privmix.mechanisms import Clamped, DiscreteLaplace, Laplace, Mechanism, NoisyHistogram, Rounded, Withheld
from privmix.samplers import Binned, Sampler

LEVEL, POINTS = 0.95, 200
# Every so many points the density's R-hat and effective sample size are computed.
WATCHED = 20
# Draws far apart, of both chains together.
FAR_APART = 39
CELLS = NoisyHistogram(2_000, 400, "discrete gaussian", bounds=(0.0, 1.0), scale=10.0)
PAGES = NoisyHistogram(20_000, 100, "gaussian", bounds=(0.0, 1.0), scale=18.3)


class Case(NamedTuple):
    """What made a release, what a hasty reader takes it for, how many records there are, and how chains are run."""

    right: Mechanism
    naive: Mechanism
    records: int
    run: dict[str, int]
    sampler: Sampler = Binned()


CASES = {
    "clamped": Case(Clamped(CELLS, lower=0.0), CELLS, 2_000, {"draws": 195, "warmup": 600, "thin": 10}),
    "withheld": Case(Withheld(PAGES, below=90.0), PAGES, 20_000, {"draws": 195, "warmup": 800, "thin": 15}),
    "ages": Case(
        Rounded(DiscreteLaplace(epsilon=1.0, bounds=(0.0, 100.0)), to=1.0),
        Laplace(epsilon=1.0, bounds=(0.0, 100.0)),
        2_000,
        {"draws": 195, "warmup": 400, "thin": 8},
        Binned(bins=96),
    ),
}


class DataSet(NamedTuple):
    """A density from the prior at the points of a grid, and a release of records from it."""

    grid: np.ndarray
    truth: np.ndarray
    z: np.ndarray


def draw_data(case: Case, seed: int) -> DataSet:
    """Return a data set from the prior of the default model."""
    model, rng = default_model(case.right), np.random.default_rng([seed, 1])
    lower, upper = model.kernel.bounds
    grid = lower + (upper - lower) * (np.arange(POINTS) + 0.5) / POINTS
    mixing = prior_draws(model, 1, rng, remainder=1e-6)
    y = draw_records(model.kernel, mixing, np.zeros(case.records, np.int64), np.zeros(case.records), rng)
    return DataSet(grid, density_draws(model.kernel, mixing, grid)[0, 0], release_records(model, y, rng))


def measure(case: Case, how: str, seed: int, longer: int) -> dict[str, float]:
    """Return the L1 error, the share of points whose band holds the truth, and how well the density mixed."""
    grid, truth, z = draw_data(case, seed)
    mechanism, z = (case.right, z) if how == "right" else (case.naive, np.nan_to_num(z))
    run = {**case.run, "warmup": longer * case.run["warmup"], "thin": longer * case.run["thin"]}
    if how == "ignored":  # wrong by more than long chains could tell
        run = {**case.run, "thin": -(-case.run["thin"] // 2)}
    with ThreadPoolExecutor(1) as one:
        clock = time.process_time()
        posterior = default_model(mechanism).sample(
            z, sampler=case.sampler, chains=2, seed=[seed, 2], executor=one, allocations=False, **run
        )
        clock = time.process_time() - clock
    band = posterior.density(grid, level=LEVEL)
    inside = (band["lower"] <= truth) & (truth <= band["upper"])
    error = np.abs(band["mean"].values - truth).mean() * (grid[-1] - grid[0]) * POINTS / (POINTS - 1)
    values = posterior.density_draws(grid).values
    apart = values.reshape(-1, POINTS)[:: values.shape[0] * values.shape[1] // FAR_APART][:FAR_APART]
    between = (apart.min(axis=0) <= truth) & (truth <= apart.max(axis=0))
    mixing = summarise_density(values[..., ::WATCHED], grid[::WATCHED])
    return {
        "l1": float(error),
        "covered": float(inside.mean()),
        "between": float(between.mean()),
        "r_hat": float(mixing["r_hat"].max()),
        "ess": float(mixing["ess_bulk"].min()),
        "seconds": clock,
    }


def report(name: str, rows: list[dict[str, Any]]) -> None:
    """Print means over data sets, with standard errors in brackets."""
    for how in ("right", "ignored"):
        found = {key: np.array([row[key] for row in rows if row["how"] == how]) for key in rows[0] if key in MEASURED}
        count = len(found["l1"])
        error = {key: values.std(ddof=1) / np.sqrt(count) for key, values in found.items()}
        print(
            f"{name:9} {how:8} {count} data sets   L1 {found['l1'].mean():.3f} ({error['l1']:.3f})   bands hold "
            f"{found['covered'].mean():.1%} ({error['covered']:.1%}), between 39 draws {found['between'].mean():.1%} "
            f"({error['between']:.1%})   density at its worst point: R-hat "
            f"{np.median(found['r_hat']):.3f}, effective draws {np.median(found['ess']):.0f} (medians)   "
            f"{found['seconds'].sum():.0f} CPU seconds"
        )


MEASURED = ("l1", "covered", "between", "r_hat", "ess", "seconds")


def read(store: Path) -> list[dict[str, Any]]:
    """Return the fits that a file holds."""
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True, help="file of fits, a line each; new ones are added")
    parser.add_argument("--data-sets", type=int, default=50)
    parser.add_argument("--only", choices=CASES, action="append")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no fit after so many")
    parser.add_argument("--longer", type=int, default=1, help="how many times as long to make chains of the right one")
    options = parser.parse_args()
    rows, end = read(options.store), time.monotonic() + 60.0 * options.minutes
    made = {(row["kind"], row["data_set"], row["how"]) for row in rows}
    kinds = options.only or list(CASES)
    wanted = [(name, seed, how) for seed in range(options.data_sets) for name in kinds for how in ("right", "ignored")]
    for name, seed, how in (one for one in wanted if one not in made):
        if time.monotonic() > end:
            break
        row = {"kind": name, "data_set": seed, "how": how, **measure(CASES[name], how, seed, options.longer)}
        rows.append(row)
        with options.store.open("a") as file:
            file.write(json.dumps(row) + "\n")
    for name in kinds:
        report(name, [row for row in rows if row["kind"] == name])


if __name__ == "__main__":
    main()
