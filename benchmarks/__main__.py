"""Print the cost of a record-update in units of one standard-normal draw, and the cost of starting up.

Both sides of each ratio are timed in this run, interleaved, so that a busy machine slows both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy as np

from benchmarks.shared import BOUNDS, clipped_normals
from privmix import PrivateMixture, mechanisms, samplers
from privmix.engine.chains import Plan, run_chain

ROUNDS = 7


@numba.njit(cache=True)
def add_normals(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.standard_normal()
    return total


def normal_seconds(draws: int = 5_000_000) -> float:
    """Return the seconds of one standard-normal draw."""
    rng = np.random.default_rng(1)
    add_normals(rng, 10)
    start = time.process_time()
    add_normals(rng, draws)
    return (time.process_time() - start) / draws


def section_4_1(n: int, epsilon: float) -> tuple[PrivateMixture, np.ndarray]:
    """Return the paper's model and a release of its data: three normals at −5, 0 and 5."""
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    return PrivateMixture(mechanism), mechanism.privatize(clipped_normals(n, np.random.default_rng(1)), seed=2)


def update_seconds(sampler: samplers.Sampler, n: int, epsilon: float, start) -> tuple[float, object]:
    """Return the seconds of one record-update of a chain past its warm-up, and the chain."""
    model, z = section_4_1(n, epsilon)
    sweeps = max(20, 2_000_000 // n)
    plan = Plan(model, sampler, z, 1, 0 if start else sweeps, sweeps, allocations=False)
    clock = time.process_time()
    chain = run_chain(plan, start or np.random.SeedSequence(3))
    return (time.process_time() - clock) / (n * sweeps), chain.end


def update_ratio(sampler: samplers.Sampler, n: int, epsilon: float) -> tuple[float, float]:
    """Return the median ratio over rounds, and the median nanoseconds of an update."""
    _, chain = update_seconds(sampler, n, epsilon, None)
    ratios, costs = [], []
    for _ in range(ROUNDS):
        unit = normal_seconds()
        cost, chain = update_seconds(sampler, n, epsilon, chain)
        ratios.append(cost / unit)
        costs.append(cost * 1e9)
    return float(np.median(ratios)), float(np.median(costs))


FIRST_FIT = """
import resource, time
start = time.perf_counter()
import numpy as np, privmix
mechanism = privmix.mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
z = mechanism.privatize(np.linspace(-9, 9, 200), seed=1)
posterior = privmix.PrivateMixture(mechanism).sample(z, draws=200, warmup=200, chains=2, seed=1)
posterior.density()
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, time.perf_counter() - start)
"""


def start_up(folder: str) -> tuple[float, float]:
    """Return CPU and wall seconds of a new process that imports the library, fits and evaluates a density."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT], env=environment, capture_output=True, text=True, check=True
    )
    cpu, wall = done.stdout.split()
    return float(cpu), float(wall)


def main() -> None:
    print(f"one standard-normal draw: {normal_seconds() * 1e9:.2f} ns")
    print("record-update, in standard-normal draws (median of rounds; ε = 10)")
    for sampler, n, goal in (
        (samplers.Neal5(), 1_000, 15),
        (samplers.Neal5(), 100_000, 30),
        (samplers.Neal5(auxiliaries=5), 1_000, None),
        (samplers.Slice(), 1_000, 40),
        (samplers.Slice(), 100_000, None),
    ):
        ratio, cost = update_ratio(sampler, n, 10.0)
        wanted = f"goal at most {goal}" if goal else "no goal"
        print(f"  {sampler!r:22} n = {n:>7,}: {ratio:5.1f}  ({cost:.0f} ns; {wanted})")
    subprocess.run([sys.executable, str(Path(__file__).with_name("own_parts.py"))], check=True)
    with tempfile.TemporaryDirectory() as folder:
        print("a process that imports, fits 200 records and evaluates the density")
        for label, goal in (("empty cache", 20), ("second process", 2)):
            cpu, wall = start_up(folder)
            print(f"  {label:14}: {cpu:5.1f} CPU-seconds, {wall:5.1f} s elapsed  (goal at most {goal} CPU-seconds)")


if __name__ == "__main__":
    main()
