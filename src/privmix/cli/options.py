"""Options of mechanisms and priors: read off the parts themselves, so that a new one brings its own."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterable
from enum import StrEnum
from types import ModuleType
from typing import Annotated, Any

import typer

from privmix import mechanisms, priors
from privmix.mechanisms import Mechanism
from privmix.parts.options import Named, Option, flag, options_of
from privmix.priors import Prior


def by_name(room: ModuleType) -> dict[str, Any]:
    """Return the parts that a room exports by their names on the command line; bases are no parts."""
    kinds = [getattr(room, name) for name in room.__all__]
    parts = [kind for kind in kinds if hasattr(kind, "__dataclass_fields__") and kind.__base__ is not Named]
    return {kind.command_name: kind for kind in parts}


#: mechanisms by their names here: all that the library has, that do not give the data away and stand by themselves
OFFERED: dict[str, type[Mechanism]] = {
    name: kind
    for name, kind in by_name(mechanisms).items()
    if kind.dimension == 1 and not (kind.reveals or kind.is_wrapper)
}

#: what else a name may be written as
SPELLINGS = {other: name for name, kind in OFFERED.items() for other in kind.also_called}


def respelled(arguments: list[str]) -> list[str]:
    """Return the words of a command line with the mechanism that follows ``--mechanism`` in the spelling used here."""
    before = ["", *arguments]
    return [SPELLINGS.get(word, word) if before[i] == "--mechanism" else word for i, word in enumerate(arguments)]


Column = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column to read; needed where several columns hold numbers.")
]


def takes_mechanism(text: str, *, required: bool, without: str = "") -> Callable[[Callable], Callable]:
    """Give a command ``--mechanism`` and the options of all mechanisms.

    The command has a parameter ``mechanism``, a name, and ``about``, the options that were given, by field. Options
    that the command has itself are not those of a mechanism.

    Parameters
    ----------
    text
        Help of ``--mechanism``.
    required
        Whether it must be given.
    without
        Attribute of a mechanism that names fields to leave out, because the command knows them.
    """

    def decorate(command: Callable) -> Callable:
        own = inspect.signature(command, eval_str=True).parameters
        found = {field: takers for field, takers in _by_field(without).items() if field not in own}
        names: Any = choices("MechanismName", OFFERED)
        shape = Annotated[names if required else names | None, typer.Option(help=text)]  # type: ignore[valid-type]
        replaced = {
            "mechanism": [_parameter("mechanism", shape, inspect.Parameter.empty if required else None)],
            "about": [_parameter(field, _annotation(takers)) for field, takers in found.items()],
        }

        @functools.wraps(command)
        def run(**values: Any) -> Any:
            about = {field: values.pop(field) for field in found}
            return command(**values, about={field: v for field, v in about.items() if v is not None})

        kept = {name: [entry.replace(kind=entry.KEYWORD_ONLY)] for name, entry in own.items()}
        parameters = [entry for entries in (kept | replaced).values() for entry in entries]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _by_field(without: str) -> dict[str, dict[str, Option]]:
    """Return the options of all mechanisms: by field, then by the mechanism that takes it."""
    found: dict[str, dict[str, Option]] = {}
    for name, kind in OFFERED.items():
        for field, option in kind.options().items():
            if field not in getattr(kind, without, ()):
                found.setdefault(field, {})[name] = option
    return found


def _parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(takers: dict[str, Option]) -> Any:
    """Return the annotation of an option that several mechanisms take, in the words of the first."""
    first = next(iter(takers.values()))
    shape = choices(first.name, map(_dashed, first.choices)) if first.choices else first.type
    text = f"{first.help}{_takers_in_words(takers)}."
    return Annotated[shape | None, typer.Option(first.flag, metavar=first.metavar or None, help=text)]


def _takers_in_words(takers: dict[str, Option]) -> str:
    """Say which mechanisms take an option and what it is by default, where that is not all of them and nothing."""
    if len(takers) == len(OFFERED):
        return ""
    *most, last = [name + _default_in_words(option) for name, option in takers.items()]
    return f": {', '.join(most)} or {last} only" if most else f": {last} only"


def _default_in_words(option: Option) -> str:
    return "" if option.default in (None, dataclasses.MISSING) else f" ({option.default})"


def choices(name: str, values: Iterable[str]) -> Any:
    """Return an enumeration of these values, as an option's type."""
    return StrEnum(name, {value.replace("-", "_"): value for value in values})


def _dashed(choice: str) -> str:
    return choice.replace(" ", "-")


