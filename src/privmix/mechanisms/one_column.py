"""One column of rows that were released column by column: what its marginal is read by."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from privmix.mechanisms.base import Mechanism


def column_of_rows(rows: Any, z: np.ndarray, j: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """Return the mechanism of a column, its release, and which records reported it."""
    z, child = z[:, rows.spans()[j]], rows.children[j]
    there = ~np.isnan(z[:, 0])
    alone = z[there, 0] if child.row_length is None else z[there]
    return some_records(child, there), np.ascontiguousarray(alone), there


def some_records(mechanism: Mechanism, there: np.ndarray) -> Mechanism:
    """Return a mechanism for some of its records, where each has noise of its own."""
    if not mechanism.varying_fields() or there.all():
        return mechanism
    fields: Any = [field for field in dataclasses.fields(mechanism) if field.init]
    values = {field.name: getattr(mechanism, field.name) for field in fields}
    one_each = {name: value[there] for name, value in values.items() if np.shape(value) == there.shape}
    return dataclasses.replace(mechanism, **one_each)
