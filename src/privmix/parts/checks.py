"""Checks of what a user gives: one place, one wording."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def check_number(part: Any, *names: str) -> None:
    """Refuse fields that are not finite numbers."""
    for name in names:
        value = getattr(part, name)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise ValueError(f"{type(part).__name__}: {name} must be a finite number; got {value!r}.")


def check_positive(part: Any, *names: str) -> None:
    """Refuse fields that are not positive, finite numbers."""
    check_number(part, *names)
    for name in names:
        if getattr(part, name) <= 0:
            raise ValueError(f"{type(part).__name__}: {name} must be positive; got {getattr(part, name)!r}.")


def check_interval(part: Any, name: str) -> None:
    """Refuse a field that is not a pair (lower, upper), and store it as two floats."""
    value = getattr(part, name)
    try:
        lower, upper = (float(entry) for entry in value)
    except (TypeError, ValueError):
        lower = upper = math.nan
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        raise ValueError(
            f"{type(part).__name__}: {name} must be a pair (lower, upper) with lower < upper; got {value!r}."
        )
    object.__setattr__(part, name, (lower, upper))


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number of Python or NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int, owner: str = "") -> int:
    """Return a whole number of at least so much, or say what is wrong with it.

    Parameters
    ----------
    name, value
        The argument and what was given for it.
    least
        The smallest number that serves.
    owner
        Whose argument it is, for the message: the name of a class.
    """
    if not is_whole(value) or value < least:
        whose = f"{owner}: " if owner else ""
        raise ValueError(f"{whose}{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)
