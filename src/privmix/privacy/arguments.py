"""Arguments of a calibration: budgets and sensitivities, checked, one number or one a record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatOrArray = float | NDArray[np.float64]


def positive(name: str, value: Any) -> NDArray[np.float64]:
    """Return the value as floats, all positive and finite, or say what is wrong."""
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
