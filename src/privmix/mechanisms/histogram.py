"""What mechanisms share that see the data only through the counts of a histogram."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from privmix.frames.read import refuse_masked
from privmix.jit import bind, slot
from privmix.mechanisms.counted import MOST_RECORDS_AT_START
from privmix.mechanisms.global_mechanism import GlobalMechanism
from privmix.mechanisms.slots import log_ratio, replace
from privmix.parts.checks import check_bounds, is_whole

#: prior of the mean of an unknown number of records: λ^−½ e^(−λ/10⁹)
JEFFREYS_MADE_PROPER = (0.5, 1e-9)


@slot
def log_bin(mechanism, z, j, count):
    """Return what bin j adds to log q(z|counts) when its count is `count`: a mechanism's hook."""


@slot
def bin_at(mechanism, y):
    """Return the bin of a record: a number, or a row."""


@slot
def log_counts(mechanism, z, counts):
    """Return log q(z|counts)."""


class Histogram(GlobalMechanism):
    """A global mechanism that sees the counts of a histogram, each bin by itself: log q(z|c) = Σ_j log_bin(z, j, c_j).

    A subclass is a frozen dataclass with fields ``records`` and ``edges`` and with

    - ``log_bin(self, z, j, count)``: what bin j adds to the log density of the release (compiled)
    - ``perturb_counts(self, rng, counts)``: the release of true counts (NumPy)
    - ``estimate(self, z)``: counts estimated from the release, to start a chain from (NumPy)
    - ``probes(self)``: releases among which the worst case is found, for `privmix.privacy.audit` (optional)

    A bin is closed on the left; records beyond the first or last edge count in the first or last bin.
    """

    edges: np.ndarray

    @classmethod
    def needs_bounds(cls, given: dict[str, Any]) -> bool:
        """Return whether the bins are a number: edges of bins have the bounds in them."""
        return np.ndim(given.get("bins", 0)) == 0

    def log_bin(self, z, j, count):
        """Return what bin j adds to log q(z|counts) when its count is `count` (hook)."""
        raise NotImplementedError

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Draw the release of true counts (hook)."""
        raise NotImplementedError

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return counts estimated from the release (hook)."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self) if f.repr and not _is_usual(self, f)]
        given = [f"{name}={short(value)}" for name, value in shown if value is not None]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def records_unknown(self) -> bool:
        """Whether the number of records is not known."""
        return self.records is None

    def count_records(self, z: np.ndarray) -> int:
        """Return the number of records; where it is not known, what the counts estimate, at least 1."""
        return max(1, round(float(self.estimate(z).sum()))) if self.records is None else self.records

    @property
    def bin_edges(self) -> np.ndarray:
        """Edges of the bins."""
        return self.edges

    @property
    def bin_count(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def bin_middles(self) -> np.ndarray:
        """A record of each bin: its middle."""
        return 0.5 * (self.edges[:-1] + self.edges[1:])

    def bin_of(self, y: np.ndarray) -> np.ndarray:
        """Return the bin of each record."""
        return np.searchsorted(self.edges[1:-1], y, side="right")

    def statistic(self, y: np.ndarray) -> np.ndarray:
        """Return the counts of the bins."""
        return np.bincount(self.bin_of(y), minlength=self.bin_count).astype(np.float64)

    def gather(self, counts: Any) -> np.ndarray:
        """Return the statistic of records of which so many are in each bin."""
        return np.asarray(counts, dtype=np.float64)

    def log_ratio(self, z, statistic, old, new):
        """Return the log ratio of the release's density when one record moves from old to new."""
        return bind(ratio_of_counts, self.hooks(), compiled=False)(self, z, statistic, old, new)

    def replace(self, statistic, old, new):
        """Move one record of the counts from old to new, in place."""
        bind(replace_in_counts, self.hooks(), compiled=False)(self, statistic, old, new)

    def logpdf(self, z: Any, y: Any) -> float:
        """Return log q(z|y) of a whole release given a whole data set.

        Parameters
        ----------
        z
            A release.
        y
            The confidential records.
        """
        counts, encoded = self.statistic(self.check_data(y)), self.encode(self.check_release(z))
        return self.log_of_counts(encoded, counts)

    def log_of_counts(self, encoded: np.ndarray, counts: Any) -> float:
        """Return log q(z|counts) of a release as hooks read it."""
        return float(sum(self.log_bin(encoded, j, float(counts[j])) for j in range(self.bin_count)))

    def read_counts(self, z: Any) -> np.ndarray:
        """Return a release of one number a bin, as an array or from a table, or say what is wrong with it."""
        z = GlobalMechanism.check_release(self, z)
        if len(z) != self.bin_count:
            raise ValueError(
                f"{type(self.noisy).__name__} releases {self.bin_count} counts, one a bin; the release z has {len(z)}. "
                "Check that the mechanism is the one that made the release."
            )
        return z

    def bins_in_words(self) -> list[str]:
        """Return what to call each bin, where its edges do not say it."""
        return []

    @property
    def shown_bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper edges of the bins that a release is looked at in."""
        return self.edges[:-1], self.edges[1:]

    @property
    def shows_counts(self) -> bool:
        """Whether a release has a number of records for each of these bins."""
        return self.counted_edges is not None

    @property
    def noisy(self) -> Histogram:
        """What made the noisy counts, before any post-processing: it has the same guarantee."""
        return self

    @property
    def has_smooth_noise(self) -> bool:
        """Whether what is released of a bin has a smooth density, which `log_bin` gives for arrays: for the audit."""
        return False

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw a release of the data."""
        return self.perturb_counts(rng, self.statistic(y))

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return records at even steps of the distribution function of the estimated counts.

        Where their number is not known, the sampler keeps counts, and some are enough for a start, however many.
        """
        counts, records = np.clip(self.estimate(z), 0.0, None), self.count_records(z)
        if self.records_unknown:
            records = min(records, MOST_RECORDS_AT_START)
        if not counts.sum() > 0.0:
            counts = np.diff(self.edges)
        mass = np.concatenate([[0.0], np.cumsum(counts)])
        level = (np.arange(records) + 0.5) / records * mass[-1]
        return np.interp(level, mass, self.edges)

    def probes(self) -> Iterable[np.ndarray]:
        """Return releases among which the worst log-ratio of neighbours is found, for the audit."""
        raise NotImplementedError(f"{type(self).__name__} names no probes; give the audit outputs=, releases to try.")

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        return {
            **super().hooks(),
            log_bin: type(self).log_bin,
            log_counts: log_of_bins,
            bin_at: bin_between_edges,
            log_ratio: ratio_of_counts,
            replace: replace_in_counts,
        }

    def cell_count(self, z):
        """Return the number of bins (hook)."""
        return len(self.edges) - 1

    def cell_edge(self, z, j):
        """Return the left edge of bin j > 0 (hook)."""
        return self.edges[j]


def _is_usual(part: Any, of: dataclasses.Field) -> bool:
    """Return whether a field is what it is by default, and says so when it is not."""
    return bool(of.metadata.get("quiet")) and getattr(part, of.name) == of.default


def short(value: Any) -> str:
    """Return a field in a few characters: of many edges only the first and the last."""
    if isinstance(value, np.ndarray):
        numbers = [f"{number:g}" for number in value]
        return f"[{', '.join(numbers if len(numbers) <= 8 else [*numbers[:3], '…', numbers[-1]])}]"
    return repr(value)


def find_bin(edges, y):
    """Return the bin of y: closed on the left, the first and last open outwards."""
    low, high = 0, len(edges) - 2
    while low < high:
        middle = (low + high + 1) // 2
        if y >= edges[middle]:
            low = middle
        else:
            high = middle - 1
    return low


def bin_between_edges(mechanism, y):
    """Return the bin of a number."""
    return find_bin(mechanism.edges, y)


def ratio_of_counts(mechanism, z, statistic, old, new):
    """Return the log ratio of the release's density when one record moves from old to new."""
    j, k = bin_at(mechanism, old), bin_at(mechanism, new)
    if j == k:
        return 0.0
    leave = log_bin(mechanism, z, j, statistic[j] - 1.0) - log_bin(mechanism, z, j, statistic[j])
    return leave + log_bin(mechanism, z, k, statistic[k] + 1.0) - log_bin(mechanism, z, k, statistic[k])


