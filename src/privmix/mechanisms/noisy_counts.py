"""Counts with noise on each: what a histogram of one column and a table of several share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.count_noise import (
    LAWS,
    MOVED,
    check_neighbours,
    check_noise,
    find_scale,
    guarantee_of,
    log_noise,
    log_noise_between,
)
from privmix.mechanisms.histogram import Histogram, read_expected, read_records
from privmix.mechanisms.noise import distance_from
from privmix.parts.checks import fill
from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.privacy.audit_global import RECORDS_WHERE_UNKNOWN


class NoisyCounts(Histogram):
    """The count of each bin plus independent noise of one of four laws.

    A subclass is a frozen dataclass with fields ``records``, ``noise``, ``epsilon``, ``delta``, ``rho``, ``scale``,
    ``neighbours`` and ``expected``, and with those that are filled here; it says what a bin is.
    """

    #: name of the class in messages
    owner: ClassVar[str]
    noise: str
    epsilon: float | None
    delta: float | None
    rho: float | None
    scale: float | np.ndarray
    neighbours: str
    expected: tuple[float, float] | None
    squared: bool
    discrete: bool
    # one of each a bin, so that hooks are the same whether the scale is or not
    scales: np.ndarray
    log_norms: np.ndarray

    def check_counted(self) -> None:
        """Check what was given of the records and the noise, while under construction."""
        records = None if self.records is None else read_records(self.owner, self.records)
        check_noise(self.owner, self.noise)
        check_neighbours(self.owner, self.neighbours)
        fill(self, records=records, expected=read_expected(self.owner, records, self.expected))

    def fill_noise(self, bins: int) -> None:
        """Set the noise on so many counts, while under construction."""
        law, budget = LAWS[self.noise], {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        scale = find_scale(self.owner, self.noise, MOVED[self.neighbours], bins, self.scale, **budget)
        fill(self, **{name: None if value is None else float(value) for name, value in budget.items()})
        scales = np.full(bins, scale)
        fill(self, scale=scale, squared=law.squared, discrete=law.discrete, scales=scales)
        fill(self, log_norms=np.array([law.log_norm(float(s)) for s in scales]))

    @property
    def guarantee(self) -> PureDP | ApproxDP | ZCDP:
        """What was asked for; from the scale where that was given."""
        return guarantee_of(self.noise, self.neighbours, self.scales, self.epsilon, self.delta, self.rho)

    @property
    def count_variance(self) -> float:
        """Variance of the noise on a count, over the bins on average; of discrete noise nearly."""
        return (1.0 if self.squared else 2.0) * float(np.mean(np.square(self.scales)))

    def log_bin(self, z, j, count):
        """Return the log density, or log probability, of the noise z_j − count; −∞ below count 0."""
        if count < 0.0:
            return -math.inf
        return log_noise(self.squared, z[j] - count, self.scales[j], self.log_norms[j])

    def perturb_counts(self, rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
        """Add noise to the counts."""
        scale = self.scales if np.ndim(self.scale) else self.scale
        return counts + LAWS[self.noise].draw(rng, scale, len(counts))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return log P(noise ≥ d) for counts at a distance d from what true counts can be, 0 to n."""
        # Beyond 1,000 scales the bound is that of 1,000: any noise here has a probability below e^-999 there.
        far = np.minimum(
            distance_from((0.0, math.inf if self.records is None else self.records), z), 1000.0 * np.ceil(self.scales)
        )
        about = zip(far, self.scales, self.log_norms, strict=True)
        return np.array([log_noise_between(self.squared, self.discrete, d, math.inf, s, norm) for d, s, norm in about])

    def estimate(self, z: np.ndarray) -> np.ndarray:
        """Return the released counts."""
        return z

    @property
    def has_smooth_noise(self) -> bool:
        """Whether a released count has a smooth density."""
        return self.squared and not self.discrete

    def probes(self) -> Iterable[np.ndarray]:
        """Return all rows of whole numbers from −1 to n + 1 and of two numbers far outside.

        Under Laplace noise the log-ratio is piecewise linear in each count, with kinks at whole numbers from 0 to n,
        and constant beyond: its extremes are among these. Under Gaussian noise it has none, which the far ones show.
        """
        far = 1000.0 * math.ceil(self.scales.max())
        records = RECORDS_WHERE_UNKNOWN if self.records is None else self.records
        values = [-far, *np.arange(-1.0, records + 2.0), records + far]
        return map(np.array, product(values, repeat=self.bin_count))

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of counts, whole under discrete noise, or say what is wrong with it."""
        z = self.read_counts(z)
        bad = z != np.floor(z)
        if self.discrete and bad.any():
            raise ValueError(
                f"{self.owner} with {self.noise} noise releases whole numbers; the release z has "
                f"{np.count_nonzero(bad)} others, the first {z[bad][0]:g}. Use noise='laplace' or 'gaussian' if the "
                "noise was continuous."
            )
        return z
