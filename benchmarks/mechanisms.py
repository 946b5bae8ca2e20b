"""The mechanism matters more than the sampler: error of the fitted density at ε = 1 for four mechanisms.

Run with `python -m benchmarks.mechanisms`: about six minutes of one core. Section 4.1's target, n = 100,000, the model
of `privmix.fit`. The error is ∫|mean density − truth| on [−10, 10]; the uniform density has .837. Every mechanism is
fitted twice: by the paper's Neal 5, and on counts of bins where that is possible. R-hat is the worst over
nine points of the density, and "between" the L1 distance of the two chains' mean densities: where that is as large as
the error, the error is that of the chain as much as of the mechanism.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import privmix
from benchmarks.shared import BOUNDS, summarise_density, truncated_normals
from privmix import mechanisms, samplers
from privmix.baselines import proper
from privmix.studies.shared.measures import l1_error
from privmix.studies.shared.targets import THREE_NORMALS

GRID = np.linspace(*BOUNDS, 1001)
TARGET = THREE_NORMALS.density(GRID)
POINTS = np.arange(-8.0, 9.0, 2.0)
# A chain whose worst R-hat is above this is flagged.
CONVERGED = 1.05

PAPER, COUNTS = samplers.Neal5(), samplers.Binned(bins=256)
IMPUTE = samplers.Neal5(exact=True, update="impute")
NAMES = {PAPER: "Neal5", COUNTS: "Binned", IMPUTE: "Neal5 exact, impute"}

# Sweeps of a chain, half of them warm-up: about 40 CPU seconds each
Runs = dict[samplers.Sampler, int]
PLAN: dict[str, Runs] = {
    "Laplace": {PAPER: 3_000, COUNTS: 24_000},
    "HaarWavelet": {PAPER: 1_500, IMPUTE: 120},
    "SquareWave": {PAPER: 3_000, COUNTS: 10_000},
    "RandomizedResponse": {PAPER: 3_000, COUNTS: 20_000},
}


MECHANISMS: dict[str, Callable[..., mechanisms.LocalMechanism]] = {
    "Laplace": mechanisms.Laplace,
    "HaarWavelet": partial(mechanisms.HaarWavelet, 4),
    "SquareWave": mechanisms.SquareWave,
    "RandomizedResponse": partial(mechanisms.RandomizedResponse, 16),
}


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Return the L1 distance of two densities on the grid."""
    return l1_error(a, b, GRID)


def measure(name: str, sampler: samplers.Sampler, sweeps: int, records: int, epsilon: float, seed: int) -> None:
    """Fit one release with one sampler and print what came out."""
    mechanism = MECHANISMS[name](epsilon=epsilon, bounds=BOUNDS)
    z = mechanism.privatize(truncated_normals(records, seed), seed=np.random.default_rng(100 + seed))
    thin = max(1, sweeps // 1000)
    settings: dict[str, Any] = {"sampler": sampler, "seed": seed, "allocations": False}
    with ThreadPoolExecutor(1) as one:
        privmix.fit(z[:100], mechanism, draws=2, warmup=1, thin=1, chains=1, executor=one, **settings)  # compiles
        clock = time.process_time()
        posterior = privmix.fit(
            z, mechanism, draws=sweeps // 2 // thin, warmup=sweeps // 2, thin=thin, chains=2, executor=one, **settings
        )
        seconds = time.process_time() - clock
    values = posterior.density_draws(POINTS).values
    r_hat = summarise_density(values, POINTS)["r_hat"].max(skipna=False)
    chains = [proper(mean, GRID) for mean in posterior.density_draws(GRID).values.mean(axis=1)]
    error = distance(np.mean(chains, axis=0), TARGET)
    apart = distance(*chains)
    alone = " ".join(f"{distance(chain, TARGET):.3f}" for chain in chains)
    clusters = posterior.n_clusters.values.mean(axis=1)
    print(
        f"{name:19} {NAMES[sampler]:24} 2 × {sweeps:5}  {seconds:6.1f} {500 * seconds / sweeps:9.1f}  {r_hat:6.2f}  "
        f"{error:.3f} ({alone})  {apart:7.3f}  {clusters[0]:4.1f} {clusters[1]:4.1f}"
        f"{'' if r_hat < CONVERGED else '  not converged'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--mechanisms", nargs="+", choices=list(PLAN), default=list(PLAN))
    parser.add_argument("--longer", type=float, default=1.0, help="run every chain this many times longer")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    uniform = distance(np.full(len(GRID), 0.05), TARGET)
    print(f"n = {options.records}, ε = {options.epsilon:g}; the uniform density has L1 {uniform:.3f}")
    print(
        f"{'mechanism':19} {'sampler':24} {'sweeps':9}  {'CPU s':>6} {'ms/sweep':>9}  {'R-hat':>6}  "
        "L1 (each chain)      between  clusters"
    )
    for name in options.mechanisms:
        for sampler, sweeps in PLAN[name].items():
            measure(name, sampler, round(sweeps * options.longer), options.records, options.epsilon, options.seed)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
