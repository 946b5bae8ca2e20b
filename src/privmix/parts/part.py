"""The common ground of mechanisms, kernels and priors: a dataclass whose fields enter compiled code, and files."""

from __future__ import annotations

import dataclasses
import importlib
import math
import sys
import types
import typing
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np

from privmix.jit.numbers import numbers_of
from privmix.parts.options import Named


def given(default: Any = None, **about: Any) -> Any:
    """Return a field for what the user gives and no hook reads: it stays out of compiled code.

    A guarantee that is given or not (`epsilon=5.0` or `None`) would otherwise make two types, and compile twice.
    `about` is kept in the field's metadata: "help" and "metavar" are read by the command line.
    """
    return dataclasses.field(default=default, metadata={"given": True, **about})


_ONE_A_RECORD = "one a record"

#: Annotation of a field that is a number, or an array with one number for each data record. Hooks read it as a number.
PerRecord = Annotated[float | np.ndarray, _ONE_A_RECORD]


class Part(Named):
    """Base of mechanisms, kernels and priors.

    A subclass is a frozen dataclass. Its hooks are ordinary methods in which ``self`` is the instance when called from
    Python, and a named tuple of the dataclass's numeric fields when compiled. So a hook reads fields and calls plain
    functions, but neither ``self.method()`` nor ``super()``.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def numbers(self) -> Any:
        """Return the fields that compiled code can see, as a library-owned named tuple."""
        read = {f.name for f in dataclasses.fields(self) if not f.metadata.get("given")}
        return numbers_of({name: v for name, v in self._values().items() if name in read and _enters(v)})

    def per_record_fields(self) -> tuple[str, ...]:
        """Return the names of the fields that may hold one number for each data record."""
        self._check()
        cls: Any = type(self)
        hints = _annotations(cls, extras=True)
        return tuple(f.name for f in dataclasses.fields(self) if _varies(hints.get(f.name)))

    def varying_fields(self) -> list[str]:
        """Return the names of the fields that do hold one number for each data record."""
        return [name for name in self.per_record_fields() if np.ndim(getattr(self, name))]

    def _check(self) -> None:
        if not dataclasses.is_dataclass(self):
            raise TypeError(
                f"{type(self).__name__} is not a dataclass; decorate it with @dataclass(frozen=True) so that its "
                "fields can enter compiled code."
            )

    def _values(self) -> dict[str, Any]:
        self._check()
        cls: Any = type(self)
        hints = _annotations(cls, extras=False)
        values = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            # An annotated float given as 3 would otherwise compile once as an integer and once as a float.
            if _mentions(hints.get(f.name), float):
                value = _as_float(value)
            values[f.name] = value
        return values

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self._values(), other._values()
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(
            (
                type(self).__qualname__,
                *[(np.asarray(v) + 0).tobytes() for v in self._values().values() if _enters(v)],
            )
        )


@lru_cache(maxsize=1024)
def _annotations(kind: Any, *, extras: bool) -> dict[str, Any]:
    """Return the annotations of a class, read once: reading them took four fifths of a call of `logpdf`."""
    return typing.get_type_hints(kind, include_extras=extras)


def _enters(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_enters(entry) for entry in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return isinstance(value, bool | int | float | np.number)


def _as_float(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return tuple(_as_float(entry) for entry in value)
    if isinstance(value, int | float | np.number):
        return float(value)
    if isinstance(value, np.ndarray):
        return value.astype(np.float64, copy=False)
    return value


def _varies(hint: Any) -> bool:
    if _ONE_A_RECORD in getattr(hint, "__metadata__", ()):
        return True
    return any(_varies(entry) for entry in typing.get_args(hint))


def _mentions(hint: Any, wanted: type) -> bool:
    if hint is wanted:
        return True
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType, tuple):
        return any(_mentions(entry, wanted) for entry in typing.get_args(hint))
    return False


def part_to_dict(part: Any) -> dict[str, Any]:
    """Return the class and the fields of a frozen dataclass as plain data, ready for JSON."""
    fields = {f.name: _plain(getattr(part, f.name)) for f in dataclasses.fields(part) if f.init}
    return {"class": type(part).__qualname__, "module": type(part).__module__, "fields": fields}


def part_from_dict(data: dict[str, Any], known: dict[str, type] | None = None) -> Any:
    """Build the part again.

    Only the library's own classes are imported. A class of the user's must be passed in `known` (by its name) or be in
    a module that is already imported: reading a file never imports a module that the file names.
    """
    _check_entry(data)
    cls = _find_class(data["module"], data["class"], known or {})
    names = {f.name for f in dataclasses.fields(cls)}
    unknown = set(data["fields"]) - names
    if unknown:
        raise ValueError(f"{data['class']} has no field {sorted(unknown)}: the file was written by another version.")
    return cls(**{name: _value(value, known) for name, value in data["fields"].items()})


def _check_entry(data: Any) -> None:
    """Refuse what is no description of a part."""
    shapes = {"module": str, "class": str, "fields": dict}
    if not isinstance(data, dict) or not all(isinstance(data.get(name), shape) for name, shape in shapes.items()):
        raise TypeError("a part is described by its class, its module and its fields; the file has something else.")


def _find_class(module: str, name: str, known: dict[str, type]) -> Any:
    if name in known:
        return known[name]
    if module.split(".")[0] == __name__.split(".")[0]:
        holder: Any = importlib.import_module(module)
    else:
        holder = sys.modules.get(module)
    for step in name.split("."):
        holder = getattr(holder, step, None)
    if not (isinstance(holder, type) and dataclasses.is_dataclass(holder)):
        raise LookupError(
            f"the file names the class {name} of module {module}, which privmix does not have. If it is one of your "
            f"own, pass it: load(path, known={{{name!r}: {name}}}). If it is not, do not trust the file."
        )
    return holder


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"part": part_to_dict(value)}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, tuple):
        return {"tuple": [_plain(entry) for entry in value]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}  # JSON has no name for it
    return value


def _value(value: Any, known: dict[str, type] | None = None) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        if "part" in value:
            return part_from_dict(value["part"], known)
        if "array" in value:
            return np.asarray(value["array"], dtype=np.float64)
        if "number" in value:
            return float(value["number"])
        if "tuple" in value:
            return tuple(_value(entry, known) for entry in value["tuple"])
    return value
