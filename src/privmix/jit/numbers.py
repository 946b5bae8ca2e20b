"""Numbers: the form in which a part's parameters enter compiled code.

They are a named tuple whose class belongs to this module, whatever module the part was defined in. That is what lets
numba's disk cache find it again in another process, for parts defined in ``__main__`` too: the class is made from its
own name, ``Numbers__bounds__scale``, when a cached signature is loaded.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_PREFIX = "Numbers__"
_classes: dict[str, type] = {}


def numbers_type(fields: Sequence[str]) -> type:
    """Return the named-tuple class that holds these fields, the same object each time."""
    name = _PREFIX + "__".join(fields)
    if name not in _classes:
        made = namedtuple(name, fields)  # type: ignore[misc]
        made.__module__ = __name__
        _classes[name] = made
    return _classes[name]


def __getattr__(name: str) -> type:
    """Make the class of that name: how pickle finds it in a process that has not made it yet."""
    if name.startswith(_PREFIX):
        return numbers_type([part for part in name[len(_PREFIX) :].split("__") if part])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def numbers_of(values: dict[str, Any]) -> Any:
    """Return these values as numbers, each coerced so that another value of the same kind has the same type."""
    return numbers_type(list(values))(*[_coerce(value) for value in values.values()])


def is_numbers(value: Any) -> bool:
    """Return whether a value is numbers of a part."""
    return type(value).__module__ == __name__


def accessor(numbers: Any, per_record: Sequence[str]) -> Callable[[Any, int], Any]:
    """Return a plain function (numbers, i) -> numbers, in which every array of one value a record holds the i-th.

    Hooks are written for a scalar; this is what lets the same source serve a number and one number a record.
    """
    varying = [name for name in per_record if np.ndim(getattr(numbers, name)) == 1]
    cls = type(numbers)
    if not varying:
        return _same
    values = ", ".join(f"part.{name}[i]" if name in varying else f"part.{name}" for name in cls._fields)
    namespace: dict[str, Any] = {"Numbers": cls, "__name__": __name__}
    exec(f"def at_record(part, i):\n    return Numbers({values})\n", namespace)
    return namespace["at_record"]


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


def _same(part: Any, i: int) -> Any:
    return part


def _coerce(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, tuple):
        return tuple(_coerce(entry) for entry in value)
    return np.ascontiguousarray(value)