def log_of_bins(mechanism, z, counts):
    """Return log q(z|counts): each bin by itself."""
    total = 0.0
    for j in range(len(counts)):
        total += log_bin(mechanism, z, j, counts[j])
    return total


def replace_in_counts(mechanism, statistic, old, new):
    """Move one record of the counts from old to new, in place."""
    statistic[bin_at(mechanism, old)] -= 1.0
    statistic[bin_at(mechanism, new)] += 1.0


def read_edges(owner: str, bins: Any, bounds: Any, least: int = 2) -> tuple[np.ndarray, tuple[float, float]]:
    """Return the edges of the bins and the bounds, from a number of equal bins of the bounds or from the edges."""
    if np.ndim(bins) == 0:
        if not is_whole(bins) or bins < least:
            raise ValueError(
                f"{owner}: bins must be a whole number of at least {least}, or the edges of the bins; got {bins!r}."
            )
        lower, upper = check_bounds(bounds, needed_for=owner)  # type: ignore[misc]
        edges = lower + (upper - lower) * np.arange(bins + 1) / bins
        edges[-1] = upper
    else:
        edges = _given_edges(owner, bins, least)
        if bounds is not None and check_bounds(bounds) != (edges[0], edges[-1]):
            raise ValueError(
                f"{owner}: the edges of the bins run from {edges[0]:g} to {edges[-1]:g}, but bounds={bounds!r}; "
                "leave bounds out, or make them agree."
            )
    edges.setflags(write=False)
    return edges, (float(edges[0]), float(edges[-1]))


