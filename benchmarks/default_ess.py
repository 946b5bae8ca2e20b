"""Effective draws per CPU second of the default model against the one that was cut to the bounds, both by `Auto`.

Run with `python -m benchmarks.default_ess`: about ten minutes of one core. Data, points, chains and budget are those of
`benchmarks.ess`: the least effective sample size of the density at six points over four chains, by CPU second of all
of them, the pilot included, compilation not. Medians over data sets.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.edges import model_of
from benchmarks.ess import measure
from benchmarks.shared import BOUNDS, truncated_normals
from privmix import mechanisms, samplers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 5.0, 10.0, 50.0])
    parser.add_argument("--data-sets", type=int, default=3)
    parser.add_argument("--budget", type=float, default=2.0, help="CPU seconds of a run at n = 200")
    options = parser.parse_args()
    for n in options.records:
        for epsilon in options.epsilons:
            mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
            found: dict[str, list[dict[str, float]]] = {"cut": [], "default": []}
            for data_set in range(1, options.data_sets + 1):
                z = mechanism.privatize(truncated_normals(n, data_set), seed=np.random.default_rng(100 + data_set))
                for name, runs in found.items():
                    model, budget = model_of(mechanism, name == "cut"), options.budget * (n / 200) ** 0.5
                    runs.append(measure(model, z, samplers.Auto(), budget, data_set))
            median = {
                name: {key: float(np.median([run[key] for run in runs])) for key in ("rate", "r_hat")}
                for name, runs in found.items()
            }
            cut, default = median["cut"], median["default"]
            print(
                f"n = {n}, ε = {epsilon:g}: cut {cut['rate']:.1f} ESS/s (R-hat {cut['r_hat']:.3f}), default "
                f"{default['rate']:.1f} ({default['r_hat']:.3f}): {default['rate'] / cut['rate']:.2f}×",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
