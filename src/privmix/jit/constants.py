"""Plain functions that return a constant: how a number known when a model is bound reaches compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def constant(value: Any) -> Callable[[], Any]:
    """Return a function without arguments that returns this value; another value compiles anew."""

    def valued():
        return value

    return valued


def lookup(values: tuple[Any, ...]) -> Callable[[int], Any]:
    """Return a function of an index into these values."""

    def looked_up(index):
        return values[index]

    return looked_up
