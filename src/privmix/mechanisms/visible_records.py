"""Records of which some were withheld without a trace: the release holds the others, and says not how many are missing.

n | λ ~ Poisson(λ) with λ ~ Gamma(shape, rate), as for a histogram of an unknown number of records. Given the density,
the number withheld is then negative binomial: a sampler on counts draws it with everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privmix.frames import as_floats
from privmix.mechanisms.bars import Bars
from privmix.mechanisms.histogram import read_expected
from privmix.mechanisms.post_processing import Withhold, undo_all
from privmix.mechanisms.processed_records import ProcessedRecords
from privmix.parts.checks import fill


@dataclass(frozen=True, eq=False)
class VisibleRecords(ProcessedRecords):
    """A mechanism for each record, of whose noisy values those on one side of a limit are missing without a trace.

    Made by `Withheld(…, known=False)`. A release holds what was published, and the number of records is not known: it
    is learned, with what the prior says of the density on the withheld side.

    Guarantee: that of the wrapped mechanism, since post-processing tells no more of the data.

    Parameters
    ----------
    mechanism
        What made the noisy values: one number a record, with noise that is the same for all.
    steps
        What was done to them, in order; one of them withholds.
    expected
        Shape and rate of the gamma prior of the mean of n, the number of all records. By default (0.5, 1e-9):
        Jeffreys's prior of a Poisson mean, made proper by a rate that matters beyond 10^9 records only.
    """

    expected: tuple[float, float] | None = None

    to_tell_records: ClassVar[str] = "give the release with a row for every record, and known=True"

    def __post_init__(self) -> None:
        super().__post_init__()
        fill(self, expected=read_expected("Withheld", None, self.expected))
        if self.varying_fields():
            raise ValueError(
                "Withheld(known=False): noise that differs between records is not known of those that are missing. "
                "Give one scale, or the release with a row for every record and known=True."
            )
        share = self._share_withheld()
        if share != "some":
            raise ValueError(
                f"Withheld(known=False): {self.in_words}; {share} of the noisy values would be withheld. Check the "
                "limit."
            )

    def _share_withheld(self) -> str:
        try:
            low, high = self._withheld()
        except ValueError:  # nothing leads there
            return "none"
        return "all" if low == -np.inf and high == np.inf else "some"

    def _withheld(self) -> tuple[float, float]:
        """Return the ends of the noisy values that were not published."""
        low, high = self.mechanism.interval_rows(undo_all(self.steps, np.array([np.nan])))[0]
        return float(low), float(high)

    @property
    def records_unknown(self) -> bool:
        """Whether the number of records is not known."""
        return True

    @property
    def withholds_low(self) -> bool:
        """Whether it is low values that were withheld."""
        return next(step.below for step in self.steps if isinstance(step, Withhold))

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{super().in_words}, and not said how many"

    def own_numbers(self) -> dict[str, Any]:
        """Return the prior of the number of records, and on which side they are missing."""
        return {"expected": self.expected, "withholds_low": self.withholds_low}

    def keep_published(self, z: np.ndarray) -> np.ndarray:
        """Return what a release holds: the published values alone."""
        return z[~np.isnan(z)]

    def give_back(self, given: Any, z: np.ndarray) -> np.ndarray:
        """Return the published values, without the labels of the data: those would tell who is missing."""
        return self.keep_published(z)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as floats; refuse values that are missing, whose number would be known."""
        z = as_floats(z, "the release z", missing=True)
        gone = np.flatnonzero(np.isnan(z))
        if len(gone):
            raise ValueError(
                f"row {gone[0]} of the release has no value, but Withheld(known=False) says that withheld records have "
                "no row. Leave empty rows out, or say known=True where there is one for each withheld record."
            )
        return super().check_release(z)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return the published values as shares of all that were published."""
        found = super().bars(z, lower, upper)
        return None if found is None else found._replace(label=f"{found.label}, those published")

    def align_edges(self, edges: np.ndarray) -> np.ndarray:
        """Return edges of noisy values, that of what was withheld among them."""
        edges, (low, high) = super().align_edges(edges), self._withheld()
        if self.withholds_low:
            return np.concatenate([[-np.inf, high], edges[edges > high]])
        end = np.nextafter(low, np.inf)  # bins are closed on the left, and a value at the limit may be published
        return np.concatenate([edges[edges < low], [end, np.inf]])
