"""How well chains on counts mix: R-hat and effective draws of the density, clusters, CPU seconds until 400 are there.

`python -m benchmarks.mixing` runs cells of records × mechanisms × targets × samplers that a file of results does not
hold yet, one after the other, and prints the table of all that it holds. Counts are multinomial with the exact
probabilities of the target, so that a billion records cost nothing. Four chains a cell, from dispersed starts; CPU
seconds are those of warm-up and draws, compilation not.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

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


def measure(model: Any, counts: np.ndarray, sampler: Any, draws: int, warmup: int, thin: int, seed: int) -> dict:
    """Return what four chains of a sampler say, and what they cost."""
    plan = Plan(model, sampler, counts, draws, warmup, thin, allocations=False)
    run_chain(Plan(model, sampler, counts, 1, 1, 1, allocations=False), np.random.SeedSequence(0))  # compiles
    chains, began = [], time.process_time()
    for start in np.random.SeedSequence(seed).spawn(4):
        chains.append(run_chain(plan, start))
    cpu = time.process_time() - began
    drawn = stack_draws([chain.pieces for chain in chains])
    density = density_draws(model.kernel, drawn, POINTS)
    table = summarise({f"{x:g}": density[..., j] for j, x in enumerate(POINTS)})
    clusters = summarise({"clusters": drawn.n_clusters.astype(float), "concentration": drawn.concentration})
    stats = {name: drawn.statistic[..., k].mean(axis=1).tolist() for k, name in enumerate(sampler.statistics)}
    ess = float(table["ess_bulk"].min())
    return {
        "r_hat": float(table["r_hat"].max(skipna=False)),
        "ess": ess,
        "clusters": float(clusters["mean"].iloc[0]),
        "clusters_error": float(clusters["sd"].iloc[0] / np.sqrt(clusters["ess_bulk"].iloc[0])),
        "r_hat_clusters": float(clusters["r_hat"].iloc[0]),
        "r_hat_concentration": float(clusters["r_hat"].iloc[1]),
        "cpu": cpu,
        "cpu_to_400": cpu * 400.0 / ess,
        "ms_a_sweep": 1e3 * cpu / (4 * plan.sweeps),
        "mean": table["mean"].tolist(),
        "error": (table["sd"] / np.sqrt(table["ess_bulk"])).tolist(),
        "stats": stats,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=float, nargs="+", default=[1e3, 1e5, 1e7, 1e9])
    parser.add_argument("--mechanisms", nargs="+", default=list(MECHANISMS))
    parser.add_argument("--targets", nargs="+", default=["normals", "skewed"])
    parser.add_argument("--samplers", nargs="+", default=["Lifted", "Binned"])
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=1600)
    parser.add_argument("--thin", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=10, help="sweeps of Binned, which are cheaper, for one of Lifted")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    done = read(options.results)
    for name in options.mechanisms:
        for target in options.targets:
            for n in options.records:
                for sampler in options.samplers:
                    times = options.times if sampler == "Binned" else 1
                    length = [options.draws, times * options.warmup, times * options.thin, options.seed]
                    key = [sampler, name, target, n, *length]
                    if not any(row["key"] == key for row in done):
                        done.append({"key": key, **run_cell(*key)})
                        with options.results.open("a") as file:
                            file.write(json.dumps(done[-1]) + "\n")
                    show(next(row for row in done if row["key"] == key))
                compare([row for row in done if row["key"][1:4] == [name, target, n]])


def run_cell(sampler: str, name: str, target: str, n: float, draws: int, warmup: int, thin: int, seed: int) -> dict:
    """Return the figures of one cell."""
    counted = Counted(MECHANISMS[name]())
    model, chosen = privmix.default_model(counted), getattr(samplers, sampler)()
    return measure(model, counts_of(counted, target, n, 1), chosen, draws, warmup, thin, seed)


def compare(rows: list[dict]) -> None:
    """Print by how many joint errors two samplers differ in the density and in the number of clusters."""
    found = {row["key"][0]: row for row in rows}
    if {"Lifted", "Binned"} <= set(found):
        ours, theirs = found["Lifted"], found["Binned"]
        gap = (np.array(ours["mean"]) - theirs["mean"]) / np.hypot(ours["error"], theirs["error"])
        clusters = (ours["clusters"] - theirs["clusters"]) / np.hypot(ours["clusters_error"], theirs["clusters_error"])
        print(f"        density differs by at most {np.abs(gap).max():.1f} joint errors (root mean square "
              f"{np.sqrt(np.mean(gap**2)):.2f}), clusters by {clusters:+.1f}", flush=True)  # fmt: skip


def read(path: Path) -> list[dict]:
    """Return the cells of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(row: dict) -> None:
    """Print one cell."""
    sampler, name, target, n = row["key"][:4]
    print(
        f"{sampler:7} {name:10} {target:8} {n:7.0e}  R-hat {row['r_hat']:.3f}  ESS {row['ess']:6.0f}  clusters "
        f"{row['clusters']:5.1f} ({row['r_hat_clusters']:.3f})  α {row['r_hat_concentration']:.3f}  "
        f"CPU {row['cpu']:6.1f} s  to 400: {row['cpu_to_400']:6.0f} s  {row['ms_a_sweep']:.2f} ms a sweep",
        flush=True,
    )


if __name__ == "__main__":
    main()
