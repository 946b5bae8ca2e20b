"""What a sweep on counts costs with very many records, beside a thousand: after warm-up, of chains that have arrived.

`python -m benchmarks.sweeps` prints, for each mechanism and target of `benchmarks.mixing`, milliseconds of CPU a sweep
at each number of records, their ratio to those of the fewest, and what makes them: clusters, stiff combinations, sticks
that move, and the step. Chains go on by turns, so that a machine that others use slows all of them alike.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np

import privmix
from benchmarks.mixing import MECHANISMS, counts_of
from privmix import samplers
from privmix.engine.block import stack_draws
from privmix.engine.chains import Plan, run_chain
from privmix.mechanisms import Counted

WARMUP, TURNS, SWEEPS_A_TURN = {"Lifted": 1500, "Binned": 2000}, 8, 100
REPORTED = ("acceptance", "failed", "step", "stiff", "sticks_moved")


class Chain:
    """A chain that has warmed up, what its sweeps cost and what it reported."""

    def __init__(self, sampler: str, mechanism: str, target: str, n: float, seed: int):
        counted = Counted(MECHANISMS[mechanism]())
        self.sampler: Any = getattr(samplers, sampler)()
        model = privmix.default_model(counted)
        warm = Plan(model, self.sampler, counts_of(counted, target, n, 1), 1, WARMUP[sampler], 1, allocations=False)
        self.end = run_chain(warm, np.random.SeedSequence(seed)).end
        self.plan = replace(warm, warmup=0)
        self.seconds: list[float] = []
        self.pieces: list[Any] = []

    def go_on(self) -> None:
        """Make the sweeps of a turn: one is made apart, and what it took, most of it to begin, does not count."""
        self.seconds.append(self.run(1 + SWEEPS_A_TURN) - self.run(1))

    def run(self, sweeps: int) -> float:
        """Make some sweeps and keep the last; return the seconds of CPU."""
        began = time.process_time()
        chain = run_chain(replace(self.plan, thin=sweeps), self.end)
        seconds = time.process_time() - began
        self.end = chain.end
        self.pieces.extend(chain.pieces)
        return seconds

    def milliseconds(self) -> float:
        """Return what a sweep costs: of the middle turn."""
        return 1e3 * float(np.median(self.seconds)) / SWEEPS_A_TURN


def report(chains: list[Chain]) -> str:
    """Return what makes the cost."""
    drawn = stack_draws([chain.pieces for chain in chains])
    means = dict(zip(chains[0].sampler.statistics, drawn.statistic.mean(axis=(0, 1)), strict=True))
    told = "  ".join(f"{name} {means[name]:.2f}" for name in REPORTED if name in means)
    return f"clusters {drawn.n_clusters.mean():5.1f}  {told}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=float, nargs="+", default=[1e3, 1e9])
    parser.add_argument("--mechanisms", nargs="+", default=list(MECHANISMS))
    parser.add_argument("--targets", nargs="+", default=["normals", "skewed"])
    parser.add_argument("--samplers", nargs="+", default=list(WARMUP))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    for sampler, mechanism, target in itertools.product(options.samplers, options.mechanisms, options.targets):
        compare(sampler, mechanism, target, options.records, options.seeds)


def compare(sampler: str, mechanism: str, target: str, records: list[float], seeds: list[int]) -> None:
    """Print what a sweep costs at each number of records."""
    chains = {n: [Chain(sampler, mechanism, target, n, seed) for seed in seeds] for n in records}
    for _ in range(TURNS):
        for chain in itertools.chain.from_iterable(chains.values()):
            chain.go_on()
    cost = {n: float(np.mean([chain.milliseconds() for chain in found])) for n, found in chains.items()}
    for n, found in chains.items():
        print(
            f"{sampler:7} {mechanism:10} {target:8} {n:7.0e}  {cost[n]:5.2f} ms a sweep, "
            f"{cost[n] / cost[records[0]]:4.2f} times  {report(found)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