def keep_bins(bins: Any, edges: np.ndarray) -> Any:
    """Return bins as a mechanism stores them: a whole number, or a copy of the edges that none can change."""
    return int(bins) if np.ndim(bins) == 0 else edges


def _given_edges(owner: str, bins: Any, least: int) -> np.ndarray:
    refuse_masked(bins, "the edges of bins")
    try:
        edges = np.array(bins, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.zeros(0)
    if edges.ndim != 1 or len(edges) <= least or not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
        few = {1: "two", 2: "three"}[least]
        raise ValueError(f"{owner}: edges of bins must be at least {few} finite increasing numbers; got {bins!r}.")
    return edges


def read_records(owner: str, records: Any) -> int:
    """Return the public number of records, or say what is wrong with it."""
    whole = is_whole(records) or (isinstance(records, float) and records.is_integer())
    if not whole or not 1 <= records <= 2**53 or not math.isfinite(records):
        raise ValueError(
            f"{owner}: records must be the number of confidential records, a whole number of at least 1 (it is "
            f"public); got {records!r}."
        )
    return int(records)


def read_expected(owner: str, records: int | None, expected: Any) -> tuple[float, float] | None:
    """Return shape and rate of the prior of the mean of an unknown number of records, or None where it is known."""
    if records is not None:
        if expected is not None:
            raise ValueError(
                f"{owner}: expected is the prior of an unknown number of records, but records={records}. Give "
                "records=None, or leave expected out."
            )
        return None
    if expected is None:
        return JEFFREYS_MADE_PROPER
    try:
        shape, rate = (float(number) for number in expected)
    except (TypeError, ValueError):
        shape = rate = math.nan
    if not (0.0 < shape < math.inf and 0.0 < rate < math.inf):
        raise ValueError(f"{owner}: expected must be a pair (shape, rate) of positive numbers; got {expected!r}.")
    return shape, rate


def join_bins(lower: np.ndarray, upper: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges and the counts of bins in any order, or say where they do not touch."""
    order = np.argsort(lower, kind="stable")
    lower, upper, count = lower[order], upper[order], count[order]
    empty = np.flatnonzero(lower >= upper)
    if len(empty):
        first = empty[0]
        raise ValueError(f"there is a bin from {lower[first]:g} to {upper[first]:g}; lower must be below upper.")
    # Edges that were written with few digits may miss one another by rounding.
    apart = np.flatnonzero(np.abs(upper[:-1] - lower[1:]) > 1e-9 * (upper[-1] - lower[0]))
    if len(apart):
        first = apart[0]
        raise ValueError(
            f"there is a bin that ends at {upper[first]:g} and the next begins at {lower[first + 1]:g}; the bins of a "
            "histogram must touch. Fill the gap, or correct the edges."
        )
    return np.append(lower, upper[-1]), count
