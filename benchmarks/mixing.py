"""How well chains on counts mix: CPU seconds until the density has R-hat 1.01 and 400 effective draws, and clusters.

`python -m benchmarks.mixing` runs cells of mechanisms × targets × records that a file of results does not hold yet, one
after the other, and prints all of them. Counts are multinomial with the exact probabilities of the target, so that a
billion records cost nothing. Four chains a cell, from dispersed starts, go on until the density at every point is
within LIMITS or the budget is spent, 60 CPU seconds a chain for `Lifted` and 5 for `Binned`. CPU seconds are those of
warm-up and draws: neither compilation nor a look counts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import privmix
from benchmarks.shared import BOUNDS, CENTRES
from privmix import mechanisms, samplers
from privmix.checks.summary import summarise
from privmix.curves.counts import chances_finder
from privmix.curves.density import density_draws
from privmix.engine.block import stack_draws
from privmix.engine.chains import Plan, run_chain
from privmix.mechanisms import Counted
from privmix.samplers.base import Draws

RESULTS = Path(__file__).parent / "results" / "mixing.jsonl"
MECHANISMS: dict[str, Any] = {
    "laplace10": lambda: mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS),
    "laplace1": lambda: mechanisms.Laplace(epsilon=1.0, bounds=BOUNDS),
    "response1": lambda: mechanisms.RandomizedResponse(cells=16, epsilon=1.0, bounds=BOUNDS),
    "wave2": lambda: mechanisms.SquareWave(epsilon=2.0, bounds=BOUNDS),
    "staggered1": lambda: mechanisms.RandomizedResponse(cells=16, epsilon=1.0, bounds=BOUNDS, staggered=True),
}
# What the density must reach at every point, and CPU seconds of four chains until when.
LIMITS, BUDGETS = {"r_hat": 1.01, "ess": 400.0}, {"Lifted": 240.0, "Binned": 20.0}


class Length(NamedTuple):
    """Sweeps of a chain: kept draws before each look, warm-up, sweeps a draw."""

    draws: int
    warmup: int
    thin: int


# Sweeps of Binned are five to ten times cheaper.
LENGTHS = {"Lifted": Length(250, 1000, 2), "Binned": Length(250, 4000, 16)}
# Where the density is followed.
POINTS = np.linspace(-9.5, 9.5, 20)
# Components that stand for a target: so narrow that no mechanism here tells them from it.
FINE = 4000


def target_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return places and weights of narrow components that make up a target."""
    y = BOUNDS[0] + (BOUNDS[1] - BOUNDS[0]) * (np.arange(FINE) + 0.5) / FINE
    if name == "normals":
        density = sum(np.exp(-0.5 * (y - centre) ** 2) for centre in CENTRES)
    else:  # half uniform, half exponential from −8 on
        density = 1.0 / 20.0 + np.where(y > -8.0, np.exp(-0.5 * (y + 8.0)) / 2.0, 0.0)
    return y, density / density.sum()


def counts_of(mechanism: Any, target: str, n: float, seed: int) -> np.ndarray:
    """Return counts of n records of a target, released by a counted mechanism."""
    y, weight = target_of(target)
    spread = ((BOUNDS[1] - BOUNDS[0]) / FINE) ** 2 / 12.0
    atoms, none = np.column_stack([y, np.full(FINE, spread)]), np.zeros((1, 1, 0))
    one = np.ones((1, 1))
    draws = Draws(one.astype(int), one, none, np.full((1, 1), FINE), weight[None, None], atoms[None, None],
                  none.astype(np.int32), none)  # fmt: skip
    chances = chances_finder(privmix.default_model(mechanism), draws)(np.array([0]))
    return np.random.default_rng(seed).multinomial(int(n), chances / chances.sum()).astype(np.float64)


def measure(model: Any, counts: np.ndarray, sampler: Any, length: Length, seed: int, budget: float) -> dict:
    """Return what four chains of a sampler say when they are within LIMITS, or when the budget is spent."""
    plan = Plan(model, sampler, counts, length.draws, length.warmup, length.thin, allocations=False)
    run_chain(replace(plan, draws=1, warmup=1, thin=1), np.random.SeedSequence(0))  # compiles
    starts: list[Any] = list(np.random.SeedSequence(seed).spawn(4))
    pieces: list[list] = [[] for _ in starts]
    cpu, sweeps = 0.0, 0
    while True:
        began = time.process_time()
        chains = [run_chain(plan, start) for start in starts]
        cpu, sweeps = cpu + time.process_time() - began, sweeps + plan.sweeps
        plan, starts = replace(plan, warmup=0), [chain.end for chain in chains]
        for found, chain in zip(pieces, chains, strict=True):
            found.extend(chain.pieces)
        row = look(model, sampler, stack_draws(pieces))
        reached = row["r_hat"] <= LIMITS["r_hat"] and row["ess"] >= LIMITS["ess"]
        if reached or cpu >= budget:
            return {**row, "reached": reached, "cpu": cpu, "sweeps": sweeps, "ms_a_sweep": 1e3 * cpu / (4 * sweeps)}


