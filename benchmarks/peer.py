"""Effective draws of the density per CPU second against NumPyro's NUTS on the same model: `python -m benchmarks.peer`.

The paper's Section 4.1 at ε = 10, its base measure, concentration 1; NumPyro's sticks are cut off at 20 components. The
least bulk effective sample size of the density over three points, divided by CPU seconds of the whole process, all
threads and children, warm-up included.

- cold: a new process from its start, nothing compiled;
- later: the next process, which finds what privmix left in numba's cache on disk (NumPyro leaves nothing);
- warm: a second fit in the same process, with another seed.

A rate that counts the start depends on the length of the run, so the CPU seconds until 400 effective draws are told
too: the start and 400 over the warm rate. R-hat and the posterior means are over the chains of the cold and the warm
fit. One thread each. Needs `pip install 'privmix[numpyro]'`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

POINTS = np.array([-5.0, 0.0, 5.0])
OURS, PEER, DEFAULT = "privmix, Section 4.1's model", "NumPyro, Section 4.1's model", "privmix.fit, its own model"
WANTED = 400
WHEN = ("cold", "later", "warm")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children since its start."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def sweeps(n: int) -> dict[str, int]:
    """Return the sizes of our chains: those of privmix.fit from 1,000 records on, up to five times as long below."""
    thin = min(25, max(5, 5000 // n))
    return {"draws": 2000, "warmup": 400 * thin, "thin": thin, "chains": 4}


def fitter(method: str, n: int, warmup: int, draws: int):
    """Return a function of a seed that fits and returns the density at the points in every draw."""
    from privmix import PrivateMixture, fit
    from privmix.baselines import NumPyroMixture
    from privmix.studies.laplace import KERNEL, data

    _, z, mechanism = data(n, 10.0, 0)
    if method == PEER:
        baseline = NumPyroMixture(KERNEL, draws=draws, warmup=warmup, chains=2)
        compiled = baseline.compile(mechanism)
        return lambda seed: replace(baseline, seed=seed).run(compiled, z, mechanism).density_draws(POINTS)

    def ours(seed: int) -> np.ndarray:
        with ThreadPoolExecutor(1) as one:
            settings = {**sweeps(n), "seed": seed, "executor": one, "allocations": False}
            if method == DEFAULT:
                return fit(z, mechanism, **settings).density_draws(POINTS).values
            return PrivateMixture(mechanism, KERNEL).sample(z, **settings).density_draws(POINTS).values

    return ours


def table(values: np.ndarray):
    """Return the library's summary of the density at each point."""
    from benchmarks.shared import summarise_density

    return summarise_density(values, POINTS)


def in_this_process(method: str, n: int, warmup: int, draws: int, fits: int) -> dict:
    """Fit once or twice; return the figures of the fits."""
    run = fitter(method, n, warmup, draws)
    first = run(1)
    start = cpu_seconds()
    if fits == 1:
        return {"cold": {"seconds": start, "ess": float(table(first)["ess_bulk"].min())}}
    second = run(2)
    end = cpu_seconds()
    both = table(np.concatenate([first, second]))
    return {
        "cold": {"seconds": start, "ess": float(table(first)["ess_bulk"].min())},
        "warm": {"seconds": end - start, "ess": float(table(second)["ess_bulk"].min())},
        "draws": second.shape[0] * second.shape[1],
        "r_hat": float(both["r_hat"].max()),
        "mean": both["mean"].tolist(),
        "error": (both["sd"] / np.sqrt(both["ess_bulk"])).tolist(),
    }


def in_new_process(method: str, n: int, sizes: list[int]) -> dict:
    """Run `in_this_process` in a process of its own, with an empty cache for numba and none for JAX; ours twice."""
    command = [sys.executable, "-m", "benchmarks.peer", "--child", method, str(n), *map(str, sizes)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **ONE_THREAD, "NUMBA_CACHE_DIR": folder, "JAX_ENABLE_COMPILATION_CACHE": "false"}
        found = []
        for fits in [2] if method == PEER else [2, 1]:
            done = subprocess.run([*command, str(fits)], env=environment, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    return {**found[0], "later": found[-1]["cold"]}


def report(n: int, found: dict[str, dict]) -> list[str]:
    """Print what is not in the table; return its rows."""
    rows, rates, until = [], {}, {}
    for name, one in found.items():
        rates[name] = {k: one[k]["ess"] / one[k]["seconds"] for k in WHEN}
        starts = {k: max(one[k]["seconds"] - one["warm"]["seconds"], 0.0) for k in WHEN}
        until[name] = {k: starts[k] + WANTED / rates[name]["warm"] for k in WHEN}
        cells = [f"{one[k]['ess']:.0f} in {one[k]['seconds']:.1f} s = {rates[name][k]:.3g}" for k in WHEN]
        seconds = ", ".join(f"{until[name][k]:.3g}" for k in WHEN)
        draws = f"{one['draws'] / one['warm']['seconds']:.0f}"
        rows.append(f"| {n:,} | {name} | {' | '.join(cells)} | {seconds} | {draws} | {one['r_hat']:.3f} |")
        print(f"n = {n:,}, {name}: mean density {np.round(one['mean'], 4)}, errors {np.round(one['error'], 5)}")
    for name in (OURS, DEFAULT):
        faster = ", ".join(f"{k} {rates[name][k] / rates[PEER][k]:.3g}" for k in WHEN)
        sooner = ", ".join(f"{k} {until[PEER][k] / until[name][k]:.3g}" for k in WHEN)
        print(
            f"n = {n:,}, {name} against NumPyro: effective draws per CPU second {faster}; CPU until {WANTED} {sooner}"
        )
    gap = np.subtract(found[OURS]["mean"], found[PEER]["mean"]) / np.hypot(found[OURS]["error"], found[PEER]["error"])
    print(f"n = {n:,}: on the same model the means differ by at most {np.abs(gap).max():.2f} joint errors", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--sizes", type=int, nargs=2, default=[250, 250], help="warm-up and draws of a chain of NUTS")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(in_this_process(options.child[0], *map(int, options.child[1:]))))
        return
    rows = []
    for n in options.records:
        rows += report(n, {name: in_new_process(name, n, options.sizes) for name in (OURS, PEER, DEFAULT)})
    kinds = " | ".join(f"{k}: ESS per CPU s" for k in WHEN)
    print(f"\n| n | | {kinds} | CPU s until {WANTED} ({', '.join(WHEN)}) | draws per CPU s, warm | R-hat |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
