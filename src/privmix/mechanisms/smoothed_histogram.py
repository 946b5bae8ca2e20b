"""Sampling from a smoothed histogram: the release is a synthetic sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privmix.jit import given
from privmix.mechanisms.base import one_of
from privmix.mechanisms.histogram import Histogram, read_edges, read_records
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class SmoothedHistogram(Histogram):
    """Release k independent draws from the histogram of the data, mixed with a uniform share δ.

    The density is (1 − δ) Σ_j (c_j/n) 1{x in B_j}/|B_j| + δ/(upper − lower): Wasserman and Zhou (2010), with the factor
    1/|B_j| that the paper's equation leaves out.
    """

    records: int = field()
    bins: Any = given(8)
    draws: int = 1
    epsilon: float | None = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    uniform: float = None  # type: ignore[assignment]
    edges: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        records = read_records("SmoothedHistogram", self.records)
        edges, bounds = read_edges("SmoothedHistogram", self.bins, self.bounds)
        settled = {"records": records, "edges": edges, "bounds": bounds}
        if self.uniform is None:
            one_of("SmoothedHistogram", epsilon=self.epsilon)
            odds = math.expm1(self.epsilon / self.draws) * records * np.diff(edges).min() / (edges[-1] - edges[0])
            settled["uniform"] = 1.0 / (1.0 + odds)
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP for neighbours by replacement."""
        ratio = (1.0 - self.uniform) / self.uniform / self.records
        ratio *= (self.edges[-1] - self.edges[0]) / np.diff(self.edges).min()
        return PureDP(self.draws * math.log1p(ratio))

    def log_bin(self, z, j, count):
        """Return d_j log of the smoothed density in bin j."""
        if z[j] == 0.0:
            return 0.0
        width = self.edges[j + 1] - self.edges[j]
        whole = self.edges[len(self.edges) - 1] - self.edges[0]
        height = (1.0 - self.uniform) * count / (self.records * width) + self.uniform / whole
        return z[j] * math.log(height)

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return the number of released draws in each bin."""
        return self.statistic(z)

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Draw a synthetic sample."""
        from_data = rng.random(self.draws) >= self.uniform
        j = rng.choice(self.bin_count, size=self.draws, p=counts / self.records)
        inside = self.edges[j] + (self.edges[j + 1] - self.edges[j]) * rng.random(self.draws)
        anywhere = self.bounds[0] + (self.bounds[1] - self.bounds[0]) * rng.random(self.draws)
        return np.where(from_data, inside, anywhere)

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the released draws of each bin, less the uniform share."""
        share = self.uniform * np.diff(self.edges) / (self.bounds[1] - self.bounds[0])
        return self.encode(z) / self.draws - share
