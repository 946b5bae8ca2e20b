"""The sizes of a study, and the grid of cells that they span."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from privmix.parts.checks import check_count

Coordinates = dict[str, Any]


def grid(default: Any, axis: str = "") -> Any:
    """Return a field that says which cells there are, and changes none of them.

    Such a field may differ when a study is taken up again: finished cells stay, new ones are added. A cell function
    must not read it. Every other field is a setting of the cells, and a study that was begun keeps its settings.

    Parameters
    ----------
    default
        Its value.
    axis
        The coordinate whose values it lists; empty where `cells` reads it in another way.
    """
    return field(default=default, metadata={"grid": True, "axis": axis})


def product(**axes: Iterable[Any]) -> list[Coordinates]:
    """Return the coordinates of all combinations, the last axis running fastest."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


@dataclass(frozen=True)
class Configuration:
    """The sizes of a study; a subclass adds its own.

    Parameters
    ----------
    replicates
        Independent repetitions of every cell.
    """

    replicates: int = grid(50)

    def cells(self) -> list[Coordinates]:
        """Return the coordinates of every cell: numbers and short names.

        Unless a subclass says otherwise, all combinations of its axes, in the order of its fields, and replicates.
        """
        axes = {one.metadata["axis"]: getattr(self, one.name) for one in fields(self) if one.metadata.get("axis")}
        return product(**axes, replicate=range(self.replicates))

    @classmethod
    def small(cls) -> Self:
        """Return a miniature that takes seconds to a minute, and touches every kind of cell."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as what JSON can hold."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def settings(self) -> dict[str, Any]:
        """Return the fields that a cell's result may depend on."""
        names = {one.name for one in fields(self) if not one.metadata.get("grid")}
        return {name: value for name, value in self.as_dict().items() if name in names}


def configure(kind: type[Configuration], *, small: bool = False, **wanted: Any) -> Configuration:
    """Return the default configuration, or the miniature, with some fields changed.

    Parameters
    ----------
    kind
        The configuration's class.
    small
        Whether to begin with the miniature.
    wanted
        New values by field; a list or a single value will do where the field is a tuple.
    """
    base = kind.small() if small else kind()
    known = {one.name: getattr(base, one.name) for one in fields(base)}
    for name in wanted:
        if name not in known:
            raise ValueError(f"the study has no setting {name!r}; it has {', '.join(known)}.")
    return replace(base, **{name: _fit(name, value, known[name]) for name, value in wanted.items()})


def _fit(name: str, value: Any, model: Any) -> Any:
    """Return a value as the type that the field has, or say what is needed."""
    if isinstance(model, tuple):
        many = value if isinstance(value, list | tuple) else [value]
        if not many:
            raise ValueError(f"{name} needs at least one value; got none.")
        return tuple(_fit(name, one, model[0]) for one in many)
    if isinstance(model, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if model is not None and type(value) is not type(model):
        raise ValueError(f"{name} must be like {model!r}, of type {type(model).__name__}; got {value!r}.")
    if isinstance(model, int) and not isinstance(model, bool):
        check_count(name, value, 1)
    return value
