"""What a predictive check looks at where the release is a table of counts: the released values, with their counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from privmix.checks.shares import BARS, Shares

if TYPE_CHECKING:
    from privmix.mechanisms import Counted


class Table:
    """Statistics, histogram and bars of tables of counts, in the order of the released values."""

    def __init__(self, mechanism: Counted) -> None:
        self.edges = mechanism.edges
        self.order = np.argsort(mechanism.places)
        self.value = mechanism.places[self.order]

    def statistics(self) -> dict[str, Callable[[np.ndarray], float]]:
        """Return the statistics of a release of numbers, each number at the middle of its bin."""
        return {
            "mean": lambda z: self._moment(z, 1),
            "sd": lambda z: float(np.sqrt(self._moment(z, 2))),
            "skewness": lambda z: self._moment(z, 3) / max(self._moment(z, 2), 1e-200) ** 1.5,
            "smallest": lambda z: float(self.value[np.flatnonzero(z[self.order])[0]]),
            "largest": lambda z: float(self.value[np.flatnonzero(z[self.order])[-1]]),
        }

    def _moment(self, z: np.ndarray, power: int) -> float:
        """Return the mean, or a higher central moment."""
        share = z[self.order] / z.sum()
        mean = float(share @ self.value)
        return mean if power == 1 else float(share @ (self.value - mean) ** power)

    def distance(self, pilot: list[np.ndarray]) -> Callable[[np.ndarray], float]:
        """Return the Kolmogorov–Smirnov distance from the predictive law, at the ends of the bins."""
        expected = np.cumsum(np.mean(pilot, axis=0)[self.order]) / pilot[0].sum()
        return lambda z: float(np.max(np.abs(np.cumsum(z[self.order]) / z.sum() - expected)))

    def histogram_edges(self, most: int) -> np.ndarray:
        """Return so many ranges of released values, or fewer: bins joined, or outputs with room around each."""
        if self.edges is not None:
            together = -(-(len(self.edges) - 1) // most)
            return np.append(self.edges[:-1:together], self.edges[-1])
        room = 0.5 * (float(np.ptp(self.value)) or 1.0) / most
        return np.linspace(self.value[0] - room, self.value[-1] + room, most + 1)

    def histogram(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return the share of all records in each range, over its width."""
        found, _ = np.histogram(self.value, edges, weights=z[self.order])
        return found / (z.sum() * np.diff(edges))

    def shares(self, pilot: list[np.ndarray]) -> Shares:
        """Return a bar for each output, or neighbouring bins joined to ranges of about equal predictive mass."""
        records = int(pilot[0].sum())
        if self.edges is None:
            return Shares("released value", self.value, self.value, lambda z: z[self.order] / records, records)
        expected = np.mean(pilot, axis=0) / records
        group = np.floor(BARS * np.clip(np.cumsum(expected) - 0.5 * expected, 0.0, 1.0 - 1e-9))
        first = np.flatnonzero(np.diff(group, prepend=-1.0))
        ends = np.concatenate([[-np.inf], self.edges[first[1:]], [np.inf]])
        return Shares(
            "range of released values", ends[:-1], ends[1:], lambda z: np.add.reduceat(z, first) / records, records
        )
