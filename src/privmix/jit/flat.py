"""Write a plain function over several children, line by line: one flat body, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def flat(name: str, arguments: str, lines: Iterable[str], functions: Mapping[str, Any]) -> Callable:
    """Return a function with these lines, ready to be bound.

    A closure that calls closures costs as much to compile and to run, and reads worse in a compiler's message.

    Parameters
    ----------
    name, arguments
        Of the function, as they are written.
    lines
        Of its body.
    functions
        What the lines call by name: plain functions, or those of children as `Scoped`.
    """
    body = "".join(f"    {line}\n" for line in lines) or "    pass\n"
    namespace: dict[str, Any] = {"__name__": __name__, **functions}
    exec(f"def {name}({arguments}):\n{body}", namespace)
    return namespace[name]
