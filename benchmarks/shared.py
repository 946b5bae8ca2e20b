"""What several benchmarks share: the data of Section 4.1, and the summary of a density at some points."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix.checks.summary import summarise

BOUNDS = (-10.0, 10.0)
CENTRES = [-5.0, 0.0, 5.0]


def truncated_normals(n: int, seed: int) -> np.ndarray:
    """Return records of Section 4.1: three equally weighted normals at −5, 0 and 5, truncated to the bounds."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CENTRES, 2 * n) + rng.standard_normal(2 * n)
    return y[np.abs(y) <= 10.0][:n]


def clipped_normals(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return such records clipped to the bounds, where only their cost matters."""
    return np.clip(rng.choice(CENTRES, n) + rng.standard_normal(n), *BOUNDS)


def summarise_density(values: np.ndarray, points: np.ndarray) -> Any:
    """Return mean, effective sample size and R-hat of the density at each point, from its draws by chain."""
    return summarise({str(x): values[..., j] for j, x in enumerate(points)})
