"""Noisy counts that were clamped, rounded or withheld: the mass of all noisy counts behind a published one.

A published count stands for an interval of noisy ones, or for one alone. So hooks read a row (low, high) for each bin:
the log density of the noise at low − count where both are equal, else the log mass from low − count to high − count. On
the whole numbers both ends are the outermost that lead to the published count, so that the mass is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.bars import Bars
from privmix.mechanisms.count_noise import log_noise, log_noise_between
from privmix.mechanisms.histogram import Histogram
from privmix.mechanisms.noisy_histogram import NoisyHistogram
from privmix.mechanisms.post_processing import Step, Withhold, apply_all, check_steps, undo_all, words_of
from privmix.mechanisms.wrapper import of_wrapped


@dataclass(frozen=True, eq=False, repr=False)
class ProcessedCounts(Histogram):
    """A histogram whose noisy counts were clamped, rounded or withheld before they were published.

    Made by `Clamped`, `Rounded` and `Withheld`. A missing count (NaN) says that the noisy one lay on the withheld side.
    Made by `Clipped` too: then records beyond the bounds are in the outermost bins.

    Guarantee: that of the noisy counts, since post-processing tells no more of the data.

    Parameters
    ----------
    mechanism
        What made the noisy counts.
    steps
        What was done to them, in order.
    clipped
        Whether the bounds are a clip, and not the natural range of the records.
    """

    mechanism: NoisyHistogram
    steps: tuple[Step, ...] = ()
    clipped: bool = False

    is_wrapper: ClassVar[bool] = True
    column_names: ClassVar[tuple[str, ...]] = NoisyHistogram.column_names
    output_in_words = NoisyHistogram.output_in_words

    records = of_wrapped("records")
    expected = of_wrapped("expected")
    edges = of_wrapped("edges")
    neighbours = of_wrapped("neighbours")
    guarantee = of_wrapped("guarantee")
    drawn_by = of_wrapped("drawn_by")
    counted_edges = of_wrapped("counted_edges")
    details = of_wrapped("details")
    noise = of_wrapped("noise")
    scale = of_wrapped("scale")
    squared = of_wrapped("squared")
    discrete = of_wrapped("discrete")
    scales = of_wrapped("scales")
    log_norms = of_wrapped("log_norms")

    def __post_init__(self) -> None:
        check_steps(self.steps)

    def after(self, step: Step) -> ProcessedCounts:
        """Return the mechanism with one more step."""
        return replace(self, steps=(*self.steps, step))

    @property
    def noisy(self) -> NoisyHistogram:
        """What made the noisy counts."""
        return self.mechanism

    @property
    def withholds(self) -> bool:
        """Whether a released count may be missing."""
        return any(isinstance(step, Withhold) for step in self.steps)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The natural range of a record; None where the bounds are a clip."""
        return None if self.clipped else self.mechanism.bounds

    @property
    def clipped_at(self) -> tuple[float, float] | None:
        """The bounds to which records were clipped."""
        return self.mechanism.bounds if self.clipped else None

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        told = [self.mechanism.in_words]
        if self.clipped:
            lower, upper = self.mechanism.bounds
            told.append(f"records beyond {lower:g} and {upper:g} are in the outermost bins")
        return "; ".join([*told, *filter(None, [words_of(self.steps)])])

    def numbers(self) -> Any:
        """Return the fields of the noisy counts that compiled code can see."""
        return self.mechanism.numbers()

    def log_bin(self, z, j, count):
        """Return the log density of the noise at one noisy count, or its log mass over all that are behind bin j."""
        if count < 0.0:
            return -math.inf
        low, high, scale, log_norm = z[j, 0] - count, z[j, 1] - count, self.scales[j], self.log_norms[j]
        if low == high:
            return log_noise(self.squared, low, scale, log_norm)
        return log_noise_between(self.squared, self.discrete, low, high, scale, log_norm)

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Add noise to the counts, and publish what the steps leave of them."""
        return apply_all(self.steps, self.mechanism.perturb_counts(rng, counts))

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return a row (low, high) for each bin: the noisy counts behind it, one where the two are equal."""
        found = undo_all(self.steps, z, place="bin")
        if not self.mechanism.discrete:
            return np.stack([found.low, found.high], axis=-1)
        first, last = found.multiples(1.0)
        empty = np.flatnonzero(first > last)
        if len(empty):
            raise ValueError(
                f"bin {empty[0]} of the release is {z[empty[0]]:g}, and no whole number leads there: noise is "
                f"{self.mechanism.noise}, then {words_of(self.steps)}. Check the count and what was done to it."
            )
        return np.stack([first, last], axis=-1)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of counts, NaN where withheld; name the bin that cannot be after these steps."""
        z = self.read_counts(z)
        self.encode(z)
        return z

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the middle of the noisy counts behind each published one, none below 0 among them."""
        low, high = self.encode(z).T
        low = np.minimum(np.maximum(low, 0.0), high)
        return np.where(np.isinf(high), low + self.mechanism.scales, 0.5 * (low + high))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return log P(noise ≥ d) of the least noise that leads to each count."""
        low, high = self.encode(z).T
        return self.mechanism.log_tail(np.maximum(low, np.minimum(high, 0.0)), interval)

    def fill_withheld(self, z: np.ndarray) -> np.ndarray:
        """Return a release with the limit in the place of what was withheld."""
        limits = [step.limit for step in self.steps if isinstance(step, Withhold)]
        return np.where(np.isnan(z), limits[0], z) if limits else z

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars:
        """Return the published counts in their own bins; those withheld are left out, and counted in the label."""
        found = self.mechanism.bars(np.nan_to_num(z), lower, upper)
        gone = int(np.isnan(z).sum())
        done = words_of(self.steps) or "noisy"
        label = f"released counts ({done})" if not gone else f"released counts, {gone} bins withheld"
        return Bars(found.heights, found.edges, label)

    def to_columns(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the release as a table of lower and upper edges and counts."""
        return self.mechanism.to_columns(z)

    def from_columns(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the counts of a table, or refuse it where its edges are not the mechanism's."""
        return self.mechanism.from_columns(columns)

    def probes(self) -> Iterable[np.ndarray]:
        """Return what is published of the releases that the noisy counts are tried at."""
        return (apply_all(self.steps, z) for z in self.mechanism.probes())
