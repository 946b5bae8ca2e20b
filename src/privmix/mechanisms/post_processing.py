"""What is done to noisy values before they are published: clamped, rounded, withheld.

Each step maps a noisy number to a published one and never falls, so what led to a published value is an interval of
noisy ones, and a list of steps is undone from the last to the first. A value that was withheld is not a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from privmix.parts.checks import check_number, check_positive

#: ways to round: to the nearest with halves up, to the even multiple or away from zero; down, up
ROUNDINGS = ("half up", "half even", "half away", "down", "up")
# How far, in multiples, a value may be from a multiple and still be one: what decimal digits lose.
OFF_THE_MULTIPLE = 1e-6
# The same as a share of the multiple: a large number of decimals is a float that is off by its rounding.
ROUNDING_OF_A_FLOAT = 4.0 * np.finfo(np.float64).eps


class Intervals(NamedTuple):
    """Noisy values that may lie behind each published one, with whether the ends belong to them.

    Where both ends are one number that belongs to them, the value was published as it was; where nothing is between
    them, no noisy value leads there.
    """

    low: np.ndarray
    high: np.ndarray
    has_low: np.ndarray
    has_high: np.ndarray

    @property
    def is_point(self) -> np.ndarray:
        """Which intervals are one value."""
        return (self.low == self.high) & self.has_low & self.has_high

    @property
    def is_empty(self) -> np.ndarray:
        """Which intervals hold nothing."""
        return (self.low > self.high) | ((self.low == self.high) & ~(self.has_low & self.has_high))

    def hold(self, value: float) -> np.ndarray:
        """Return which intervals hold a value."""
        from_low = (self.low < value) | ((self.low == value) & self.has_low)
        return from_low & ((self.high > value) | ((self.high == value) & self.has_high))

    def emptied(self, where: np.ndarray) -> Intervals:
        """Return the intervals with those at the given places empty."""
        return self._replace(low=np.where(where, np.inf, self.low), high=np.where(where, -np.inf, self.high))

    def multiples(self, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the first and the last multiple of a step inside; the first is larger where none is."""
        first, last = self.low / step, self.high / step
        at_first, at_last = np.rint(first), np.rint(last)
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is near to nothing
            near_first, near_last = np.abs(first - at_first), np.abs(last - at_last)
            off = [np.maximum(OFF_THE_MULTIPLE, ROUNDING_OF_A_FLOAT * np.abs(end)) for end in (at_first, at_last)]
        first = np.where(near_first < off[0], at_first + ~self.has_low, np.ceil(first))
        last = np.where(near_last < off[1], at_last - ~self.has_high, np.floor(last))
        return first, last


