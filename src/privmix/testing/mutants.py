"""Planted bugs: each statistical test of the library must reject them, or it proves nothing.

A mutant is one edit of one function's source. `plant` returns the replacement that tests pass on to the compiler; the
library itself is not touched.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """One planted bug: in `function`, the text `old` becomes `new`."""

    name: str
    function: Callable
    old: str
    new: str

    def replacements(self) -> dict[Callable, Callable]:
        """Return what to pass as ``replacements`` to plant the bug."""
        return {self.function: plant(self.function, self.old, self.new)}


def plant(function: Any, old: str, new: str) -> Callable:
    """Return a copy of a function in which one piece of its source is exchanged."""
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(old) != 1:
        raise ValueError(f"{old!r} occurs {source.count(old)} times in {function.__qualname__}; it must occur once.")
    namespace = dict(function.__globals__)
    exec(compile(source.replace(old, new), inspect.getfile(function), "exec"), namespace)
    mutant = namespace[function.__name__]
    mutant.__module__ = function.__module__
    return mutant
