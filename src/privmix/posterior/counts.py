"""Counts that a user asks for."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_count(name: str, value: Any, least: int) -> None:
    """Refuse a count that is not a whole number or too small."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
