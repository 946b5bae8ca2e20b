"""Do the bands keep their promise? Coverage over data sets drawn from the model's own prior.

Run with `python -m benchmarks.coverage`: about two minutes of one core for 200 data sets. In pieces:
`--first 0 --data-sets 50`, `--first 50 --data-sets 50` and so on, with `--keep FILE` to gather the pieces.

A mixing measure P is drawn from the prior (to a remainder of 1e-6), n = 100 records from P, their release through
Laplace noise at ε = 5, without clipping. If the draws are right, a band of posterior probability 90% holds the density
of P at a point in 90% of data sets, and a simultaneous band holds the whole curve in 90%. Three simultaneous bands are
compared: order statistics (the library's), and sup-t bands on the scales of the root and the logarithm of the density.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared import BOUNDS
from privmix import PrivateMixture, mechanisms
from privmix.curves.density import density_draws
from privmix.curves.predictive import draw_records, release_records
from privmix.curves.prior import prior_draws

RECORDS, EPSILON, LEVEL = 100, 5.0, 0.9
SCALES = {"sup-t, root": (np.sqrt, lambda x: np.maximum(x, 0.0) ** 2), "sup-t, log": (np.log, np.exp)}


def model_of(epsilon: float = EPSILON) -> PrivateMixture:
    return PrivateMixture(mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS))


def draw_data(model: PrivateMixture, grid: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the true density at the grid and a release of records from it."""
    rng = np.random.default_rng([seed, 1])
    mixing = prior_draws(model, 1, rng, remainder=1e-6)
    y = draw_records(model.kernel, mixing, np.zeros(RECORDS, np.int64), np.zeros(RECORDS), rng)
    return density_draws(model.kernel, mixing, grid)[0, 0], release_records(model, y, rng)


def sup_t(values: np.ndarray, scale: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the band mean ± c·sd on a scale, with c the level-quantile of the largest standardised distance."""
    there, back = SCALES[scale]
    moved = there(np.maximum(values, 1e-300))
    mean, sd = moved.mean(axis=0), np.maximum(moved.std(axis=0), 1e-12)
    c = np.quantile(np.max(np.abs(moved - mean) / sd, axis=1), LEVEL)
    return back(mean - c * sd), back(mean + c * sd)


def cover(seed: int, sweeps: dict[str, Any]) -> dict[str, Any]:
    """Fit one data set and say what its bands hold."""
    model = model_of()
    grid = -10.0 + 20.0 * (np.arange(200) + 0.5) / 200
    truth, z = draw_data(model, grid, seed)
    with ThreadPoolExecutor(1) as one:
        posterior = model.sample(z, seed=[seed, 2], executor=one, allocations=False, **sweeps)
    band = posterior.density(grid, level=LEVEL)
    values = posterior.density_draws(grid).values.reshape(-1, len(grid))
    simultaneous = {"order statistics": (band["simultaneous_lower"].values, band["simultaneous_upper"].values)}
    simultaneous |= {scale: sup_t(values, scale) for scale in SCALES}
    row = {"seed": seed, "pointwise": float(np.mean((band["lower"] <= truth) & (truth <= band["upper"])))}
    for name, (low, high) in simultaneous.items():
        row[name] = bool(np.all((low <= truth) & (truth <= high)))
        row[f"{name} area"] = float(np.trapezoid(high - low, grid))
    table = posterior.summary()
    row |= {"ess": float(table["ess_bulk"].min()), "r_hat": float(table["r_hat"].max())}
    return row


def report(rows: list[dict[str, Any]]) -> None:
    """Print both coverages with their standard errors over data sets."""
    count = len(rows)
    inside = np.array([row["pointwise"] for row in rows])
    error = inside.std(ddof=1) / np.sqrt(count)
    print(f"{count} data sets, {LEVEL:.0%} bands; Monte Carlo standard errors in brackets")
    print(f"  pointwise, mean over points     {inside.mean():6.1%} ({error:.1%})   goal 88–92%")
    for name in ("order statistics", *SCALES):
        share = np.mean([row[name] for row in rows])
        error = np.sqrt(share * (1.0 - share) / count)
        area = np.median([row[f"{name} area"] for row in rows])
        print(f"  simultaneous, {name:17} {share:6.1%} ({error:.1%})   goal 84–96%   median area {area:.2f}")
    r_hat, ess = (np.array([row[name] for row in rows]) for name in ("r_hat", "ess"))
    print(f"  worst R-hat: median {np.median(r_hat):.3f}, 90% quantile {np.quantile(r_hat, 0.9):.3f}", end="; ")
    print(f"least bulk ESS: median {np.median(ess):.0f}, 10% quantile {np.quantile(ess, 0.1):.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="number of the first data set")
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--warmup", type=int, default=1000)
    parser.add_argument("--thin", type=int, default=7)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="add to the data sets in this file, and report all")
    options = parser.parse_args()
    sweeps = {name: getattr(options, name) for name in ("draws", "warmup", "thin", "chains")}
    rows = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else []
    clock = time.process_time()
    for seed in range(options.first, options.first + options.data_sets):
        rows.append(cover(seed, sweeps))
        if options.keep:
            options.keep.write_text(json.dumps(rows))
    report(rows)
    print(f"  {time.process_time() - clock:.0f} CPU seconds")


if __name__ == "__main__":
    main()
