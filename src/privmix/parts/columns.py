"""Parts side by side, one for each named column of a record: what a product of kernels and one of mechanisms share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from privmix.jit import Scoped, flat, numbers_of
from privmix.parts.part import Part

#: names that mean something else: arguments of the constructors, and dimensions and variables of a posterior
RESERVED = (
    *("parts", "reports", "chain", "draw", "component", "record", "sample", "coefficient"),
    *("mean", "lower", "upper", "simultaneous_lower", "simultaneous_upper"),
)


class NamedColumns(Part):
    """A part for records of several named columns; ``names`` has them in their order."""

    names: Any

    def column(self, name: str) -> int:
        """Return the place of a column, or say which there are."""
        if name not in self.names:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(self.names)}.")
        return self.names.index(name)


class Columns(NamedColumns):
    """A part that is made of one for each named column.

    A subclass is a frozen dataclass with one field, ``parts``: the name and the part of each column, in their order. In
    compiled code a child's numbers have positional names, so that a column that is renamed compiles nothing anew.
    """

    parts: tuple[tuple[str, Any], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.parts)

    @property
    def children(self) -> tuple[Any, ...]:
        """The parts of the columns, in the same order."""
        return tuple(child for _, child in self.parts)

    def numbers(self) -> Any:
        """Return the numbers of the children, each a named tuple in this one."""
        return numbers_of({f"c{j}": child.numbers() for j, child in enumerate(self.children)})

    def per_record_fields(self) -> tuple[str, ...]:
        """Return nothing: what differs by record is inside the children."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={child!r}' for name, child in self.parts)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((type(self).__qualname__, self.parts))


def named_parts(owner: str, kind: type, parts: Any, named: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the parts of the columns by name, checked.

    Parameters
    ----------
    owner, kind
        Whose they are, for messages, and what each must be.
    parts
        A mapping, or pairs of name and part.
    named
        More of them, from keyword arguments.
    """
    found = (*(parts.items() if isinstance(parts, Mapping) else _pairs(owner, parts)), *named.items())
    for name, part in found:
        check_name(owner, name)
        if not isinstance(part, kind):
            hint = f" Did you mean {part.__name__}(…)?" if isinstance(part, type) else ""
            raise TypeError(f"{owner}: column {name!r} needs a {kind.__name__}; got {part!r}.{hint}")
    check_names(owner, [name for name, _ in found])
    return tuple(found)


def check_name(owner: str, name: Any) -> None:
    """Refuse what cannot be the name of a column."""
    if not isinstance(name, str) or not name.strip() or "/" in name or name in RESERVED:
        raise ValueError(f"{owner}: {name!r} cannot be the name of a column. Choose another.")


def check_names(owner: str, names: Any) -> tuple[str, ...]:
    """Return the names of two or more columns, or say what is wrong with them."""
    found = () if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    for name in found:
        check_name(owner, name)
    if len(set(found)) < len(found):
        raise ValueError(f"{owner} has two columns of one name: {', '.join(found)}.")
    if len(found) < 2:
        raise ValueError(f"{owner} needs at least two columns; for records of one number give the part itself.")
    return found


def _pairs(owner: str, parts: Any) -> list[tuple[Any, Any]]:
    try:
        return [(name, part) for name, part in parts]
    except (TypeError, ValueError) as error:
        raise TypeError(f"{owner}: parts must be pairs of a name and a part; got {parts!r}.") from error


@contextmanager
def of_column(name: str) -> Iterator[None]:
    """Put the name of a column before what is said to be wrong with it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"column {name!r}: {error}") from error


def over_children(
    name: str,
    arguments: str,
    function: Callable | Sequence[Callable],
    scopes: Sequence[Mapping[Callable, Callable]],
    lines: Iterable[str],
    **more: Any,
) -> Callable:
    """Return a flat function in whose lines ``f0``, ``f1``, … are a function with the hooks of each child.

    Parameters
    ----------
    name, arguments, lines
        Of the function, as in `privmix.jit.flat`.
    function
        A plain function or a slot, or one for each child.
    scopes
        The hooks of each child.
    more
        What else the lines name.
    """
    each = [function] * len(scopes) if callable(function) else function
    scoped = {f"f{j}": Scoped(one, hooks) for j, (one, hooks) in enumerate(zip(each, scopes, strict=True))}
    return flat(name, arguments, lines, {**scoped, **more})


def summed(calls: Iterable[str]) -> list[str]:
    """Return the line that adds up what the children return."""
    return [f"return {' + '.join(calls)}"]
