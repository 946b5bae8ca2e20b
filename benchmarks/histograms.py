"""A noisy histogram of 64 bins at ε = 1: do the bands cover, and what does the model gain over the counts themselves?

Run with `python -m benchmarks.histograms`: about ten minutes of one core for 100 data sets of 100,000 records. A mixing
measure is drawn from the model's own prior, records from it, and their noisy histogram is released. The kernel is
normal with a base measure that keeps well inside the bounds, or with `--kernel beta` the beta on them, at ten times the
cost of a sweep. Coverage is the share of (grid point, data set) pairs in which a pointwise 95% band holds the true
density. The error is ∫|estimate − truth| over the bounds, for the posterior mean, for the noisy counts made a density
(negative counts set to 0), and for a normal kernel estimate of those counts with Silverman's bandwidth. All three
and the truth are normalised on the bounds.

`--cost` times a sweep at n = 1,000 and at n = 1,000,000 instead; `--agreement` compares the posterior means of all
samplers at n = 1,000 in units of their joint Monte Carlo errors.
"""

from __future__ import annotations

import argparse
import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.shared import BOUNDS, clipped_normals, summarise_density
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.curves.density import density_draws
from privmix.curves.predictive import draw_records
from privmix.curves.prior import prior_draws

BINS, EPSILON, LEVEL = 64, 1.0, 0.95
GRID = BOUNDS[0] + (BOUNDS[1] - BOUNDS[0]) * (np.arange(200) + 0.5) / 200


def model_of(records: int, kernel: str = "normal") -> PrivateMixture:
    mechanism = mechanisms.NoisyHistogram(records, BINS, epsilon=EPSILON, bounds=BOUNDS)
    chosen = kernels.Beta(bounds=BOUNDS) if kernel == "beta" else kernels.Normal(0.0, 0.25, 3.0, 3.0)
    return PrivateMixture(mechanism, chosen)


def normalised(values: np.ndarray) -> np.ndarray:
    return values / (values.mean() * (BOUNDS[1] - BOUNDS[0]))


def distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean(np.abs(a - b)) * (BOUNDS[1] - BOUNDS[0]))


