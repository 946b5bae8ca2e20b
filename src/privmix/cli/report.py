"""`privmix report`: a saved posterior in, one self-contained page out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privmix.cli.outputs import Force, after_writing, check_output

Level = Annotated[float, typer.Option(metavar="P", help="Posterior probability of bands and intervals.")]
Informativeness = Annotated[
    bool | None,
    typer.Option(
        "--informativeness/--quick",
        help="Whether to answer if the release tells more than the prior, which takes 20 short fits; by default where "
        "they take at most some 15 seconds.",
    ),
]


def report(
    source: Annotated[Path, typer.Argument(metavar="FIT.nc", help="Posterior that `fit` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Page to write.")],
    level: Level = 0.95,
    informativeness: Informativeness = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Heading of the page.")] = "",
    force: Force = False,
) -> None:
    """Write a report of a fit: one page that needs no network and prints well.

    It says what was released under which guarantee, what the density and its bands are, whether the release tells
    anything, which records belong together, and how far to trust it all.
    """
    import privmix
    from privmix import report as page

    check_output(output, ".html", ".htm", force=force)
    page.write(privmix.load(source), output, level=level, informativeness=informativeness, title=title)
    with after_writing():
        typer.echo(f"wrote {output}")
