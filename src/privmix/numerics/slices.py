"""Slices of a long axis, so that a table over it is never held at once."""

from __future__ import annotations


def slices_of(count: int, most: int) -> list[slice]:
    """Cut an axis of `count` things into slices of `most`, the last of what is left; at least one thing at a time."""
    step = max(1, most)
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]
