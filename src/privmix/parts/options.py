"""Fields of a part as options of the command line: names, types, defaults and help, read off the class."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from typing import Any, ClassVar, NamedTuple


class Option(NamedTuple):
    """A field that the command line can set.

    Parameters
    ----------
    name
        Of the field; its flag is ``--name`` with dashes.
    type
        float, int, str, bool, or a tuple of these.
    help
        What it is, without a full stop.
    metavar
        What stands for its value in a message; "" for the usual word of the type.
    default
        What the field is if not given, or `dataclasses.MISSING`.
    choices
        The values that it may have, where they are few.
    """

    name: str
    type: Any
    help: str
    metavar: str
    default: Any
    choices: tuple[str, ...]

    @property
    def flag(self) -> str:
        """The option as it is written."""
        return flag(self.name)


def flag(name: str) -> str:
    """Return the option that sets a field."""
    return "--" + name.replace("_", "-")


def options_of(kind: type, words: dict[str, tuple[str, str]]) -> dict[str, Option]:
    """Return the options of a part by field: all that its constructor takes and a command line can write.

    Parameters
    ----------
    kind
        The class: a dataclass.
    words
        Metavar and help of fields by name. For others they are in the field's metadata, under "metavar" and "help", and
        help is else the first sentence on the field under Parameters in the docstring. Few values that a text may have
        are there under "choices"; a field with a default that a command line must set has "needed".
    """
    hints = typing.get_type_hints(kind)
    told = _parameters(kind.__doc__ or "")
    found = {}
    for field in dataclasses.fields(kind):
        written, about = _written(hints[field.name]), field.metadata
        if field.init and written is not None:
            metavar, text = words.get(field.name, ("", told.get(field.name, "")))
            text, metavar = about.get("help", text), about.get("metavar", metavar)
            default = dataclasses.MISSING if about.get("needed") else field.default
            found[field.name] = Option(field.name, written, text, metavar, default, about.get("choices", ()))
    return found


class Named:
    """What has a name on the command line: that of its class with dashes (HaarWavelet is haar-wavelet)."""

    #: name on the command line; from that of the class, unless it is set
    command_name: ClassVar[str]
    #: other names that are understood there
    also_called: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "command_name" not in cls.__dict__:
            cls.command_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()


def _written(hint: Any) -> Any:
    """Return the type that a command line writes a field in; None where it cannot."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    for entry in typing.get_args(hint) if union else (hint,):
        if typing.get_origin(entry) is tuple or entry in (float, int, bool, str):
            return entry
    return None


def _parameters(docstring: str) -> dict[str, str]:
    """Return the first sentence on each parameter of a docstring."""
    lines = inspect.cleandoc(docstring).splitlines()
    told: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines[lines.index("Parameters") + 2 :] if "Parameters" in lines else ():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" :")[0].split(",")]
        elif not line and names:
            names = []
        for name in names if line.startswith(" ") else ():
            told.setdefault(name, []).append(line.strip())
    return {name: re.split(r"\.(?:\s|$)", " ".join(text))[0] for name, text in told.items()}
