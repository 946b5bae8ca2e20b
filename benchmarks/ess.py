"""Effective draws of the density per CPU second, for every sampler: `make bench-ess`.

On the paper's Section 4.1: the least effective sample size of the density at six points, over four chains, divided by
the CPU seconds of all of them, warm-up (and for Auto its pilot) included, compilation not. Every sampler gets about the
same CPU time on the same data sets. R-hat is the worst of the six points. Ratios are against the better of the paper's
two samplers in the same cell.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.shared import BOUNDS, summarise_density, truncated_normals
from privmix import PrivateMixture, mechanisms, samplers

POINTS = np.array([-7.5, -5.0, -2.0, 0.0, 3.0, 5.5])
PAPER = {"Neal5 m=1": samplers.Neal5(), "Slice, the paper's": samplers.Slice(swaps=False)}
OURS = {
    "Slice": samplers.Slice(),
    "Slice exact": samplers.Slice(records="exact"),
    "Slice integrated, impute": samplers.Slice(records="integrated"),
    "Slice integrated, walk": samplers.Slice(records="integrated", update="walk"),
    "Neal5 exact, impute": samplers.Neal5(exact=True, update="impute"),
    "Neal5 exact, walk": samplers.Neal5(exact=True),
    "Neal8 impute": samplers.Neal8(update="impute"),
    "Neal8 walk": samplers.Neal8(),
    "SplitMerge(Neal5 exact)": samplers.SplitMerge(samplers.Neal5(exact=True)),
    "SplitMerge(Neal8)": samplers.SplitMerge(samplers.Neal8()),
    "Binned": samplers.Binned(bins=128),
}


def run(model, z, sampler, draws: int, thin: int, seed: int) -> tuple[float, float, float]:
    """Return worst ESS, worst R-hat and CPU seconds of four chains; a quarter of the sweeps is warm-up."""
    clock = time.process_time()
    with ThreadPoolExecutor(1) as one:
        posterior = model.sample(
            z,
            sampler,
            draws=draws,
            thin=thin,
            warmup=draws * thin // 3,
            chains=4,
            seed=seed,
            executor=one,
            allocations=False,
        )
    seconds = time.process_time() - clock
    values = posterior.density_draws(POINTS).values
    table = summarise_density(values, POINTS)
    return float(table["ess_bulk"].min()), float(table["r_hat"].max()), seconds


def measure(model, z, sampler, budget: float, seed: int) -> dict[str, float]:
    """Give a sampler its CPU budget: a short run tells how many sweeps fit."""
    draws = 1000
    run(model, z, sampler, 100, 1, seed)  # compiles
    _, _, seconds = run(model, z, sampler, draws, 1, seed)
    thin = max(1, round(budget / seconds))
    ess, r_hat, seconds = run(model, z, sampler, draws, thin, seed)
    return {"ess": ess, "r_hat": r_hat, "seconds": seconds, "rate": ess / seconds, "sweeps": draws * thin * 4 // 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 5.0, 10.0, 50.0])
    parser.add_argument("--data-sets", type=int, default=5)
    parser.add_argument(
        "--budget", type=float, default=2.0, help="CPU seconds a run at n = 200; times n/200 at larger n"
    )
    parser.add_argument("--samplers", nargs="+", default=None, help="names, by default all")
    parser.add_argument("--output", type=Path, default=None, help="JSON file of all figures")
    options = parser.parse_args()
    everything = {**PAPER, **OURS, "Auto": samplers.Auto()}
    chosen = {name: everything[name] for name in options.samplers or everything}
    rows = []
    for n in options.records:
        for epsilon in options.epsilons:
            cell = {name: [] for name in chosen}
            for data_set in range(1, options.data_sets + 1):
                mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
                z = mechanism.privatize(truncated_normals(n, data_set), seed=np.random.default_rng(100 + data_set))
                for name, sampler in chosen.items():
                    budget = options.budget * (n / 200) ** 0.5
                    cell[name].append(measure(PrivateMixture(mechanism), z, sampler, budget, data_set))
            rows += report(n, epsilon, cell)
            if options.output:
                options.output.write_text(json.dumps(rows, indent=1))


def report(n: int, epsilon: float, cell: dict[str, list[dict[str, float]]]) -> list[dict]:
    """Print and return the medians over data sets."""
    rates = {name: float(np.median([r["rate"] for r in runs])) for name, runs in cell.items()}
    paper = max((rates[name] for name in PAPER if name in rates), default=float("nan"))
    best = max(rates.values())
    print(f"n = {n}, ε = {epsilon:g}", flush=True)
    rows = []
    for name, runs in cell.items():
        r_hat = float(np.median([r["r_hat"] for r in runs]))
        against = rates[name] / paper
        ratios = f"{against:5.2f}× paper  {rates[name] / best:4.2f}× best"
        print(f"  {name:26} {rates[name]:8.1f} ESS/s  R-hat {r_hat:5.3f}  {ratios}", flush=True)
        rows.append(
            {"n": n, "epsilon": epsilon, "sampler": name, "rate": rates[name], "r_hat": r_hat, "of_paper": against}
        )
    return rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