def build_mechanism(name: str, about: dict[str, Any]) -> Mechanism:
    """Return the mechanism that the options describe, or say which option is missing or out of place."""
    kind: Any = OFFERED[name]
    takes: dict[str, Option] = kind.options()
    strange = [field for field in about if field not in takes]
    if strange:
        flags = ", ".join(option.flag for option in takes.values())
        raise ValueError(f"{flag(strange[0])} was given, but {name} does not take it; it takes {flags}. Leave it out.")
    if "bounds" not in about and kind.needs_bounds(about):
        raise ValueError(
            f"--bounds LO HI is missing: {name} needs the range that a record can take. Give bounds that are known "
            "without looking at the data, such as --bounds 0 100."
        )
    about = {**kind.left_out(about), **about}
    for field, option in takes.items():
        if option.default is dataclasses.MISSING and field not in about:
            what = option.help[:1].lower() + option.help[1:]
            written = f"{option.flag} {option.metavar}".rstrip()
            raise ValueError(f"{written} is missing: {name} needs it ({what}). Give it.")
    # A choice is written with dashes here and has spaces in the field.
    spelled = {_dashed(choice): choice for option in takes.values() for choice in option.choices}
    return kind(**{field: spelled[value] if isinstance(value, str) else value for field, value in about.items()})


#: priors by their names here: all that the library has
PRIORS: dict[str, type[Prior]] = by_name(priors)
DEFAULT_PRIOR = "dirichlet-process"
PriorName: Any = choices("PriorName", PRIORS)
#: ending of the option that puts a hyperprior on a field
HYPERPRIOR = "_prior"


def options_by_field() -> dict[str, dict[str, Option]]:
    """Return the options of all priors: by field, then by the prior that takes it."""
    found: dict[str, dict[str, Option]] = {}
    for name, kind in PRIORS.items():
        for field, option in options_of(kind, {}).items():
            found.setdefault(field, {})[name] = option
            if tuple[float, float] in typing.get_args(typing.get_type_hints(kind)[field]):
                words = f"Gamma hyperprior on --{field} instead of a number"
                pair = Option(field + HYPERPRIOR, tuple[float, float], words, "SHAPE RATE", None, ())
                found.setdefault(pair.name, {})[name] = pair
    return found


def takes_prior(command: Callable) -> Callable:
    """Give a command ``--prior`` and the options of all priors; it has a parameter ``prior``, the part or None."""
    found = options_by_field()
    own = inspect.signature(command, eval_str=True).parameters
    about = Annotated[PriorName | None, typer.Option(help="Law of the mixing measure; a Dirichlet process by default.")]
    added = {"prior": about} | {field: _annotation_of_prior(takers) for field, takers in found.items()}

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        name = values.pop("prior")
        given = {field: values.pop(field) for field in found}
        return command(**values, prior=build_prior(name, {f: v for f, v in given.items() if v is not None}))

    kept = [entry.replace(kind=entry.KEYWORD_ONLY) for name, entry in own.items() if name != "prior"]
    new = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=a) for n, a in added.items()]
    run.__signature__ = inspect.Signature([*kept, *new])  # type: ignore[attr-defined]
    return run


def _annotation_of_prior(takers: dict[str, Option]) -> Any:
    """Return the annotation of an option; a text where priors take different types."""
    shapes = {option.type for option in takers.values()}
    first = next(iter(takers.values()))
    words = {option.help: [] for option in takers.values()}  # type: dict[str, list[str]]
    for name, option in takers.items():
        default = option.default if isinstance(option.default, str | int | float) else ""
        words[option.help].append(f"{name} ({default})" if default != "" else name)
    text = "; ".join(f"{help_}: {', '.join(names)}" for help_, names in words.items())
    shape = shapes.pop() if len(shapes) == 1 else str
    return Annotated[shape | None, typer.Option(first.flag, metavar=first.metavar or None, help=f"{text}.")]


def build_prior(name: str | None, given: dict[str, Any]) -> Prior | None:
    """Return the prior that the options describe, or None where there are none."""
    if name is None and not given:
        return None
    name = name or DEFAULT_PRIOR
    kind: Any = PRIORS[name]
    takes = options_of(kind, {})
    fields: dict[str, Any] = {}
    for field, value in given.items():
        plain = field.removesuffix(HYPERPRIOR)
        if plain not in takes or (plain != field and name not in options_by_field()[field]):
            flags = ", ".join(option.flag for option in takes.values())
            raise ValueError(f"{flag(field)} was given, but {name} does not take it; it takes {flags}. Leave it out.")
        if plain in fields:
            raise ValueError(f"{flag(plain)} and {flag(plain + HYPERPRIOR)} exclude one another. Give one of them.")
        fields[plain] = _typed(takes[plain], value)
    return kind(**fields)


def _typed(option: Option, value: Any) -> Any:
    """Return a text in the type of the field: a choice without its dashes, or a whole number."""
    if not isinstance(value, str):
        return value
    if option.choices:
        return value.replace("-", " ")
    try:
        return option.type(value)
    except ValueError:
        raise ValueError(f"{option.flag} must be a whole number here; got {value!r}.") from None
