"""Data that do not vanish at the bounds: does the default tell the mass and the density there?

Run with `python -m benchmarks.edges`: some ten minutes of one core. `--cut` fits normal components that are cut to the
bounds instead, which was the default once.

- Half-normal: Y = |N(0, 1)|, bounds (0, 10), Laplace noise at ε = 10, n = 20,000, ten data sets. How many 95% intervals
  hold E[Y] = .798, P(Y < .5) = .383 and the density at 0, .798; `--longer 10` has chains ten times as long.
- Incomes of `data/pums_ca_1000.csv` from 0 to 200,000 (higher ones are clipped), 12% of them exactly 0; a noisy
  histogram of 50 bins of 4,000 at ε = 1, ten releases. P(Y < 4,000) and P(Y > 196,000) against the shares of the data,
  and what `check()` says of the fit to the release.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path

import numpy as np

from privmix import PrivateMixture, default_model, kernels, mechanisms

FILE = Path(__file__).parent / "data" / "pums_ca_1000.csv"
# Of the half-normal, whose records are many; incomes have the chains of `privmix.fit`.
CHAINS: dict[str, int] = {"draws": 1000, "warmup": 1000, "thin": 4, "chains": 2}


def model_of(mechanism: mechanisms.Mechanism, cut: bool) -> PrivateMixture:
    if not cut:
        return default_model(mechanism)
    return PrivateMixture(mechanism, kernels.HierarchicalNormal(mechanism.bounds), restricted_to=mechanism.bounds)


def interval(answer) -> tuple[float, float, float]:
    return float(answer["mean"]), float(answer["lower"]), float(answer["upper"])


def half_normal(cut: bool, sets: int, longer: int) -> None:
    top = math.sqrt(2.0 / math.pi)
    truth = {"E[Y]": top, "P(Y < .5)": math.erf(0.5 / math.sqrt(2.0)), "f(0)": top}
    chains = {**CHAINS, "warmup": longer * CHAINS["warmup"], "thin": longer * CHAINS["thin"]}
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=(0.0, 10.0))
    covered, at_zero = dict.fromkeys(truth, 0), []
    for replicate in range(sets):
        rng = np.random.default_rng([20_000, replicate])
        z = mechanism.privatize(np.abs(rng.standard_normal(20_000)), seed=rng)
        posterior = model_of(mechanism, cut).sample(z, seed=replicate, **chains)
        mean = posterior.moments().sel(moment="mean")
        answers = {"E[Y]": interval(mean), "P(Y < .5)": interval(posterior.probability(0.0, 0.5))}
        answers["f(0)"] = interval(posterior.density([0.0]).isel(y=0))
        at_zero.append(answers["f(0)"][0])
        for name, (middle, lower, upper) in answers.items():
            covered[name] += lower <= truth[name] <= upper
            print(f"  {replicate}: {name} {middle:.4f} [{lower:.4f}, {upper:.4f}], truth {truth[name]:.4f}", flush=True)
        print(f"  {replicate}: {worst(posterior)}", flush=True)
    shares = ", ".join(f"{name} in {count} of {sets}" for name, count in covered.items())
    near = sum(abs(value / top - 1.0) < 0.1 for value in at_zero)
    print(f"half-normal: 95% intervals hold {shares}; f(0) {min(at_zero):.3f} to {max(at_zero):.3f}, {near} within 10%")


def worst(posterior) -> str:
    table = posterior.summary().drop(index="acceptance")
    return f"{type(posterior.sampler).__name__}, worst R-hat {table['r_hat'].max():.3f}"


def incomes(cut: bool, sets: int) -> None:
    with FILE.open(newline="") as file:
        y = np.clip([float(row["income"]) for row in csv.DictReader(file)], 0.0, 200_000.0)
    mechanism = mechanisms.NoisyHistogram(len(y), 50, epsilon=1.0, bounds=(0.0, 200_000.0))
    low, high = float(np.mean(y < 4_000.0)), float(np.mean(y > 196_000.0))
    errors = []
    for replicate in range(sets):
        z = mechanism.privatize(y, seed=replicate)
        posterior = model_of(mechanism, cut).sample(z, seed=replicate)
        first = interval(posterior.probability(0.0, 4_000.0))[0]
        last = interval(posterior.probability(196_000.0, 200_000.0))[0]
        errors.append((abs(first - low), abs(last - high)))
        fit = [f"{one.level}: {one.title}" for one in posterior.check() if "release" in one.title or "bar" in one.title]
        found = f"P(Y < 4,000) {first:.3f}, P(Y > 196,000) {last:.4f}"
        print(f"  {replicate}: {found}; {worst(posterior)}; {fit}", flush=True)
    most = np.max(errors, axis=0)
    print(f"incomes: truth {low:.3f} and {high:.4f}; largest errors {most[0]:.3f} and {most[1]:.4f} in {sets} releases")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cut", action="store_true", help="normal components cut to the bounds")
    parser.add_argument("--sets", type=int, default=10, help="data sets, and releases")
    parser.add_argument("--only", choices=["half-normal", "incomes"])
    parser.add_argument("--longer", type=int, default=1, help="how many times as long the half-normal's chains are")
    given = parser.parse_args()
    if given.only != "incomes":
        half_normal(given.cut, given.sets, given.longer)
    if given.only != "half-normal":
        incomes(given.cut, given.sets)
