"""What the commands print: tables, and lines that say how far to trust a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from privmix.cli.errors import say
from privmix.report.tables import mechanism_rows, number, summary_rows

if TYPE_CHECKING:
    import pandas as pd

    from privmix.posterior import Finding

__all__ = ["mechanism_rows", "number", "print_table", "summary_rows", "tell", "worst"]


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
