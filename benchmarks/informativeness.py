"""Is a release told from noise? Hellinger distance from the prior against its null range, for several ε.

Run with `python -m benchmarks.informativeness`: about a minute of one core.

Section 4.1's data, n = 200, Laplace noise on bounds (−10, 10), the model of `privmix.fit` or, with `--model paper`, the
paper's. For each ε the null range is made
once, from 20 releases without information, because it does not depend on the data; then ten data sets are measured
against it.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.shared import BOUNDS, truncated_normals
from privmix import PrivateMixture, fit, mechanisms
from privmix.checks.informativeness import Yardstick, judge
from privmix.engine import Plan

RECORDS = 200


def measure(epsilon: float, options: argparse.Namespace) -> str:
    """Return a row of the table."""
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    clock = time.process_time()
    sweeps = {name: getattr(options, name) for name in ("draws", "warmup", "thin")}
    with ThreadPoolExecutor(1) as one:
        fits = []
        for data_set in range(1, options.data_sets + 1):
            z = mechanism.privatize(truncated_normals(RECORDS, data_set), seed=np.random.default_rng(100 + data_set))
            settings = {**sweeps, "seed": data_set, "chains": options.chains, "executor": one}
            paper = options.model == "paper"
            fits.append(PrivateMixture(mechanism).sample(z, **settings) if paper else fit(z, mechanism, **settings))
        yardstick = Yardstick.of(fits[0], np.random.default_rng(options.seed))
        short = Plan(fits[0].model, fits[0].sampler, fits[0].plan.z, *sweeps.values(), allocations=False)
        seeds = np.random.SeedSequence([options.seed, int(1000 * epsilon)]).spawn(options.null)
        null = np.array([yardstick.null_distance(short, options.chains, seed, one) for seed in seeds])
    found = [judge(yardstick.distance(each.arrays), null) for each in fits]
    distances = np.array([each.distance for each in found])
    outside, seconds = sum(each.informative for each in found), time.process_time() - clock
    return (
        f"| {epsilon:g} | {null.min():.3f}–{null.max():.3f} | {found[0].null_upper:.3f} | {np.median(distances):.3f} "
        f"({distances.min():.3f}–{distances.max():.3f}) | {outside} of {len(found)} | {seconds:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 1.0, 5.0, 10.0, 50.0])
    parser.add_argument("--model", choices=["fit", "paper"], default="fit")
    parser.add_argument("--data-sets", type=int, default=10)
    parser.add_argument("--null", type=int, default=20)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--thin", type=int, default=5)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| ε | null range | null upper | distance, median (range) | informative | CPU s |")
    print("|---|---|---|---|---|---|")
    for epsilon in options.epsilon:
        print(measure(epsilon, options), flush=True)


if __name__ == "__main__":
    main()
