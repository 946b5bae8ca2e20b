"""Bars of a release: the share of its records in each, and how far it may stray from what is expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from privmix.mechanisms import Mechanism

# Bars of equal predictive mass for a release of numbers.
BARS = 20


@dataclass(frozen=True)
class Shares:
    """Bars of a release, and the function that gives the share of each.

    Parameters
    ----------
    what
        What a bar is, in words.
    lower, upper
        Ends of the bars: of bins of the confidential value, of ranges of released numbers, or an output twice.
    of
        The shares of a release.
    records
        Number of records, or of released numbers, that a share is one of.
    names
        What to call the bars, where their ends do not say it: cells of several columns.
    """

    what: str
    lower: np.ndarray
    upper: np.ndarray
    of: Callable[[np.ndarray], np.ndarray]
    records: int
    names: list[str] = field(default_factory=list)

    def spread(self, made: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each share over replicates, at least that of drawing the records.

        Without that least a bar that stayed empty in all of them would have none.
        """
        mean = np.clip(made.mean(axis=0), 0.0, 1.0)
        return np.sqrt(np.maximum(made.var(axis=0), (mean * (1.0 - mean) + 1.0 / self.records) / self.records))


def shares_of(mechanism: Mechanism, pilot: list[np.ndarray]) -> Shares | None:
    """Return the bars of a release: its bins, its few outputs, else ranges of equal predictive mass; None for rows."""
    if mechanism.bin_count is not None:
        return _by_bin(mechanism, pilot[0])
    if mechanism.is_global or pilot[0].ndim > 1:
        return None
    return _by_output(mechanism.outputs, pilot[0]) if mechanism.outputs is not None else _by_range(pilot)


def _by_bin(mechanism: Any, z: np.ndarray) -> Shares:
    lower, upper = mechanism.shown_bins
    # A histogram of noisy counts, or draws from a smoothed one: those are counted in its bins.
    if not mechanism.shows_counts:
        return Shares("bin", lower, upper, lambda z: mechanism.encode(z) / len(z), len(z))
    records = mechanism.count_records(z)
    names = mechanism.bins_in_words()
    return Shares("cell" if names else "bin", lower, upper, lambda z: z / records, records, names)


def _by_output(outputs: np.ndarray, z: np.ndarray) -> Shares:
    values = np.sort(outputs)

    def of(z: np.ndarray) -> np.ndarray:
        return np.bincount(np.searchsorted(values, z), minlength=len(values))[: len(values)] / len(z)

    return Shares("released value", values, values, of, len(z))


def _by_range(pilot: list[np.ndarray]) -> Shares:
    pooled = np.concatenate(pilot)
    edges = np.unique(np.quantile(pooled, np.arange(1, BARS) / BARS))

    def of(z: np.ndarray) -> np.ndarray:
        return np.bincount(np.searchsorted(edges, z, side="right"), minlength=len(edges) + 1) / len(z)

    lower, upper = np.append(-np.inf, edges), np.append(edges, np.inf)
    return Shares("range of released values", lower, upper, of, len(pilot[0]))
