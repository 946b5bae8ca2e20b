"""Draws and points in parts, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privmix.samplers.base import Draws

# Numbers held at a time: 32 MB.
HELD = 4_000_000


def parts_of(count: int, width: int) -> list[slice]:
    """Cut things of `width` numbers each into equal parts of at most `HELD` numbers, or of one thing."""
    parts = min(count, max(1, -(-count * width // HELD)))
    each = -(-count // parts)
    return [slice(first, min(first + each, count)) for first in range(0, count, each)]


def over_draws(evaluate: Callable[[Draws], np.ndarray], draws: Draws, width: int) -> np.ndarray:
    """Return evaluate(draws), an array with one row for each draw, of which `width` numbers are held at a time."""
    chains, length = draws.components.shape
    some = [Draws(*[array[:, part] for array in draws]) for part in parts_of(length, width * chains)]
    rows = [evaluate(each) for each in some]
    shaped = [each.reshape(chains, -1, *each.shape[1:]) for each in rows]
    return np.concatenate(shaped, axis=1).reshape(chains * length, *rows[0].shape[1:])
