"""Noisy histogram: the counts of the bins, each with noise added."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privmix.jit import given
from privmix.mechanisms.histogram import Histogram, read_edges, read_records
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class NoisyHistogram(Histogram):
    """Release the count of each bin plus independent noise (skeleton: Laplace alone)."""

    records: int = field()
    bins: Any = given(64)
    epsilon: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    scale: float = None  # type: ignore[assignment]
    edges: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        records = read_records("NoisyHistogram", self.records)
        edges, bounds = read_edges("NoisyHistogram", self.bins, self.bounds)
        scale = 2.0 / self.epsilon if self.scale is None else self.scale
        for name, value in {"records": records, "edges": edges, "bounds": bounds, "scale": scale}.items():
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP for neighbours by replacement."""
        return PureDP(2.0 / self.scale)

    def log_bin(self, z, j, count):
        """Return the log density of the noise."""
        if count < 0.0:
            return -math.inf
        return -abs(z[j] - count) / self.scale - math.log(2.0 * self.scale)

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Add noise to the counts."""
        return counts + rng.laplace(0.0, self.scale, size=len(counts))

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the released counts."""
        return z
