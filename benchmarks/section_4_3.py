"""The paper's Section 4.3, Gaussian noise: do all samplers agree, and which mixes best?

Run with `python -m benchmarks.section_4_3`: about seven minutes of one core.

Section 4.1's data, n = 250, δ = .1 and the conjugate model. First, the posterior mean density at nine points by every
sampler at ε = 10, each pair of samplers compared in units of their joint Monte Carlo error. Then the effective sample
size of the number of clusters per 1,000 draws, with the analytic calibration of the noise and with the classical one.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.shared import summarise_density, truncated_normals
from privmix import Posterior, PrivateMixture, mechanisms, samplers
from privmix.studies.gaussian import CALIBRATIONS, conjugate_model
from privmix.studies.shared.measures import clusters_ess

RECORDS, DELTA = 250, 0.1
POINTS = np.arange(-8.0, 9.0, 2.0)
# Sweeps for each kept draw, so that every sampler reaches an error of a few per cent in 10 to 40 CPU seconds
AGREEING: dict[str, tuple[samplers.Sampler, int]] = {
    "Neal2": (samplers.Neal2(), 4),
    "Neal3": (samplers.Neal3(), 2),
    "Neal8": (samplers.Neal8(), 6),
    "Slice": (samplers.Slice(), 100),
    "Neal5": (samplers.Neal5(), 60),
    "SplitMerge(Neal3)": (samplers.SplitMerge(samplers.Neal3()), 1),
    "SplitMerge(Neal5 exact)": (samplers.SplitMerge(samplers.Neal5(exact=True), proposals=1), 20),
}
# Kept draws of a chain: Neal 5 mixes more slowly and is thirty times cheaper a sweep
MIXING: dict[str, tuple[samplers.Sampler, int]] = {
    "Neal2": (samplers.Neal2(), 4_000),
    "Neal3": (samplers.Neal3(), 4_000),
    "Neal5": (samplers.Neal5(), 40_000),
}
EPSILONS = (5.0, 10.0, 25.0, 50.0)
PUBLISHED = {"Neal2": (59, 36, 43, 56), "Neal3": (59, 39, 48, 63), "Neal5": (29, 25, 11, 7)}


def mechanism_at(epsilon: float, calibration: str) -> mechanisms.Gaussian:
    """Return Gaussian noise with one of the two calibrations."""
    return CALIBRATIONS[calibration].use(epsilon, DELTA)


def run(model: PrivateMixture, z: np.ndarray, sampler: samplers.Sampler, **settings: Any) -> tuple[Posterior, float]:
    """Return the posterior and its CPU seconds, all chains in one thread."""
    clock = time.process_time()
    with ThreadPoolExecutor(1) as one:
        posterior = model.sample(z, sampler, executor=one, allocations=False, **settings)
    return posterior, time.process_time() - clock


def agreement(epsilon: float, draws: int, factor: int, seed: int) -> None:
    """Print the mean density by every sampler, and how far apart the samplers are."""
    mechanism = mechanism_at(epsilon, "analytic")
    model, z = (
        conjugate_model(mechanism),
        mechanism.privatize(truncated_normals(RECORDS, seed), seed=np.random.default_rng(100 + seed)),
    )
    print(f"Agreement at ε = {epsilon:g}: noise {mechanism.scale:.3f}, 4 chains of {draws} kept draws")
    header = "".join(f"{x:>9g}" for x in POINTS)
    print(f"  {'mean density (error below) at':32}{header}   ESS≥  R-hat≤  clusters  CPU s")
    found = {}
    for name, (sampler, thin) in AGREEING.items():
        run(model, z, sampler, draws=10, warmup=10, chains=1, seed=seed)  # compiles
        sweeps = {"thin": thin * factor, "warmup": draws * thin * factor // 4}
        posterior, seconds = run(model, z, sampler, draws=draws, chains=4, seed=seed, **sweeps)
        values = posterior.density_draws(POINTS).values
        table = summarise_density(values, POINTS)
        error = (table["sd"] / np.sqrt(table["ess_bulk"])).to_numpy()
        found[name] = table["mean"].to_numpy(), error
        numbers = "".join(f"{value:9.5f}" for value in table["mean"])
        clusters = float(posterior.n_clusters.mean())
        tail = f"{table['ess_bulk'].min():7.0f}  {table['r_hat'].max():6.4f}  {clusters:8.3f}  {seconds:5.1f}"
        print(f"  {name + f', thin {thin * factor}':32}{numbers}{tail}", flush=True)
        print(f"  {'':32}{''.join(f'{value:9.5f}' for value in error)}", flush=True)
    compare(found)


def compare(found: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Print the differences of all pairs of samplers at all points, in joint Monte Carlo errors."""
    distance = {
        (a, b): (found[a][0] - found[b][0]) / np.hypot(found[a][1], found[b][1])
        for a, b in itertools.combinations(found, 2)
    }
    every = np.abs(np.array(list(distance.values())))
    pair = list(distance)[int(np.argmax(every.max(axis=1)))]
    where = POINTS[int(np.argmax(np.abs(distance[pair])))]
    print(
        f"  {every.size} comparisons: largest {every.max():.2f} joint errors ({' and '.join(pair)} at {where:g}), ",
        end="",
    )
    print(f"{int((every > 3.0).sum())} above 3 (normal errors: {0.0027 * every.size:.1f} by chance), ", end="")
    print(f"root mean square {math.sqrt(np.mean(every**2)):.2f}")
    relative = {name: float(np.max(error / mean)) for name, (mean, error) in found.items()}
    print("  largest relative error: " + ", ".join(f"{name} {value:.1%}" for name, value in relative.items()))


