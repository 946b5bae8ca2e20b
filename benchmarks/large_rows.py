"""Many records of several columns, numbers and categories: seconds, peak memory and R-hat.

`python -m benchmarks.large_rows noise` fits records whose columns have noise added; `cells` fits columns of few
outputs, `--rows` of them, in two chains on two threads.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import privmix
from privmix import mechanisms

AGES, INCOMES, SEXES = (0.0, 100.0), (0.0, 10.0), ("f", "m")
MECHANISMS = {
    "noise": mechanisms.Each(
        age=mechanisms.Laplace(epsilon=4.0, bounds=AGES),
        income=mechanisms.SquareWave(epsilon=4.0, bounds=INCOMES),
        sex=mechanisms.RandomizedResponse(categories=SEXES, epsilon=2.0),
    ),
    "cells": mechanisms.Each(
        age=mechanisms.RandomizedResponse(cells=16, epsilon=4.0, bounds=AGES),
        income=mechanisms.RandomizedResponse(cells=16, epsilon=4.0, bounds=INCOMES),
        sex=mechanisms.RandomizedResponse(categories=SEXES, epsilon=2.0),
    ),
}


def people(n: int, seed: int) -> np.ndarray:
    """Return rows of age, income and sex (by its place) of two groups of people."""
    rng = np.random.default_rng(seed)
    young = rng.random(n) < 0.4
    age = np.where(young, rng.normal(30.0, 5.0, n), rng.normal(60.0, 8.0, n))
    income = np.where(young, rng.normal(2.0, 0.5, n), rng.normal(5.0, 1.0, n))
    sex = np.where(rng.random(n) < np.where(young, 0.8, 0.3), 0.0, 1.0)
    return np.column_stack([age.clip(*AGES), income.clip(*INCOMES), sex])


def main() -> None:
    """Fit the data and print what it took and whether the chains agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=list(MECHANISMS))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sweeps", type=int, default=800)
    asked = parser.parse_args()
    mechanism = MECHANISMS[asked.case]
    z = mechanism.privatize(people(asked.rows, 1), seed=2)
    half = asked.sweeps // 2
    privmix.fit(z[:600], mechanism, draws=2, warmup=2, thin=1, chains=2, seed=3, progress=False)  # compiles
    began, cpu = time.perf_counter(), time.process_time()
    fit = privmix.fit(
        z, mechanism, draws=half, warmup=half, thin=1, chains=2, seed=3, allocations=False, progress=False
    )
    wall, used = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{asked.case}: {asked.rows:,} rows, 2 chains of {asked.sweeps} sweeps by {fit.sampler!r}")
    print(f"{wall:.0f} s, {used:.0f} s of CPU ({used / 2 / asked.sweeps:.4f} s a sweep), {peak:.2f} GB")
    points = {"age": [30.0, 45.0, 60.0], "income": [2.0, 5.0], "sex": list(SEXES)}
    print(fit.summary(at=points)[["mean", "sd", "ess_bulk", "r_hat"]].to_string())


if __name__ == "__main__":
    main()