def look(model: Any, sampler: Any, drawn: Draws) -> dict:
    """Return worst R-hat and least effective draws of the density, clusters, and what the sampler doubts."""
    density = density_draws(model.kernel, drawn, POINTS)
    table = summarise({f"{x:g}": density[..., j] for j, x in enumerate(POINTS)})
    clusters = summarise({"clusters": drawn.n_clusters.astype(float), "concentration": drawn.concentration})
    reported = {name: drawn.statistic[..., k] for k, name in enumerate(sampler.statistics)}
    return {
        "r_hat": float(table["r_hat"].max(skipna=False)),
        "ess": float(table["ess_bulk"].min()),
        "clusters": float(clusters["mean"].iloc[0]),
        "clusters_error": float(clusters["sd"].iloc[0] / np.sqrt(clusters["ess_bulk"].iloc[0])),
        "r_hat_clusters": float(clusters["r_hat"].iloc[0]),
        "r_hat_concentration": float(clusters["r_hat"].iloc[1]),
        "mean": table["mean"].tolist(),
        "error": (table["sd"] / np.sqrt(table["ess_bulk"])).tolist(),
        "stats": {name: values.mean(axis=1).tolist() for name, values in reported.items()},
        "doubts": [text for text, _ in sampler.doubts(reported)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=float, nargs="+", default=[1e3, 1e5, 1e6, 1e7, 1e8, 1e9])
    parser.add_argument("--mechanisms", nargs="+", default=list(MECHANISMS))
    parser.add_argument("--targets", nargs="+", default=["normals", "skewed"])
    parser.add_argument("--samplers", nargs="+", default=list(LENGTHS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so long")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    done, began = read(options.results), time.monotonic()
    for name, target, n in itertools.product(options.mechanisms, options.targets, options.records):
        rows: list[dict] = []
        for sampler in options.samplers:
            key = [sampler, name, target, n, options.seed]
            found = next((row for row in done if row["key"] == key), None)
            if found is None and time.monotonic() - began > 60.0 * options.minutes:
                return
            if found is None:
                found = {"key": key, **run_cell(*key)}
                with options.results.open("a") as file:
                    file.write(json.dumps(found) + "\n")
            rows.append(found)
            show(found)
        if len(rows) == 2:
            compare(*rows)


def run_cell(sampler: str, name: str, target: str, n: float, seed: int) -> dict:
    """Return the figures of one cell."""
    counted = Counted(MECHANISMS[name]())
    model, chosen = privmix.default_model(counted), getattr(samplers, sampler)()
    return measure(model, counts_of(counted, target, n, 1), chosen, LENGTHS[sampler], seed, BUDGETS[sampler])


def compare(ours: dict, theirs: dict) -> None:
    """Print by how many joint errors two samplers differ in the density and in the number of clusters."""
    gap = (np.array(ours["mean"]) - theirs["mean"]) / np.hypot(ours["error"], theirs["error"])
    clusters = (ours["clusters"] - theirs["clusters"]) / np.hypot(ours["clusters_error"], theirs["clusters_error"])
    print(
        f"        density differs by at most {np.abs(gap).max():.1f} joint errors (root mean square "
        f"{np.sqrt(np.mean(gap**2)):.2f}), clusters by {clusters:+.1f}",
        flush=True,
    )


def read(path: Path) -> list[dict]:
    """Return the cells of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(row: dict) -> None:
    """Print one cell."""
    sampler, name, target, n = row["key"][:4]
    print(
        f"{sampler:7} {name:10} {target:8} {n:7.0e}  R-hat {row['r_hat']:.3f}  ESS {row['ess']:6.0f}  clusters "
        f"{row['clusters']:5.1f} ({row['r_hat_clusters']:.3f})  α {row['r_hat_concentration']:.3f}  "
        f"CPU {row['cpu']:6.1f} s  {'reached' if row['reached'] else 'NOT REACHED'}  {row['ms_a_sweep']:.2f} ms a sweep"
        f"  {' '.join(row['doubts'])}",
        flush=True,
    )


if __name__ == "__main__":
    main()