def of_counts(release: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the counts as a density on the grid."""
    return normalised(np.maximum(release, 0.0)[np.searchsorted(edges[1:-1], GRID, side="right")] + 1e-300)


def of_kernel(release: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return a normal kernel estimate of the counts on the grid."""
    weight, middle = np.maximum(release, 0.0), 0.5 * (edges[1:] + edges[:-1])
    weight = weight / weight.sum()
    mean = weight @ middle
    sd = np.sqrt(weight @ (middle - mean) ** 2)
    width = max(1.06 * sd * len(GRID) ** -0.2, edges[1] - edges[0])
    return normalised(np.exp(-0.5 * ((GRID[:, None] - middle) / width) ** 2) @ weight + 1e-300)


def measure(seed: int, records: int, draws: int, thin: int, kernel: str) -> dict[str, float]:
    model = model_of(records, kernel)
    rng = np.random.default_rng([seed, 1])
    mixing = prior_draws(model, 1, rng, remainder=1e-6)
    y = draw_records(model.kernel, mixing, np.zeros(records, np.int64), np.zeros(records), rng)
    truth = density_draws(model.kernel, mixing, GRID)[0, 0]
    release = model.mechanism.perturb(rng, y)
    with ThreadPoolExecutor(1) as one:
        posterior = model.sample(
            release, samplers.Binned(), draws=draws, warmup=draws, thin=thin, chains=2, seed=[seed, 2], executor=one
        )
    band = posterior.density(GRID, level=LEVEL)
    edges = model.mechanism.edges
    inside = (band["lower"].values <= truth) & (truth <= band["upper"].values)
    shape = normalised(truth)
    return {
        "covered": float(inside.mean()),
        "posterior mean": distance(normalised(band["mean"].values), shape),
        "normalised counts": distance(of_counts(release, edges), shape),
        "kernel estimate": distance(of_kernel(release, edges), shape),
        "R-hat": float(posterior.summary().filter(like="density", axis=0)["r_hat"].max()),
    }


def report(rows: list[dict[str, float]]) -> None:
    covered = np.array([row["covered"] for row in rows])
    error = covered.std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else float("nan")
    print(f"{len(rows)} data sets; 95% pointwise bands cover {covered.mean():.1%} ({error:.1%})   goal 90–99%")
    for name in ("posterior mean", "normalised counts", "kernel estimate"):
        values = np.array([row[name] for row in rows])
        print(f"  L1 error of the {name:18} median {np.median(values):.4f}   mean {values.mean():.4f}")
    worst = np.array([row["R-hat"] for row in rows])
    print(f"  worst R-hat of the density: median {np.median(worst):.3f}, 90% quantile {np.quantile(worst, 0.9):.3f}")


def cost(records: int, sweeps: int) -> float:
    """Return CPU seconds of a sweep on Section 4.1's data."""
    rng = np.random.default_rng(1)
    y = clipped_normals(records, rng)
    model = model_of(records)
    release = model.mechanism.perturb(rng, y)
    with ThreadPoolExecutor(1) as one:
        settings = {"chains": 1, "seed": 1, "executor": one}
        model.sample(release, samplers.Binned(), draws=1, warmup=1, thin=1, **settings)
        clock = time.process_time()
        model.sample(release, samplers.Binned(), draws=1, warmup=sweeps, thin=1, **settings)
        return (time.process_time() - clock) / sweeps


# Sweeps for each kept draw, so that all samplers take a similar time
SAMPLERS = {
    "Neal5": (samplers.Neal5(), 20),
    "Slice": (samplers.Slice(), 20),
    "Slice, exact records": (samplers.Slice(records="exact"), 10),
    "Binned": (samplers.Binned(), 10),
}


def agreement(draws: int) -> None:
    """Print the mean density by every sampler, and the largest distance between two in joint errors."""
    rng, points = np.random.default_rng(3), np.linspace(-8.0, 8.0, 9)
    y = clipped_normals(1000, rng)
    found = {}
    for mechanism in (
        mechanisms.NoisyHistogram(1000, 32, epsilon=1.0, bounds=BOUNDS),
        mechanisms.SmoothedHistogram(1000, 32, 200, epsilon=200.0, bounds=BOUNDS),
    ):
        model = PrivateMixture(mechanism, kernels.Normal(0.0, 0.25, 3.0, 3.0))
        release = mechanism.perturb(rng, y)
        for name, (sampler, thin) in SAMPLERS.items():
            settings = {"draws": draws, "warmup": draws * thin // 4, "thin": thin, "chains": 4, "seed": 1}
            with ThreadPoolExecutor(1) as one:
                posterior = model.sample(release, sampler, executor=one, **settings)
            values = posterior.density_draws(points).values
            table = summarise_density(values, points)
            found[name] = table["mean"].to_numpy(), (table["sd"] / np.sqrt(table["ess_bulk"])).to_numpy()
            numbers = " ".join(f"{value:.4f}" for value in table["mean"])
            clusters = float(posterior.n_clusters.mean())
            print(
                f"{type(mechanism).__name__:18} {name:21} {numbers}  R-hat {table['r_hat'].max():.3f}  K {clusters:.2f}"
            )
        pairs = itertools.combinations(found, 2)
        gaps = [np.abs(found[a][0] - found[b][0]) / np.hypot(found[a][1], found[b][1]) for a, b in pairs]
        gaps = np.array(gaps)
        print(
            f"  {gaps.size} comparisons, largest {gaps.max():.2f} joint errors, {int((gaps > 3).sum())} above 3",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--data-sets", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--thin", type=int, default=8)
    parser.add_argument("--kernel", choices=["normal", "beta"], default="normal")
    parser.add_argument("--cost", action="store_true", help="time a sweep at n = 1e3 and n = 1e6")
    parser.add_argument("--agreement", action="store_true", help="compare the samplers at n = 1,000")
    options = parser.parse_args()
    if options.agreement:
        agreement(options.draws)
        return
    if options.cost:
        pairs = [(cost(1_000, 3000), cost(1_000_000, 3000)) for _ in range(3)]
        for small, large in pairs:
            print(
                f"a sweep: {small * 1e3:.3f} ms at n = 1e3, {large * 1e3:.3f} ms at n = 1e6: ratio {large / small:.2f}"
            )
        return
    clock = time.process_time()
    seeds = range(options.first, options.first + options.data_sets)
    report([measure(seed, options.records, options.draws, options.thin, options.kernel) for seed in seeds])
    print(f"  {time.process_time() - clock:.0f} CPU seconds")


if __name__ == "__main__":
    main()
