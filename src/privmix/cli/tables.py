"""What the commands print: tables, and lines that say how far to trust a fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from privmix.cli.errors import say

if TYPE_CHECKING:
    import pandas as pd

    from privmix.mechanisms import Mechanism
    from privmix.posterior import Finding


# Fields of a mechanism that are worth a row: name, label, how to show it.
DETAILS: list[tuple[str, str, Callable[[Any], str]]] = [
    ("noise", "noise on each count", str),
    ("scale", "scale of the noise", lambda value: number(value)),
    ("cells", "cells", lambda value: f"{value:,}"),
    ("bin_count", "bins", lambda value: f"{value:,}"),
    ("draws", "released draws", lambda value: f"{value:,}"),
    ("uniform", "uniform share", lambda value: number(value)),
]


def print_table(header: list[str], rows: list[list[str]], title: str = "") -> None:
    """Print a table to stdout, the first column to the left and the others to the right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", show_header=any(header))
    for j, name in enumerate(header):
        table.add_column(name, justify="left" if j == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False).print(table)


def mechanism_rows(mechanism: Mechanism, records: int) -> list[list[str]]:
    """Return rows that say how the records were released and what that promises."""
    from privmix.plots.words import describe_guarantee

    promise = "guarantee of each record" if not mechanism.is_global else "guarantee, one record replaced"
    rows = [["mechanism", type(mechanism).__name__], [promise, describe_guarantee(mechanism.guarantee)]]
    if mechanism.bounds is not None:
        lower, upper = mechanism.bounds
        rows.append(["bounds of a record", f"{lower:g} to {upper:g}"])
    rows += [[label, show(getattr(mechanism, name))] for name, label, show in DETAILS if _has(mechanism, name)]
    return [*rows, ["records (public)" if mechanism.is_global else "records", f"{records:,}"]]


def _has(mechanism: Mechanism, name: str) -> bool:
    return isinstance(getattr(mechanism, name, None), float | int | str)


def summary_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return the rows of a posterior's summary as text."""
    columns = ("mean", "sd", "ess_bulk", "ess_tail")
    return [
        [str(name), *[number(row[c]) for c in columns], number(row["r_hat"], 4), str(row["note"])]
        for name, row in table.iterrows()
    ]


def number(value: Any, digits: int = 3) -> str:
    """Return a number with a few significant digits, and whole above that; a missing one as a dash."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def worst(summary: pd.DataFrame) -> tuple[float, float, str]:
    """Return the least ESS and the largest R-hat of a summary; NaN and the reason where a quantity has none."""
    table = summary.drop(index="acceptance")
    ess = table[["ess_bulk", "ess_tail"]].min(axis=None, skipna=False)
    missing = [f"{name}: {note}" for name, note in table["note"].items() if note]
    return float(ess), float(table["r_hat"].max(skipna=False)), "; ".join(missing)


def tell(findings: list[Finding]) -> None:
    """Print what the checks of a fit found: warnings to stderr, all else to stdout."""
    for finding in findings:
        words = f"{finding.title}: {finding.text} {finding.advice}".rstrip()
        if finding.level == "warning":
            say(f"warning: {words}")
        else:
            typer.echo(words)