class Step:
    """A step of post-processing: a map that never falls, and what it leaves of an interval when undone."""

    #: what was done, as the second half of a sentence
    in_words: str

    def apply(self, z: np.ndarray) -> np.ndarray:
        """Return what is published of noisy values."""
        raise NotImplementedError

    def undo(self, after: Intervals) -> Intervals:
        """Return the values before this step that end in given intervals after it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Clamp(Step):
    """Values below a limit are set to it, and values above another."""

    lower: float = -np.inf
    upper: float = np.inf

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            if getattr(self, name) not in (-np.inf, np.inf):
                check_number(self, name)
        if not self.lower < self.upper or np.isinf([self.lower, self.upper]).all():
            raise ValueError(
                f"Clamped: give lower=, upper= or both, lower below upper; got lower={self.lower!r} and "
                f"upper={self.upper!r}."
            )

    @property
    def in_words(self) -> str:  # type: ignore[override]
        """What was done."""
        below = f"values below {self.lower:g} set to {self.lower:g}" if self.lower > -np.inf else ""
        above = f"values above {self.upper:g} set to {self.upper:g}" if self.upper < np.inf else ""
        return " and ".join(filter(None, (below, above)))

    def apply(self, z: np.ndarray) -> np.ndarray:
        """Return values moved into the limits."""
        return np.clip(z, self.lower, self.upper)

    def undo(self, after: Intervals) -> Intervals:
        """Return the intervals, open outwards where they hold a limit; empty where they lie beyond one."""
        at_lower, at_upper = after.hold(self.lower), after.hold(self.upper)
        outside = ~(at_lower | at_upper) & ((after.high <= self.lower) | (after.low >= self.upper))
        low, high = np.where(at_lower, -np.inf, after.low), np.where(at_upper, np.inf, after.high)
        return after._replace(low=low, high=high).emptied(outside)


@dataclass(frozen=True)
class Round(Step):
    """Values are rounded to multiples of a number."""

    to: float
    how: str = "half up"

    def __post_init__(self) -> None:
        check_positive(self, "to")
        if self.how not in ROUNDINGS:
            raise ValueError(f"Rounded: how must be one of {', '.join(map(repr, ROUNDINGS))}; got {self.how!r}.")

    @property
    def in_words(self) -> str:  # type: ignore[override]
        """What was done."""
        way = {"down": " downwards", "up": " upwards"}.get(self.how, "")
        return f"values rounded{way} to multiples of {self.to:g}"

    def apply(self, z: np.ndarray) -> np.ndarray:
        """Return the multiples."""
        scaled = z / self.to
        if self.how == "half even":
            return self.to * np.rint(scaled)
        if self.how == "half away":
            return self.to * np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
        shift = 0.5 if self.how == "half up" else 0.0
        return self.to * (np.ceil(scaled) if self.how == "up" else np.floor(scaled + shift))

    def undo(self, after: Intervals) -> Intervals:
        """Return from where the first multiple inside begins to where the last one ends."""
        first, last = after.multiples(self.to)
        down = {"down": 0.0, "up": 1.0}.get(self.how, 0.5)
        with np.errstate(invalid="ignore"):  # ∞ is no even number
            even = first % 2.0 == 0.0, last % 2.0 == 0.0
        ends = {"half even": even, "half away": (first > 0.0, last < 0.0), "up": (False, True)}
        has_low, has_high = ends.get(self.how, (True, False))
        low, high = self.to * (first - down), self.to * (last + (1.0 - down))
        shape = np.shape(low)
        made = Intervals(low, high, np.broadcast_to(has_low, shape), np.broadcast_to(has_high, shape))
        return made.emptied(first > last)


@dataclass(frozen=True)
class Withhold(Step):
    """Values on one side of a limit are not published."""

    limit: float
    below: bool = True
    with_limit: bool = False  # whether the limit itself is withheld

    def __post_init__(self) -> None:
        check_number(self, "limit")

    @property
    def in_words(self) -> str:  # type: ignore[override]
        """What was done."""
        side = "below" if self.below else "above"
        return f"values {'at or ' if self.with_limit else ''}{side} {self.limit:g} withheld"

    def apply(self, z: np.ndarray) -> np.ndarray:
        """Return values, those withheld as not a number."""
        side = z < self.limit if self.below else z > self.limit
        return np.where(side | (self.with_limit & (z == self.limit)), np.nan, z)

    def undo(self, after: Intervals) -> Intervals:
        """Return the withheld side where the value is none; others are cut to what is published."""
        low, high, has_low, has_high = after
        gone, limit = np.isnan(low), self.limit
        if self.below:
            cut = ~gone & ((low < limit) | ((low == limit) & self.with_limit))
            has_low, has_high = np.where(cut, not self.with_limit, has_low), np.where(gone, self.with_limit, has_high)
            return Intervals(
                np.where(gone, -np.inf, np.where(cut, limit, low)), np.where(gone, limit, high), has_low, has_high
            )
        cut = ~gone & ((high > limit) | ((high == limit) & self.with_limit))
        has_low, has_high = np.where(gone, self.with_limit, has_low), np.where(cut, not self.with_limit, has_high)
        return Intervals(
            np.where(gone, limit, low), np.where(gone, np.inf, np.where(cut, limit, high)), has_low, has_high
        )


def apply_all(steps: tuple[Step, ...], z: np.ndarray) -> np.ndarray:
    """Return what is published of noisy values.

    Parameters
    ----------
    steps
        What is done, in order.
    z
        Noisy values.
    """
    for step in steps:
        z = step.apply(z)
    return z


def undo_all(steps: tuple[Step, ...], z: np.ndarray, place: str = "row") -> Intervals:
    """Return the noisy values that may lie behind each published one, the last step undone first.

    Parameters
    ----------
    steps
        What was done, in order.
    z
        What was published; not a number where it was withheld.
    place
        What to call a place in z in a message: a row, a bin.
    """
    yes = np.ones(np.shape(z), dtype=bool)
    found = Intervals(z, z, yes, yes)
    for step in reversed(steps):
        found = step.undo(found)
    missing = np.flatnonzero(np.isnan(found.low))
    if len(missing):
        raise ValueError(
            f"{place} {missing[0]} of the release has no value, but nothing was withheld. Wrap the mechanism in "
            "Withheld(…), or give the value."
        )
    empty = np.flatnonzero(found.is_empty)
    if len(empty):
        raise ValueError(
            f"{place} {empty[0]} of the release is {z[empty[0]]:.15g}, which cannot be after this: "
            f"{words_of(steps)}. Check the value and what was done to it."
        )
    return found


def check_steps(steps: Any) -> None:
    """Refuse steps that withhold twice: a missing value would have two reasons."""
    if sum(isinstance(step, Withhold) for step in steps) > 1:
        raise ValueError(
            "Withheld: values are withheld already, and a missing one would have two reasons. Give one limit."
        )


def words_of(steps: tuple[Step, ...]) -> str:
    """Return what was done, in order."""
    return "; ".join(step.in_words for step in steps)
