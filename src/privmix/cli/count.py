"""`privmix count`: released records in, however many, a table of counts out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privmix.cli import options
from privmix.cli.large import Counting
from privmix.cli.outputs import Force, after_writing, check_differs, check_output, print_table
from privmix.report.tables import mechanism_rows

Missing: Any = options.choices("Missing", ("refuse", "drop"))


@options.takes_mechanism("What released each record.", required=True, without="record_counts")
def count(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Parquet or CSV files with the released records.")
    ],
    mechanism: str,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Table to write: .csv (with a .csv.json) or .parquet."),
    ],
    column: options.Column = None,
    bins: Annotated[
        int | None, typer.Option(metavar="M", help="Number of bins; by default a tenth of the noise's sd wide each.")
    ] = None,
    missing: Annotated[Missing, typer.Option(help="What to do with empty, NaN and infinite values.")] = "refuse",
    *,
    about: dict[str, Any],
    notes: Annotated[str, typer.Option(metavar="TEXT", help="Text that is published with the counts.")] = "",
    progress: Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress, on stderr.")] = True,
    force: Force = False,
) -> None:
    """Count released records in bins, piece by piece: files may be larger than memory.

    Tables of the same mechanism and bins can be fitted together: privmix fit monday.csv tuesday.csv.
    """
    from privmix import default_model
    from privmix.counting import count_files
    from privmix.mechanisms import Counted
    from privmix.samplers import Binned

    for source in sources:
        check_differs(output, source)
    check_output(output, ".csv", ".parquet", force=force)
    if options.OFFERED[mechanism].record_counts:
        raise ValueError(
            f"{mechanism} is one release of all records, and there is nothing to count. Fit it: privmix fit FILE."
        )
    built: Any = options.build_mechanism(mechanism, about)
    # A table that no sampler takes is of no use.
    Binned().check(default_model(Counted(built, bins)))  # type: ignore[arg-type]
    show = Counting() if progress else None
    release = count_files(sources, column, built, bins, missing=missing, notes=notes, show=show)
    release.save(output)
    with after_writing():
        print_table(["", ""], mechanism_rows(release.mechanism, int(release.counts.sum())))
        typer.echo(f"wrote {output}")
