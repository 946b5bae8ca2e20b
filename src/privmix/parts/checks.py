"""Checks of what a user gives, fields of parts and budgets of noise among them: one place, one wording."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmix.frames.read import refuse_masked

FloatOrArray = float | NDArray[np.float64]
#: numbers from here to there have fourth powers inside floating point, and room to spare; fits at both are tested
SMALLEST, LARGEST = 1e-60, 1e60
# Floating-point numbers between two bounds: with so many a fit differs from one at (0, 1) by less than its error.
LEAST_BETWEEN = 2**20


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
    refuse_uncountable(lower, upper)
    object.__setattr__(part, name, (lower, upper))


def check_categories(owner: str, categories: Any) -> tuple[str, ...]:
    """Return the names of two or more categories, or say what is wrong with them."""
    found = () if isinstance(categories, str) else tuple(categories) if np.iterable(categories) else ()
    names = tuple(str(name) if isinstance(name, str) else name for name in found)
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        raise ValueError(
            f"{owner}: categories must be two or more names, such as ('no', 'yes'), known without looking at the data; "
            f"got {_shown(categories)}. Write numbers as text."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"{owner}: a category is named twice in {_shown(names)}.")
    return names


def cells_of_categories(part: Any) -> None:
    """Fill cells and bounds of a mechanism over categories that is under construction: a cell for each, of width 1.

    A mechanism that is rebuilt from its own fields has them already, and they must agree.
    """
    owner, names = type(part).__name__, check_categories(type(part).__name__, part.categories)
    bounds = (-0.5, len(names) - 0.5)
    if part.cells not in (None, len(names)) or part.bounds not in (None, bounds) or getattr(part, "staggered", False):
        raise ValueError(f"{owner}: with categories= there is a cell for each; give no cells, bounds or staggered.")
    fill(part, categories=names, cells=len(names), bounds=bounds)


def check_positive_number(name: str, value: Any) -> float:
    """Return a positive, finite number, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number; got {value!r}.")
    return float(value)


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


def check_switch(name: str, value: Any, owner: str) -> bool:
    """Return True or False as Python has them, or say what is wrong."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{owner}: {name} must be True or False; got {value!r}.")
    return bool(value)


def positive(name: str, value: Any) -> NDArray[np.float64]:
    """Return the value as floats, all positive and finite, or say what is wrong."""
    refuse_masked(value, name)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.asarray(np.nan)
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise ValueError(
            f"The noise was to be calibrated with {name}={value!r}, but needs {name} > 0 and finite. "
            f"Give a positive number."
        )
    return numbers


def single(name: str, value: Any) -> float:
    """Return the value as one positive finite float, or say what is wrong."""
    numbers = positive(name, value)
    if numbers.ndim > 0:
        raise ValueError(f"The noise was to be calibrated with {name}={value!r}, but needs one number for all records.")
    return float(numbers)


def probability(value: Any) -> NDArray[np.float64]:
    """Return delta as floats inside (0, 1), or say what is wrong."""
    delta = positive("delta", value)
    if (delta >= 1).any():
        raise ValueError(
            f"The noise was to be calibrated with delta={value!r}, but needs 0 < delta < 1: at delta = 1 "
            f"nothing is promised. Give a delta well below one over the number of records."
        )
    return delta


def plain(values: Any) -> FloatOrArray:
    """Return a float for a scalar, the array otherwise."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)


def fill(part: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass that is under construction."""
    for name, value in values.items():
        object.__setattr__(part, name, value)


def _shown(values: Any) -> str:
    text = repr(values)
    return text if len(text) <= 60 else text[:57] + "..."


def check_bounds(bounds: Any, *, needed_for: str = "") -> tuple[float, float] | None:
    """Return bounds as a pair of floats, or say what is wrong with them."""
    if bounds is None:
        if needed_for:
            raise ValueError(
                f"{needed_for} needs bounds=(lower, upper), the range that a record can take: noise is scaled to it. "
                "They must be known without looking at the data."
            )
        return None
    try:
        lower, upper = (float(value) for value in bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f"bounds must be a pair (lower, upper); got {_shown(bounds)}.") from error
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise ValueError(f"bounds must be finite with lower < upper; got ({lower:g}, {upper:g}).")
    refuse_uncountable(lower, upper)
    return lower, upper


def refuse_uncountable(lower: float, upper: float) -> None:
    """Refuse an interval in which floating point cannot follow a density."""
    if not (upper - lower >= SMALLEST and max(-lower, upper) <= LARGEST):
        raise ValueError(
            f"bounds must be at least {SMALLEST:g} apart and at most {LARGEST:g} from 0, or powers of records "
            f"leave floating point; got ({lower!r}, {upper!r}). Give records and bounds in other units."
        )
    between = (upper - lower) / np.spacing(max(-lower, upper))
    if between < LEAST_BETWEEN:
        raise ValueError(
            f"bounds ({lower!r}, {upper!r}) are so close, for their size, that floating point has only {between:.0f} "
            f"numbers between them; {LEAST_BETWEEN} are needed. Subtract the lower bound from records and bounds."
        )


def check_scale(scale: Any, *, varying: bool = False) -> Any:
    """Return a noise scale as a float or, where allowed, a read-only array with one for each record."""
    refuse_masked(scale, "the noise scale")
    try:
        array = np.array(scale, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim > int(varying) or array.size == 0 or not np.all(np.isfinite(array) & (array > 0)):
        kind = "a positive number, or an array of one for each record" if varying else "a positive number"
        raise ValueError(f"the noise scale must be {kind}; got {_shown(scale)}.")
    if array.ndim == 0:
        return float(array)
    array.setflags(write=False)
    return array


def one_of(owner: str, **given: Any) -> str:
    """Return the name of the one way of setting the noise that was given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        choices = ", ".join(f"{name}=" for name in given)
        got = " and ".join(named) if named else "none"
        raise ValueError(f"{owner} takes exactly one of {choices} to set its noise; got {got}.")
    return named[0]
