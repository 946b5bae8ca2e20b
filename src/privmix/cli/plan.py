"""`privmix plan`: what a release will tell of a density, before anything is collected; and what to release with."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix.cli import options
from privmix.cli.outputs import Force, after_writing, check_output, print_table
from privmix.parts.options import flag

if TYPE_CHECKING:
    from privmix.mechanisms import Mechanism
    from privmix.planning import Plan

#: options of `privmix privatize` that a recommendation is made from
BUDGETS = ("epsilon", "rho")


def plan(
    bounds: Annotated[
        tuple[float, float], typer.Option(metavar="LO HI", help="Range of a record, known without looking at the data.")
    ],
    people: Annotated[int, typer.Option(metavar="N", help="Number of people who take part, each once.")],
    epsilon: Annotated[float | None, typer.Option(metavar="E", help="Privacy budget ε of each person.")] = None,
    rho: Annotated[float | None, typer.Option(metavar="R", help="Budget of zCDP instead of ε.")] = None,
    shape: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or Parquet file with a pilot: numbers that are public, or paid for, and spread as those to come; "
            "by default a panel of six mixtures.",
        ),
    ] = None,
    column: options.Column = None,
    want_l1: Annotated[
        float | None, typer.Option(metavar="D", help="Wanted L1 error: say how many people or which budget it needs.")
    ] = None,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="A holder may see the data: compare histograms with noise too.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Page to write, with sliders for budget and people; some ten seconds."),
    ] = None,
    force: Force = False,
) -> None:
    """Compare mechanisms before anything is collected: which one, which budget and how many people a density needs."""
    from privmix.planning import plan as make_plan
    from privmix.release import read_column

    if report is not None:
        check_output(report, ".html", ".htm", force=force)
    if column is not None and shape is None:
        raise ValueError("--column names a column of --shape, which was not given. Give it, or leave --column out.")
    sample = None if shape is None else read_column(shape, column)
    made = make_plan(bounds, n=people, epsilon=epsilon, rho=rho, shape=sample, trusted=trusted)
    _tell(made, want_l1)
    if report is not None:
        made.report(report, want_l1)
        with after_writing():
            typer.echo(f"wrote {report}")


def _tell(made: Plan, want_l1: float | None) -> None:
    """Print the table, what is recommended and why, what is needed and what is assumed."""
    from privmix.planning import words

    wanted = [] if want_l1 is None else words.needed(made, want_l1)
    title = f"{made.n:,} people, {words.budget_in_words(made.budget)}"
    print_table(list(words.COLUMNS), [words.row_in_words(row) for row in made.rows], title)
    for name, meaning in list(words.COLUMNS.items())[1:]:
        typer.echo(f"{name}: {meaning}.")
    typer.echo(f"Recommended: {words.why(made)}")
    for line in wanted:
        typer.echo(line)
    typer.echo(f"For the protocol: {words.planned_protocol(made)}")
    typer.echo("Assumed:")
    for line in words.assumptions(made):
        typer.echo(f"- {line}")


def recommend(command: list[str], n: int, about: dict[str, Any], *, hardened: bool = False) -> str:
    """Return what to give as ``--mechanism``, why, and the command to run; nothing but the number of records is used.

    Parameters
    ----------
    command
        The words of the command without the mechanism and its options.
    n
        Number of records.
    about
        Options that were given, by field.
    hardened
        Whether only a mechanism that has a hardened form may be recommended.
    """
    from privmix.planning import plan as make_plan
    from privmix.planning import words

    budget = {name: about[name] for name in BUDGETS if name in about}
    if "bounds" not in about or len(budget) != 1:
        return (
            "--mechanism is missing. Name one; or give --bounds LO HI and one of --epsilon and --rho, and one is "
            "recommended."
        )
    made = make_plan(about["bounds"], n=n, trusted=True, **budget)
    serving = _hardened_rows(made) if hardened else made.rows
    rows = [row for row in serving if not row.mechanism.is_global]
    local, other = rows[0], words.compared(rows)
    than = "" if other is None else f" ({words.named(other.mechanism)}: {words.error_in_words(other.l1)})"
    whole = "" if local is serving[0] else _worth_of_trust(serving[0])
    full = shlex.join([*command, *as_options(local.mechanism)])
    return (
        f"--mechanism is missing. For {n:,} records at {words.budget_in_words(budget)} {words.named(local.mechanism)} "
        f"is recommended: expected L1 error of the density {words.error_in_words(local.l1)}{than}, over "
        f"{len(made.shapes)} assumed shapes (see privmix plan){' of those with a hardened form' if hardened else ''}."
        f"{whole} Run: {full}"
    )


def _hardened_rows(made: Any) -> list[Any]:
    """Return the best setting of each mechanism among those that OpenDP can draw, the best first."""
    from privmix.planning.plan import best_of
    from privmix.release.hardened import has_hardened_form

    offered = [kind.candidates(made.n, made.bounds, **made.budget) for kind in made.classes]
    rows = [best_of([one for one in some if has_hardened_form(one)], made.n, made.shapes) for some in offered]
    return sorted((row for row in rows if row is not None), key=lambda row: row.l1)


def _worth_of_trust(row: Any) -> str:
    from privmix.planning import words

    name = type(row.mechanism).command_name
    return f" A trusted holder's release of all records, --mechanism {name}, leaves {words.error_in_words(row.l1)}."


def as_options(mechanism: Mechanism) -> list[str]:
    """Return the words of a command line that make a mechanism: the fields that the others do not give."""
    kind: Any = type(mechanism)
    value = {name: getattr(mechanism, name) for name in kind.options()}
    required = [name for name, option in kind.options().items() if option.default is dataclasses.MISSING]
    given = [name for name in value if name in (*required, *BUDGETS, "bounds") and value[name] is not None]
    made = kind(**{name: value[name] for name in given})
    # Numbers that follow from the budget are there by now; what differs still was chosen.
    given += [name for name in value if name not in given and getattr(made, name) != value[name]]
    told = [name for name in given if name not in kind.record_counts]
    return ["--mechanism", kind.command_name, *(word for name in told for word in _written(name, value[name]))]


def _written(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name)]
    several = value if isinstance(value, tuple) else (value,)
    return [flag(name), *(f"{one:.15g}" if isinstance(one, float) else str(one).replace(" ", "-") for one in several)]
