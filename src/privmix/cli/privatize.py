"""`privmix privatize`: raw data in, a release out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix.cli import options
from privmix.cli.outputs import Force, after_writing, check_differs, check_output, print_table, say
from privmix.cli.plan import recommend
from privmix.report.tables import mechanism_rows

if TYPE_CHECKING:
    import numpy as np

    from privmix.mechanisms import Mechanism


@options.takes_mechanism(
    "How to perturb the records; without it one is recommended.", required=False, without="record_counts"
)
def privatize(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="CSV or Parquet file with the confidential data.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Release to write: .csv (with a .csv.json) or .parquet."),
    ],
    column: options.Column = None,
    mechanism: str | None = None,
    *,
    about: dict[str, Any],
    seed: Annotated[
        int | None, typer.Option(help="For simulation only; by default fresh randomness. Never stored.")
    ] = None,
    hardened: Annotated[
        bool, typer.Option("--hardened", help="Let OpenDP draw the noise, for data about real people: privmix[opendp].")
    ] = False,
    notes: Annotated[str, typer.Option(metavar="TEXT", help="Text that is published with the release.")] = "",
    force: Force = False,
) -> None:
    """Release a column of confidential data through a privacy mechanism.

    The output holds the noisy records, the mechanism and its guarantee; neither the data nor the seed. A histogram is
    one release of all records: its output holds noisy counts, or synthetic draws, and the number of records. Without
    --mechanism nothing is released: one is recommended, by budget, bounds and the number of records alone.
    """
    from privmix.release import Release, read_column

    check_differs(output, source)
    check_output(output, ".csv", ".parquet", force=force)
    y = read_column(source, column)
    if mechanism is None:
        raise ValueError(recommend(_command(source, output, column, hardened, notes), len(y), about, hardened=hardened))
    counted = dict.fromkeys(options.OFFERED[mechanism].record_counts, len(y))
    built = options.build_mechanism(mechanism, about | counted)
    if built.guarantee is None:
        raise ValueError("--bounds LO HI is missing: without bounds the noise guarantees nothing. Give them.")
    if seed is not None:
        say("warning: whoever guesses the seed can take the noise off. Use --seed in simulations only.")
    if output.exists():
        say(
            f"warning: {output} is replaced. Whoever has the former release and this one of the same data learns more "
            "than either tells: their budgets add up."
        )
    release = Release.from_data(y, built, seed, notes, hardened=hardened)
    release.save(output)
    with after_writing():
        _report(release.mechanism, y, output)


def _command(source: Path, output: Path, column: str | None, hardened: bool, notes: str) -> list[str]:
    """Return the words of a command like this one, without the mechanism."""
    named = [] if column is None else ["--column", column]
    more = [*(["--hardened"] if hardened else []), *(["--notes", notes] if notes else [])]
    return ["privmix", "privatize", str(source), *named, "--output", str(output), *more]


def _report(mechanism: Mechanism, y: np.ndarray, output: Path) -> None:
    from privmix.release import how_drawn

    lower, upper = mechanism.bounds
    clipped = int(((y < lower) | (y > upper)).sum())
    print_table(["", ""], [*mechanism_rows(mechanism, len(y)), ["values clipped to the bounds", f"{clipped:,}"]])
    if mechanism.is_global:
        typer.echo(f"The number of records, {len(y):,}, is public: it is part of the release.")
    typer.echo(how_drawn(mechanism))
    typer.echo(f"wrote {output}")