def mixing(calibration: str, data_sets: int, factor: int) -> None:
    """Print the effective sample size of the number of clusters per 1,000 draws: median and range over data sets."""
    print(
        f"ESS of the number of clusters per 1,000 draws, {calibration} noise, median of {data_sets} data sets (range)"
    )
    scales = ", ".join(f"{mechanism_at(epsilon, calibration).scale:.2f}" for epsilon in EPSILONS)
    print(f"  noise {scales} at ε = {', '.join(f'{epsilon:g}' for epsilon in EPSILONS)}")
    for name, (sampler, draws) in MIXING.items():
        cells, total = [], 0.0
        for epsilon in EPSILONS:
            rates = []
            mechanism = mechanism_at(epsilon, calibration)
            for seed in range(1, data_sets + 1):
                z = mechanism.privatize(truncated_normals(RECORDS, seed), seed=np.random.default_rng(100 + seed))
                kept = draws * factor
                posterior, seconds = run(
                    conjugate_model(mechanism),
                    z,
                    sampler,
                    draws=kept,
                    warmup=max(1_000, kept // 10),
                    chains=2,
                    seed=seed,
                )
                rates.append(clusters_ess(posterior))
                total += seconds
            cells.append(f"{np.median(rates):5.1f} ({min(rates):.1f}–{max(rates):.1f})")
        published = " ".join(str(value) for value in PUBLISHED[name])
        print(
            f"  {name}  {'  '.join(f'{cell:18}' for cell in cells)} published {published}  {total:.0f} CPU s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=["agreement", "mixing"], default=["agreement", "mixing"])
    parser.add_argument("--epsilon", type=float, default=10.0, help="where the samplers are compared")
    parser.add_argument("--draws", type=int, default=4_000, help="kept draws of a chain for the comparison")
    parser.add_argument("--longer", type=int, default=1, help="run everything this many times longer")
    parser.add_argument("--data-sets", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if "agreement" in options.parts:
        agreement(options.epsilon, options.draws, options.longer, options.seed)
    if "mixing" in options.parts:
        for calibration in ("analytic", "classical"):
            mixing(calibration, options.data_sets, options.longer)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
