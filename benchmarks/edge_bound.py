"""How well can anybody tell a density at a bound? The half-normal of `benchmarks.edges`, Laplace noise of scale 1.

Run with `python -m benchmarks.edge_bound`: some minutes of one core. Among mixtures of three truncated normals on
(0, 10) with means inside, none narrower than a given width, it looks for the one whose density at 0 is 1.1/.9 times
that of |N(0, 1)|, or as much lower, and whose releases are as hard as possible to tell from it. With δ² = 8n(1 − ρ), ρ
the affinity of two releases, the best test between the two errs with probability Φ(−δ/2) (Le Cam). An estimate that is
within 10% in both cases would be such a test, so that none is, in one of the two, more often than Φ(δ/2).
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

RECORDS, COMPONENTS, STARTS = 20_000, 3, 5
WIDTHS = (0.7, 0.5, 0.35, 0.25)
Y, Z = np.linspace(0.0, 10.0, 4001), np.linspace(-9.0, 15.0, 2401)


def component(mean: float, width: float) -> np.ndarray:
    """Return a normal density on the bounds, by its logarithm at the peak."""
    exponent = -0.5 * ((Y - mean) / width) ** 2
    values = np.exp(exponent - exponent.max())
    return values / np.trapezoid(values, Y)


def released(density: np.ndarray) -> np.ndarray:
    """Return the density of a record with Laplace noise of scale 1."""

    def sums(values: np.ndarray) -> np.ndarray:
        steps = 0.5 * (values[1:] + values[:-1]) * np.diff(Y)
        return np.concatenate([[0.0], np.cumsum(steps)])

    below, above = sums(density * np.exp(Y)), sums(density * np.exp(-Y))
    at = np.clip(Z, Y[0], Y[-1])
    left = np.interp(at, Y, below) * np.exp(-Z)
    return 0.5 * (left + (above[-1] - np.interp(at, Y, above)) * np.exp(Z))


TRUTH = component(0.0, 1.0)
ROOT = np.sqrt(released(TRUTH))


def mixture(place: np.ndarray, least: float) -> np.ndarray:
    """Return a mixture: logits of its weights, means, and logs of what its widths exceed the least by."""
    logits, means, widths = np.split(place, [COMPONENTS - 1, 2 * COMPONENTS - 1])
    weights = special.softmax(np.append(logits, 0.0))
    return sum(w * component(abs(m), least + np.exp(s)) for w, m, s in zip(weights, means, widths, strict=True))


def distance(density: np.ndarray) -> float:
    """Return δ."""
    return 2.0 * np.sqrt(RECORDS * np.trapezoid((np.sqrt(released(density)) - ROOT) ** 2, Z))


def closest(least: float, ratio: float) -> float:
    """Return the least δ of mixtures whose density at 0 is so many times the truth's."""

    def loss(place: np.ndarray) -> float:
        density = mixture(place, least)
        value = distance(density) ** 2 + 1e5 * (density[0] / TRUTH[0] - ratio) ** 2
        return value if np.isfinite(value) else 1e12

    rng, best = np.random.default_rng(1), np.inf
    for _ in range(STARTS):
        place = np.concatenate(
            [rng.normal(size=COMPONENTS - 1), rng.normal(0.2, 0.8, COMPONENTS), rng.normal(-2, 1, COMPONENTS)]
        )
        for _ in range(3):
            place = optimize.minimize(loss, place, method="Nelder-Mead", options={"maxfev": 3000, "adaptive": True}).x
        if abs(mixture(place, least)[0] / TRUTH[0] - ratio) < 2e-3:
            best = min(best, distance(mixture(place, least)))
    return best  # infinite where there is none


if __name__ == "__main__":
    print("least width; f(0) over the truth; δ; how often the best test errs")
    for ratio in (1.1 / 0.9, 0.9 / 1.1):
        found = np.inf
        for least in WIDTHS:  # narrower ones are allowed all that wider ones are
            found = min(found, closest(least, ratio))
            print(f"{least:.2f}   {ratio:.3f}   {found:.2f}   {special.ndtr(-0.5 * found):.3f}", flush=True)
