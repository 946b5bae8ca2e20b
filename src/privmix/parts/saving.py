"""Parts as plain data: what a saved release or posterior says of its mechanism, kernel, prior and sampler."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from typing import Any

import numpy as np


def part_to_dict(part: Any) -> dict[str, Any]:
    """Return the class and the fields of a frozen dataclass as plain data, ready for JSON."""
    fields = {f.name: _plain(getattr(part, f.name)) for f in dataclasses.fields(part) if f.init}
    return {"class": type(part).__qualname__, "module": type(part).__module__, "fields": fields}


def part_from_dict(data: dict[str, Any], known: dict[str, type] | None = None) -> Any:
    """Build the part again.

    Only the library's own classes are imported. A class of the user's must be passed in `known` (by its name) or be in
    a module that is already imported: reading a file never imports a module that the file names.
    """
    cls = _find_class(data["module"], data["class"], known or {})
    names = {f.name for f in dataclasses.fields(cls)}
    unknown = set(data["fields"]) - names
    if unknown:
        raise ValueError(f"{data['class']} has no field {sorted(unknown)}: the file was written by another version.")
    return cls(**{name: _value(value, known) for name, value in data["fields"].items()})


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
            f"the file needs the class {name} of module {module}, which is not loaded. Import that module first, or "
            f"pass the class: load(path, known={{{name!r}: {name}}})."
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
        return value.item()
    return value


def _value(value: Any, known: dict[str, type] | None = None) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        if "part" in value:
            return part_from_dict(value["part"], known)
        if "array" in value:
            return np.asarray(value["array"], dtype=np.float64)
        if "tuple" in value:
            return tuple(_value(entry, known) for entry in value["tuple"])
    return value
