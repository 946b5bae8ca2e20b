"""Releases as they are published: the right likelihood against one that ignores what was done to the noisy numbers.

Run with `python -m benchmarks.published`: some forty minutes of one core for 50 data sets of each kind; for one kind
add `--only ages`. Each data set has its own density, drawn from the default model's prior, so that a 95% band should
hold it at 95% of the points.

- clamped: 2,000 people in 400 cells, Gaussian noise of standard deviation 10, negative counts set to 0; ignored: the
  published counts are taken as noisy ones. (Under Laplace noise nothing is lost by that: the mass at or below 0 of
  c + noise and the density of noise −c both fall as e^{−c/s} in c, so that the likelihoods are the same.)
- withheld: 20,000 people in 100 cells, Gaussian noise of standard deviation 18.3, counts below 90 withheld; ignored:
  they count as 0.
- ages: 2,000 whole numbers from 0 to 100, discrete Laplace noise at ε = 1; ignored: records and noise are continuous.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from privmix import default_model
from privmix.curves.density import density_draws
from privmix.curves.predictive import draw_records, release_records
from privmix.curves.prior import prior_draws
from privmix.mechanisms import Clamped, DiscreteLaplace, Laplace, Mechanism, NoisyHistogram, Withheld

LEVEL, POINTS = 0.95, 200
CHAINS = {"draws": 500, "warmup": 1500, "thin": 5, "chains": 2}
CELLS = NoisyHistogram(2_000, 400, "discrete gaussian", bounds=(0.0, 1.0), scale=10.0)
PAGES = NoisyHistogram(20_000, 100, "gaussian", bounds=(0.0, 1.0), scale=18.3)


class Case(NamedTuple):
    """What made a release, what a hasty reader takes it for, and how many records there are."""

    right: Mechanism
    naive: Mechanism
    records: int


CASES = {
    "clamped": Case(Clamped(CELLS, lower=0.0), CELLS, 2_000),
    "withheld": Case(Withheld(PAGES, below=90.0), PAGES, 20_000),
    "ages": Case(DiscreteLaplace(epsilon=1.0, bounds=(0.0, 100.0)), Laplace(epsilon=1.0, bounds=(0.0, 100.0)), 2_000),
}


def measure(z: np.ndarray, mechanism: Mechanism, truth: np.ndarray, grid: np.ndarray, seed: int) -> dict[str, float]:
    """Return the L1 error, the share of points whose band holds the truth, and the worst R-hat."""
    with ThreadPoolExecutor(1) as one:
        model = default_model(mechanism)
        posterior = model.sample(z, seed=[seed, 2], executor=one, allocations=False, **CHAINS)
    band = posterior.density(grid, level=LEVEL)
    inside = (band["lower"] <= truth) & (truth <= band["upper"])
    error = float(np.abs(band["mean"].values - truth).mean() * (grid[-1] - grid[0]) * POINTS / (POINTS - 1))
    r_hat = float(posterior.summary().drop(index="acceptance", errors="ignore")["r_hat"].max())
    return {"l1": error, "covered": float(inside.mean()), "r_hat": r_hat}


def compare(case: Case, seed: int) -> dict[str, dict[str, float]]:
    """Return both fits of one data set from the prior."""
    model, rng = default_model(case.right), np.random.default_rng([seed, 1])
    lower, upper = model.kernel.bounds
    grid = lower + (upper - lower) * (np.arange(POINTS) + 0.5) / POINTS
    mixing = prior_draws(model, 1, rng, remainder=1e-6)
    y = draw_records(model.kernel, mixing, np.zeros(case.records, np.int64), np.zeros(case.records), rng)
    truth, z = density_draws(model.kernel, mixing, grid)[0, 0], release_records(model, y, rng)
    taken = np.nan_to_num(np.asarray(z))
    return {
        "right": measure(z, case.right, truth, grid, seed),
        "ignored": measure(taken, case.naive, truth, grid, seed),
    }


def report(name: str, rows: list[dict[str, Any]]) -> None:
    """Print means over data sets, with standard errors in brackets."""
    for how in ("right", "ignored"):
        found = {key: np.array([row[how][key] for row in rows]) for key in ("l1", "covered", "r_hat")}
        error = {key: values.std(ddof=1) / np.sqrt(len(rows)) for key, values in found.items()}
        print(
            f"{name:9} {how:8} L1 {found['l1'].mean():.3f} ({error['l1']:.3f})   bands hold "
            f"{found['covered'].mean():.1%} ({error['covered']:.1%})   R-hat, median {np.median(found['r_hat']):.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=50)
    parser.add_argument("--only", choices=CASES, action="append")
    options = parser.parse_args()
    for name in options.only or CASES:
        clock = time.process_time()
        rows = [compare(CASES[name], seed) for seed in range(options.data_sets)]
        report(name, rows)
        print(f"  {options.data_sets} data sets, {time.process_time() - clock:.0f} CPU seconds")


if __name__ == "__main__":
    main()
