"""Digests of draws: has a change of structure changed a draw? Every sampler, each with a pair of its own.

Run with `python -m benchmarks.digests` before and after; it compares with the record in `results/digests.json`, and
`--write` makes the record anew. Words choose the cases whose names hold one of them. Equal digests are equal draws to
the last bit; on another processor or with another version of numba or NumPy the last bits may differ with no fault.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

import privmix
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.numerics import uniform

RECORD = Path(__file__).parent / "results" / "digests.json"
BOUNDS = (-4.0, 4.0)
Y = np.concatenate([np.random.default_rng(5).normal(-1.5, 0.4, 25), np.random.default_rng(6).normal(1.0, 0.7, 35)])


@dataclass(frozen=True)
class Logistic(kernels.Kernel):
    """A kernel from few hooks: its parameters move by the inherited walk, its draws in cells by bisection."""

    scale: float = 2.0

    parameters: ClassVar[tuple[str, ...]] = ("mean", "width")
    positive: ClassVar[tuple[str, ...]] = ("width",)

    def log_f(self, y, theta):
        x = abs(y - theta[0]) / theta[1]
        return -x - math.log(theta[1]) - 2.0 * math.log1p(math.exp(-x))

    def sample(self, rng, theta):
        u = uniform(rng)
        return theta[0] + theta[1] * math.log((u + 1e-300) / (1.0 - u))

    def base(self, rng, theta):
        theta[0] = self.scale * (4.0 * uniform(rng) - 2.0)
        theta[1] = 0.1 + uniform(rng)

    def log_base(self, theta):
        return 0.0 if abs(theta[0]) < 2.0 * self.scale and 0.1 < theta[1] < 1.1 else -math.inf

    def cdf(self, y, theta):
        return 1.0 / (1.0 + math.exp(-(y - theta[0]) / theta[1]))


def models() -> dict[str, tuple]:
    """Return mechanism, kernel, sampler and, where it is learned, the prior of each case."""
    laplace, gauss = mechanisms.Laplace(epsilon=6.0, bounds=BOUNDS), mechanisms.Gaussian(scale=0.5)
    each, identity = mechanisms.Laplace(scale=np.linspace(0.2, 1.0, 60)), mechanisms.Identity(BOUNDS)
    normal, hier, beta = kernels.Normal(), kernels.HierarchicalNormal(BOUNDS), kernels.Beta(bounds=BOUNDS)
    noisy, logistic = kernels.NoisyNormal(noise=0.5), Logistic()
    haar = mechanisms.HaarWavelet(levels=2, epsilon=8.0, bounds=BOUNDS)
    response = mechanisms.RandomizedResponse(cells=8, epsilon=3.0, bounds=BOUNDS)
    wave = mechanisms.SquareWave(epsilon=3.0, bounds=BOUNDS)
    smooth = mechanisms.SmoothedHistogram(60, bins=8, draws=15, epsilon=5.0, bounds=BOUNDS)
    learned = priors.DirichletProcess((2.0, 1.0))

    def histogram(noise: str, **budget: float) -> mechanisms.Mechanism:
        return mechanisms.NoisyHistogram(60, bins=12, noise=noise, bounds=BOUNDS, **budget)

    exact = samplers.Neal5(exact=True)
    return {
        "neal5 laplace normal": (laplace, normal, samplers.Neal5()),
        "neal5 m5 laplace beta learned": (laplace, beta, samplers.Neal5(5), learned),
        "neal5 haar beta": (haar, beta, samplers.Neal5()),
        "neal5 each-scale normal": (each, normal, samplers.Neal5(2)),
        "neal5 logistic walk": (laplace, logistic, samplers.Neal5()),
        "neal5 smoothed beta": (smooth, beta, samplers.Neal5()),
        "neal5 exact walk laplace normal": (laplace, normal, exact, learned),
        "neal5 exact impute laplace beta": (laplace, beta, samplers.Neal5(exact=True, update="impute")),
        "neal5 exact identity hier": (identity, hier, samplers.Neal5(exact=True, update="impute")),
        "slice gauss normal": (gauss, normal, samplers.Slice(), learned),
        "slice noswap laplace hier": (laplace, hier, samplers.Slice(swaps=False)),
        "slice exact laplace hier": (laplace, hier, samplers.Slice(records="exact")),
        "slice integrated walk haar normal": (haar, normal, samplers.Slice(records="integrated", update="walk")),
        "slice integrated impute wave logistic": (wave, logistic, samplers.Slice(records="integrated")),
        "slice exact histogram normal": (histogram("laplace", epsilon=4.0), normal, samplers.Slice(records="exact")),
        "slice smoothed normal": (smooth, normal, samplers.Slice()),
        "slice identity beta": (identity, beta, samplers.Slice()),
        "neal2 gauss noisy": (gauss, noisy, samplers.Neal2(), learned),
        "neal3 gauss noisy": (gauss, noisy, samplers.Neal3()),
        "neal3 identity normal": (identity, normal, samplers.Neal3()),
        "neal8 wave normal": (wave, normal, samplers.Neal8()),
        "neal8 impute rr logistic": (response, logistic, samplers.Neal8(update="impute")),
        "splitmerge neal5 laplace hier": (laplace, hier, samplers.SplitMerge(exact)),
        "splitmerge neal2 gauss noisy": (gauss, noisy, samplers.SplitMerge(samplers.Neal2())),
        "splitmerge neal8 gauss normal": (gauss, normal, samplers.SplitMerge(samplers.Neal8())),
        "binned laplace hier learned": (laplace, hier, samplers.Binned(bins=40), learned),
        "binned rr normal": (response, normal, samplers.Binned()),
        "binned wave beta": (wave, beta, samplers.Binned(bins=32)),
        "binned histogram gaussian normal": (histogram("discrete gaussian", rho=0.5), normal, samplers.Binned()),
        "binned histogram laplace beta": (histogram("discrete laplace", epsilon=2.0), beta, samplers.Binned()),
    }


def cases() -> dict[str, Callable[[], str]]:
    """Return every case by name."""
    found: dict[str, Callable[[], str]] = {name: lambda case=case: run(*case) for name, case in models().items()}
    return {**found, "fit auto n=200": lambda: fit(200), "fit auto n=700": lambda: fit(700)}


def run(mechanism, kernel, sampler, prior=None) -> str:
    """Return the digest of a short run of two chains."""
    model = PrivateMixture(mechanism, kernel, prior or priors.DirichletProcess(1.0))
    z = mechanism.privatize(Y, seed=np.random.default_rng(3))
    return digest(model.sample(z, sampler, draws=40, warmup=60, thin=2, chains=2, seed=11))


def fit(n: int) -> str:
    """Return the digest of `privmix.fit`, its pilot included."""
    mechanism, rng = mechanisms.Laplace(epsilon=6.0, bounds=BOUNDS), np.random.default_rng(8)
    y = np.where(rng.random(n) < 0.5, rng.normal(-1, 0.5, n), rng.normal(2, 0.4, n))
    z = mechanism.privatize(np.clip(y, *BOUNDS), seed=np.random.default_rng(4))
    return digest(privmix.fit(z, mechanism, draws=500, warmup=3000, thin=5, chains=2, seed=2))


def digest(posterior: privmix.Posterior) -> str:
    """Return a digest of all draws and of what the sampler reports of them."""
    total = hashlib.sha256()
    for group in ("posterior", "sample_stats"):
        dataset = posterior.datatree[group].to_dataset()
        for name in sorted(set(map(str, dataset.data_vars)) - {"records"}):  # known here, and no draw
            total.update(name.encode())
            total.update(np.ascontiguousarray(dataset[name].values).tobytes())
    return total.hexdigest()[:20]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if not given.words or any(w in name for w in given.words)}
    kept = {} if given.write else json.loads(RECORD.read_text())
    found = {}
    for name, case in chosen.items():
        found[name] = case()
        word = "" if given.write else "same  " if kept.get(name) == found[name] else "DIFFERS  "
        print(f"{word}{name}: {found[name]}", flush=True)
    if given.write:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    return int(any(kept.get(name) != value for name, value in found.items()))


if __name__ == "__main__":
    raise SystemExit(main())
