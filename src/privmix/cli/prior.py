"""Options of the priors: read off the priors themselves, so that a new one brings its own."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from privmix import priors
from privmix.cli import options
from privmix.parts.options import Option, flag, options_of
from privmix.priors import Prior

#: priors by their names here: all that the library has
PRIORS: dict[str, type[Prior]] = options.by_name(priors)
DEFAULT = "dirichlet-process"
PriorName: Any = options.choices("PriorName", PRIORS)
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
    added = {"prior": about} | {field: _annotation(takers) for field, takers in found.items()}

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        name = values.pop("prior")
        given = {field: values.pop(field) for field in found}
        return command(**values, prior=build_prior(name, {f: v for f, v in given.items() if v is not None}))

    kept = [entry.replace(kind=entry.KEYWORD_ONLY) for name, entry in own.items() if name != "prior"]
    new = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=a) for n, a in added.items()]
    run.__signature__ = inspect.Signature([*kept, *new])  # type: ignore[attr-defined]
    return run


def _annotation(takers: dict[str, Option]) -> Any:
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
    name = name or DEFAULT
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
