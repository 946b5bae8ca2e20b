"""Cost of truncated normal components against normal ones: a record-update, and a sweep on counts, as ratios.

Run with `python -m benchmarks.truncated`: about five minutes of one core. Section 4.1's data and |N(0, 1)| at an edge,
Laplace and Gaussian noise. Both sides of each ratio are timed in this run, interleaved. Chains of the two kernels have
clusters of their own, so their mean number stands beside the ratio: steps that look at every cluster cost in
proportion to it, and the last column is the ratio of costs for each cluster.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.shared import truncated_normals
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.engine.chains import Plan, run_chain

ROUNDS = 5
RECORDS = 1_000
SECONDS = 0.4
KERNELS = (kernels.HierarchicalNormal, kernels.TruncatedNormal)
SAMPLERS: tuple[samplers.Sampler, ...] = (
    samplers.Neal5(),
    samplers.Neal5(exact=True),
    samplers.Neal8(),
    samplers.Slice(),
    samplers.Slice(records="exact"),
    samplers.SplitMerge(samplers.Neal5(exact=True)),
    samplers.Binned(),
)


def data(name: str) -> tuple[np.ndarray, tuple[float, float]]:
    """Return records and their bounds."""
    if name == "normals":
        return truncated_normals(RECORDS, 1), (-10.0, 10.0)
    return np.minimum(np.abs(np.random.default_rng(1).standard_normal(RECORDS)), 10.0), (0.0, 10.0)


def noise(kind: str, epsilon: float, bounds: tuple[float, float]) -> mechanisms.LocalMechanism:
    """Return additive noise; the Gaussian's standard deviation is that of Laplace noise."""
    laplace = mechanisms.Laplace(epsilon=epsilon, bounds=bounds)
    return laplace if kind == "Laplace" else mechanisms.Gaussian(scale=laplace.noise_spread(), bounds=bounds)


def timed(plan: Plan, chain: Any) -> tuple[float, Any]:
    """Return the seconds of a sweep, and the chain after it."""
    clock = time.process_time()
    chain = run_chain(plan, chain.end)
    return (time.process_time() - clock) / plan.sweeps, chain


def compare(kind: str, epsilon: float, shape: str, sampler: samplers.Sampler) -> str:
    """Return a line of the table: the ratio of sweeps, the clusters of each, and the ratio for each cluster."""
    y, bounds = data(shape)
    mechanism = noise(kind, epsilon, bounds)
    z = mechanism.privatize(y, seed=2)
    models = [PrivateMixture(mechanism, cls(bounds)) for cls in KERNELS]
    chains = [run_chain(Plan(m, sampler, z, 1, 600, 50, allocations=False), np.random.SeedSequence(3)) for m in models]
    plans = []
    for k, model in enumerate(models):
        seconds, chains[k] = timed(Plan(model, sampler, z, 20, 0, 1, allocations=False), chains[k])
        plans.append(Plan(model, sampler, z, 20, 0, max(1, int(SECONDS / seconds / 20)), allocations=False))
    costs = np.zeros((2, ROUNDS))
    sizes = np.zeros((2, ROUNDS))
    for r in range(ROUNDS):
        for k in range(2):
            costs[k, r], chains[k] = timed(plans[k], chains[k])
            sizes[k, r] = clusters_of(chains[k])
    old, new = np.median(costs, axis=1)
    ratio, many = new / old, sizes.mean(axis=1)
    return (
        f"{kind:8} ε = {epsilon:<4g} {shape:8} {sampler!r:62.62} {1e6 * old:9.1f} µs {1e6 * new:9.1f} µs "
        f"{ratio:5.2f}   {many[0]:5.1f} {many[1]:5.1f}   {ratio * many[0] / many[1]:5.2f}"
    )


def clusters_of(chain: Any) -> float:
    """Return the mean number of clusters over the draws of a chain."""
    return float(np.mean(chain.draws.n_clusters))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="run the lines that hold all of these words")
    words = parser.parse_args().words
    print("noise, data, sampler; a sweep of 1,000 records with normal and with truncated components; their ratio;")
    print("clusters of each; ratio for each cluster")
    for kind in ("Laplace", "Gaussian"):
        for epsilon in (1.0, 10.0, 50.0):
            for shape in ("normals", "edge"):
                for sampler in SAMPLERS:
                    if all(word in f"{kind} {epsilon:g} {shape} {sampler!r}" for word in words):
                        print(compare(kind, epsilon, shape, sampler), flush=True)


if __name__ == "__main__":
    main()
