"""Mechanisms that make one release of the whole data set, kept by a trusted holder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from privmix.frames import as_floats, columns_of, is_table, like
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.slots import at_record, begin, evidence, log_q, log_ratio, replace, settle


class GlobalMechanism(Mechanism):
    """A mechanism that releases something of all records at once.

    Samplers move one record at a time, so they need to know how well the release agrees with the data after one record
    is replaced, and nothing else. A subclass is a frozen dataclass with a field ``records``, the public number n of
    records, and

    - ``statistic(self, y)``: what the mechanism sees of the data, as a flat array of floats (Python, once)
    - ``log_ratio(self, z, statistic, old, new)``: log q(z|data with `new`) − log q(z|data with `old`) (compiled)
    - ``replace(self, statistic, old, new)``: the statistic in place after the replacement (compiled)
    - ``perturb(self, rng, y)``: a release (NumPy)
    - ``initial(self, z)``: n plausible records to start a chain from; by default all between the bounds

    and usually a ``guarantee``, for neighbours by replacement: n is public. The cost of `log_ratio` and `replace` must
    not grow with n, or a sweep grows with n².
    """

    is_global: ClassVar[bool] = True
    record_counts: ClassVar[tuple[str, ...]] = ("records",)
    #: number of confidential records behind the release: public, or None where it is not known
    records: Any

    def statistic(self, y: np.ndarray) -> np.ndarray:
        """Return what the mechanism sees of the data (hook)."""
        raise NotImplementedError

    def log_ratio(self, z, statistic, old, new):
        """Return the log ratio of the release's density when one record moves from old to new (hook)."""
        raise NotImplementedError

    def replace(self, statistic, old, new):
        """Move one record of the statistic from old to new, in place (hook)."""
        raise NotImplementedError

    @property
    def reference(self) -> float:
        """A value that a record can take: the statistic of a chain's records is built up from it."""
        return 0.0 if self.bounds is None else 0.5 * (self.bounds[0] + self.bounds[1])

    def origin(self) -> np.ndarray:
        """Return the statistic of a data set in which every record has the reference value."""
        records = 0 if self.records is None else self.records
        shape = records if self.dimension == 1 else (records, self.dimension)
        statistic = self.statistic(np.full(shape, self.reference))
        return np.ascontiguousarray(statistic, dtype=np.float64).reshape(-1)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return records spread evenly between the bounds."""
        if self.bounds is None or self.dimension > 1:
            raise NotImplementedError(
                f"{type(self).__name__} needs an initial(self, z) that returns {self.records} plausible records."
            )
        return self.bounds[0] + (self.bounds[1] - self.bounds[0]) * (np.arange(self.records) + 0.5) / self.records

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        cls: Any = type(self)
        asked: dict[Callable, Callable] = {begin: global_begin, evidence: global_evidence, settle: global_settle}
        return {**asked, log_ratio: cls.log_ratio, replace: cls.replace, at_record: _whole, log_q: _nothing}

    def count_records(self, z: np.ndarray) -> int:
        """Return the number of records, which is public."""
        return self.records

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as a flat array of floats, or say what is wrong with it; a table is read by its columns."""
        if is_table(z):
            z = self.from_columns(columns_of(z, self.column_names, "the release z", missing=self.withholds))
        z = as_floats(z, "the release z", missing=self.withholds)
        if z.ndim != 1:
            raise ValueError(f"{type(self).__name__} releases a row of numbers; the release z has shape {z.shape}.")
        return z

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return a release as the table that goes into a file, where the data came as a column or a frame."""
        made = like(given, self.to_columns(z))
        return z if isinstance(made, dict) else made

    def check_records(self, n: int) -> None:
        """Refuse data of another size: the number of records is public and part of the mechanism."""
        if self.records is not None and n != self.records:
            raise ValueError(
                f"{type(self).__name__} was made for {self.records} records, but there are {n}. The number of records "
                "is public and enters the release: set records= to it."
            )


def _whole(mechanism, i):
    return mechanism


def _nothing(mechanism, z, y):
    return 0.0


def global_begin(mechanism, data, seen, ys, m):
    """Move every record in turn from the reference value to its own."""
    for c in range(len(seen)):
        seen[c] = data.origin[c]
    for i in range(len(ys)):
        replace(mechanism, seen, data.reference[0], ys[i])


def global_evidence(mechanism, data, seen, i, current, proposed):
    """Return the log ratio of the release's density, proposed against current."""
    return log_ratio(mechanism, data.z, seen, current[0], proposed[0])


def global_settle(mechanism, data, seen, i, current, proposed, value):
    """Move the record in what the mechanism sees; the current value is the next comparison's zero."""
    replace(mechanism, seen, current[0], proposed[0])
    return 0.0
