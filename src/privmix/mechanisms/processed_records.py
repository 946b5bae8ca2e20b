"""Records that were clamped, rounded or withheld after the noise: the mass of all noisy values behind a published one.

A published value stands for an interval of noisy ones, or for one alone. So hooks read a released record as a row
(low, high): log q is the log density at low where both are equal, else log P(low < Z ≤ high|y), from the noise's
distribution function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from privmix.frames import as_floats
from privmix.jit import slot
from privmix.mechanisms.bars import Bars
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.cells import cell_log_q, cell_point
from privmix.mechanisms.lattice import COST_OF_A_CELL
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.post_processing import Step, Withhold, apply_all, check_steps, undo_all, words_of
from privmix.mechanisms.slots import log_between, log_q
from privmix.mechanisms.wrapper import Wrapper, of_wrapped


@slot
def noisy_log_q(mechanism, z, y):
    """Return log q(z|y) of the mechanism before post-processing."""


@slot
def noisy_log_between(mechanism, low, high, y):
    """Return log P(low < Z ≤ high|y) of the mechanism before post-processing."""


@dataclass(frozen=True, eq=False)
class ProcessedRecords(Wrapper):
    """A mechanism for each record whose noisy values were clamped, rounded or withheld before they were published.

    Made by `Clamped`, `Rounded` and `Withheld`. A published value of one noisy value has its density; one that stands
    for several has their mass, and so has a missing one (NaN) where values were withheld.

    Guarantee: that of the wrapped mechanism, since post-processing tells no more of the data.

    Parameters
    ----------
    mechanism
        What made the noisy values: one number a record, with noise.
    steps
        What was done to them, in order.
    """

    mechanism: LocalMechanism
    steps: tuple[Step, ...] = ()

    publishes_intervals: ClassVar[bool] = True
    bounds = of_wrapped("bounds")
    clipped_at = of_wrapped("clipped_at")
    lattice_step = of_wrapped("lattice_step")

    def __post_init__(self) -> None:
        inner = self.mechanism
        if not isinstance(inner, LocalMechanism) or log_between not in inner.hooks():
            name = type(inner).__name__ if isinstance(inner, Mechanism) else repr(inner)
            raise ValueError(
                "clamped, rounded and withheld records need a mechanism that adds noise to numbers and has "
                f"log_between(self, low, high, y), the mass of an interval of noisy values; {name} has none."
            )
        check_steps(self.steps)

    def after(self, step: Step) -> ProcessedRecords:
        """Return the mechanism with one more step."""
        return replace(self, steps=(*self.steps, step))

    @property
    def withholds(self) -> bool:
        """Whether a released value may be missing."""
        return any(isinstance(step, Withhold) for step in self.steps)

    def fill_withheld(self, z: np.ndarray) -> np.ndarray:
        """Return a release with the limit in place of what was withheld."""
        limits = [step.limit for step in self.steps if isinstance(step, Withhold)]
        return np.where(np.isnan(z), limits[0], z) if limits else z

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{self.mechanism.in_words}; {words_of(self.steps)}"

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw what is published of the records."""
        return self.publish(self.mechanism.perturb(rng, y))

    def publish(self, z: np.ndarray) -> np.ndarray:
        """Return what is published of noisy values; NaN where they are withheld."""
        return apply_all(self.steps, z)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as floats, NaN where it was withheld; name the row that cannot be after these steps."""
        z = as_floats(z, "the release z", missing=self.withholds)
        if z.ndim != 1:
            raise ValueError(
                f"{type(self.mechanism).__name__} releases one number a record; the release z has shape {z.shape}. "
                "Check that the mechanism is the one that made the release."
            )
        self.check_records(len(z))
        self.encode(z)
        return z

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return a row (low, high) for each record: the noisy values behind it, one where the two are equal."""
        found = undo_all(self.steps, z)
        rows = self.mechanism.interval_rows(found)
        outside = np.flatnonzero(~self._possible(rows))
        if len(outside):
            shown = z[outside[0]] if np.isfinite(z[outside[0]]) else "missing"
            raise ValueError(
                f"row {outside[0]} of the release is {shown}, which no record gives: {self.in_words}. Check the value "
                "and what was done to it."
            )
        return rows

    def _possible(self, rows: np.ndarray) -> np.ndarray:
        """Return which intervals touch what the wrapped mechanism can release."""
        lower, upper = self.mechanism.release_range or (-np.inf, np.inf)
        rounding = 1e-9 * (upper - lower) if np.isfinite(upper - lower) else 0.0
        inside = (rows[:, 0] <= upper + rounding) & (rows[:, 1] >= lower - rounding)
        return inside & (rows[:, 0] <= rows[:, 1])

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return a plausible record for each released one: from the middle of what led to it, or near its end."""
        low, high = self.encode(z).T
        spread = self.mechanism.noise_spread() or 0.0
        start, end = np.where(np.isinf(low), high - spread, low), np.where(np.isinf(high), low + spread, high)
        return self.mechanism.initial(0.5 * (start + end))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return that of the noisy value nearest to the interval among those behind each published one."""
        low, high = self.encode(z).T
        return self.mechanism.log_tail(np.maximum(low, np.minimum(high, interval[0])), interval)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return the published values as shares of all records from lower to upper."""
        published = z[~np.isnan(z)]
        share = len(published) / len(z)
        found = self.mechanism.bars(published, lower, upper) if share > 0.0 else None
        if found is None or share == 1.0:
            return found
        return Bars(share * found.heights, found.edges, f"{found.label}, {100 * (1 - share):.2g}% withheld")

    def wrapped_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the wrapped mechanism in the slots that are called here."""
        hooks = self.mechanism.hooks()
        return {noisy_log_q: hooks[log_q], noisy_log_between: hooks[log_between]}

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        return {**super().hooks(), log_q: _published_log_q}

    def cell_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of one cell for each point, where records are points of a lattice."""
        points: dict[Callable, Callable] = getattr(self.mechanism, "point_hooks", dict)()
        return {**points, cell_log_q: _cell_log_q} if points else {}

    @property
    def cell_cost(self) -> float | None:
        """Cost of a sum over the cells."""
        return COST_OF_A_CELL * len(self.mechanism.points) if self.cell_hooks() else None  # type: ignore[attr-defined]

    def align_edges(self, edges: np.ndarray) -> np.ndarray:
        """Return edges of noisy values, moved so that none lies inside what is published as one value."""
        step, edges = self.output_step, edges[1:-1]
        edges = edges if step is None else step * np.unique(np.rint(edges / step))
        low, high = self.mechanism.interval_rows(undo_all(self.steps, self.publish(edges))).T
        single = edges if step is None else edges + 0.5 * step
        moved = np.unique(np.where(low == high, single, np.where(np.isinf(high), low, high)))
        return np.concatenate([[-np.inf], moved[np.isfinite(moved)], [np.inf]])

    def log_q(self, z, y):
        """Return the log density, or the log mass, of what is behind a published record."""
        return self._call(_published_log_q, z, y)


def _published_log_q(part, z, y):
    """Return log q at the noisy value behind a published record, or the log mass of those between z[0] and z[1]."""
    if z[0] == z[1]:
        return noisy_log_q(part, z[0], y)
    return noisy_log_between(part, z[0], z[1], y)


def _cell_log_q(part, z, j):
    """Return the same at the point of cell j."""
    return _published_log_q(part, z, cell_point(part, j))
