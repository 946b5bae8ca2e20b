"""Peak memory of a density with both bands: 2,000 points from 4 × 25,000 draws of 20 atoms. Goal: below 1 GB.

Run with `python -m benchmarks.memory`: about a minute of one core. The draws are made up; only their size matters.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from privmix import Posterior, PrivateMixture, mechanisms, samplers
from privmix.engine import Chain, End, Plan
from privmix.samplers.base import Draws


def made_up(chains: int, draws: int, atoms: int) -> Posterior:
    """Return a posterior of this size whose atoms and weights are random."""
    model = PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0)))
    plan = Plan(model, samplers.Neal5(), np.zeros(10), draws, 0, 1, allocations=False)
    rng = np.random.default_rng(1)
    each = []
    for _ in range(chains):
        weight = rng.gamma(0.3, size=(draws, atoms)) + 1e-12
        atom = np.stack([rng.normal(0.0, 4.0, (draws, atoms)), 3.0 / rng.gamma(3.0, size=(draws, atoms))], axis=2)
        each.append(
            Draws(
                n_clusters=np.full(draws, 3),
                concentration=np.ones(draws),
                hyper=np.zeros((draws, 0)),
                components=np.full(draws, atoms),
                weight=weight / weight.sum(axis=1, keepdims=True),
                atom=atom,
                allocation=np.zeros((draws, 0), np.int32),
                statistic=np.ones((draws, 1)),
            )
        )
    done = [Chain([one], End(None, rng, 0.0)) for one in each]
    return Posterior.from_chains(plan, done, seed="1", complete=1)


def peak() -> float:
    """Return the largest memory that this process has held, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=25_000)
    options = parser.parse_args()
    posterior = made_up(4, options.draws, 20)
    posterior.density([0.0, 1.0])  # compiles
    before, clock = peak(), time.process_time()
    posterior.density(np.linspace(-10.0, 10.0, options.points))
    seconds = time.process_time() - clock
    print(f"{options.points} points, 4 × {options.draws:,} draws, 20 atoms: {seconds:.0f} CPU seconds")
    print(f"peak {peak():.0f} MB, {before:.0f} MB before the density")


if __name__ == "__main__":
    main()
