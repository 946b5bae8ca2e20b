"""A mechanism that perturbs each record by itself: log densities computed by compiled hooks, and where chains start."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.frames import as_floats, is_table
from privmix.frames.categories import as_codes
from privmix.jit import accessor, bind
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.evidence import LOCAL_HOOKS, log_q_each
from privmix.mechanisms.slots import at_record, log_between, log_q

if TYPE_CHECKING:
    from privmix.mechanisms.post_processing import Intervals


class LocalMechanism(Mechanism):
    """A mechanism that perturbs each record by itself.

    A subclass is a frozen dataclass with two hooks, ``log_q(self, z, y)`` (one record, compiled) and
    ``perturb(self, rng, y)`` (all records, NumPy), and usually a ``guarantee``. The rest is inherited.
    """

    def log_q(self, z, y):
        """Return log q(z|y) of one record (hook)."""
        raise NotImplementedError

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return a plausible y for each record, to start a chain: the release itself, moved into the bounds."""
        if z.ndim != 1:
            return self._best_on_grid(z)
        return z.copy() if self.bounds is None else np.clip(z, *self.bounds)

    def why_not_counted(self) -> str:
        """Return why rows do not come in counts of cells, or "" where they do (`Each`)."""
        return f"{type(self).__name__} releases several numbers a record."

    #: True if `noise_transform` falls as fast as that of a normal kernel, which then cannot be divided by it
    smooth_noise: ClassVar[bool] = False

    def noise_transform(self, t: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
        """Return the characteristic function of symmetric noise of this scale; None where z is not y plus noise."""
        return None

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray | None:
        """Return log (1/|C|) ∫_C q(z|y) dy for each record and cell C, or None where there is no closed form."""
        return None

    def interval_rows(self, found: Intervals) -> np.ndarray:
        """Return intervals of noisy records as rows (low, high), as ``log_between`` reads them."""
        return np.stack([found.low, found.high], axis=-1)

    def logpdf(self, z: Any, y: Any) -> np.ndarray:
        """Return log q(z|y) for each record; a single z or a single y is used for all.

        Parameters
        ----------
        z
            Released records: numbers, or rows for a mechanism that releases rows; or a frame with these columns.
        y
            Confidential records.
        """
        z = np.asarray(self.read_rows(z) if is_table(z) else z, dtype=np.float64)
        y = np.asarray(self.check_data(y) if is_table(y) else y, dtype=np.float64)
        if self.dimension > 1 and (y.ndim == 0 or y.shape[-1] != self.dimension):
            raise ValueError(
                f"{type(self).__name__} takes rows of {self.dimension} numbers; the data y have shape {y.shape}."
            )
        if self.row_length is not None and (z.ndim == 0 or z.shape[-1] != self.row_length):
            raise ValueError(
                f"{type(self).__name__} releases rows of {self.row_length} numbers; the release z has shape {z.shape}."
            )
        z_records = z.shape[: z.ndim - (self.row_length is not None)]
        y_records = y.shape[: y.ndim - (self.dimension > 1)]
        shape = np.broadcast_shapes(z_records, y_records)
        z = np.broadcast_to(z, shape + z.shape[len(z_records) :]).reshape(math.prod(shape), *z.shape[len(z_records) :])
        y = np.broadcast_to(y, shape + y.shape[len(y_records) :]).reshape(math.prod(shape), *y.shape[len(y_records) :])
        self.check_records(len(z))
        out = np.empty(len(z))
        each = bind(log_q_each, self.hooks(), owner=type(self).__name__)
        each(self.numbers(), np.ascontiguousarray(self.encode(z)), np.ascontiguousarray(y), out)
        return out.reshape(shape)

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        each = accessor(self.numbers(), self.per_record_fields())
        between = getattr(type(self), "log_between", None)
        found = {} if between is None else {log_between: between}
        return {**LOCAL_HOOKS, **found, log_q: type(self).log_q, at_record: each}

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of floats, or say what is wrong with it."""
        if self.releases_categories:
            z = as_codes(z, self.categories, "the release z")
        z = as_floats(z, "the release z", rows=self.row_length is not None)
        length = self.row_length
        wanted = "one number a record" if length is None else f"rows of {length} numbers"
        if z.ndim != 1 + (length is not None) or (length is not None and z.shape[1] != length):
            raise ValueError(
                f"{type(self).__name__} releases {wanted}; the release z has shape {z.shape}. "
                "Check that the mechanism is the one that made the release."
            )
        self.check_records(len(z))
        return z

    def read_rows(self, z: Any) -> np.ndarray:
        """Return released records, each by itself right, whatever is missing of all of them."""
        return self.check_release(z)

    def _best_on_grid(self, z: np.ndarray) -> np.ndarray:
        if self.bounds is None or self.dimension > 1:
            raise NotImplementedError(
                f"{type(self).__name__} needs an initial(self, z) that returns a plausible y for each record."
            )
        lower, upper = self.bounds
        grid = lower + (upper - lower) * (np.arange(64) + 0.5) / 64
        scores = np.stack([self.logpdf(z, point) for point in grid])
        return grid[np.argmax(scores, axis=0)]
