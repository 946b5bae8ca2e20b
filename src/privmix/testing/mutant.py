"""What a planted bug is.

A mutant is an edit of the source of library functions. Its `replacements` go to the compiler in place of the
originals; the library itself is not touched, and simulations keep the right model.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from privmix.model import PrivateMixture
from privmix.samplers import Sampler


@dataclass(frozen=True)
class Mutant:
    """A planted bug, with a model and a sampler on which the joint test must reject it.

    Parameters
    ----------
    name
        What is wrong.
    edits
        Each (function, old text, new text); the old text occurs once in the function's source.
    model, sampler
        Where it shows.
    n, sweeps
        Those of a joint test in which it shows.
    equivalent
        Why the posterior is unchanged, for an edit that leaves it so.
    """

    name: str
    edits: tuple[tuple[Callable, str, str], ...]
    model: PrivateMixture
    sampler: Sampler
    n: int = 10
    sweeps: int = 3
    equivalent: str = ""

    def replacements(self) -> dict[Callable, Callable]:
        """Return what to pass as ``replacements`` to plant the bug."""
        edited: dict[Callable, str] = {}
        for function, old, new in self.edits:
            edited[function] = exchange(edited.get(function) or source_of(function), old, new)
        return {function: build(function, source) for function, source in edited.items()}


def source_of(function: Any) -> str:
    """Return the source of a function, as it would stand at the left margin."""
    return textwrap.dedent(inspect.getsource(function))


def exchange(source: str, old: str, new: str) -> str:
    """Return the source with one piece exchanged; the piece must occur exactly once."""
    if source.count(old) != 1:
        raise ValueError(f"{old!r} occurs {source.count(old)} times in the source; it must occur once.")
    return source.replace(old, new)


def build(function: Any, source: str) -> Callable:
    """Return a function with this source and the names that another reads, those of its closure among them."""
    namespace = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    exec(compile(source, inspect.getfile(function), "exec"), namespace)
    made = namespace[function.__name__]
    made.__module__ = function.__module__
    return made
