"""`privmix study`: run a simulation study, go on with one, or draw its figures."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix.cli.outputs import INTERRUPTED, say

if TYPE_CHECKING:
    from privmix.studies import Study

UNFINISHED = 1


def study(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="`list` shows the studies; one of your own is module:attribute.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where results are kept; study-NAME if left out."),
    ] = None,
    replicates: Annotated[int | None, typer.Option(help="Repetitions of every cell.")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws to keep of each chain.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting, such as --set epsilons=[1,5]."),
    ] = None,
    small: Annotated[bool, typer.Option("--small", help="A miniature that shows that everything works.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes of this machine; one for each processor if left out.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler instead.")
    ] = None,
    figures_only: Annotated[
        bool, typer.Option("--figures-only", help="Draw the figures of the results there are, and run nothing.")
    ] = False,
) -> None:
    """Run a study of the paper, or go on with one that was stopped.

    Every cell of the grid is a file of results in FOLDER/cells. Ctrl-C, a crash or a lost worker leave finished cells;
    the same command goes on. A cell's seed follows from its name, so that it gives the same result anywhere.
    """
    if name == "list":
        _list()
        return
    from privmix.studies import find_study

    sys.path.insert(0, os.getcwd())  # where a study of one's own is most often
    chosen = find_study(name)
    folder = Path(f"study-{chosen.name}") if output is None else output
    changes = _read_settings(replicates, draws, setting or [])
    if figures_only:
        if changes or small or scheduler:
            raise ValueError("--figures-only draws what there is; it takes --output alone.")
        _draw(chosen, folder)
    else:
        _run(chosen, folder, small, changes, workers, scheduler)


def _list() -> None:
    from privmix.studies import find_study, study_names

    for name in study_names():
        one = find_study(name)
        typer.echo(f"{name:12} {one.title}\n{'':12} {len(one.configuration().cells()):,} cells")


def _read_settings(replicates: int | None, draws: int | None, pairs: list[str]) -> dict[str, Any]:
    """Return the settings that were given; values are JSON, or text where they are not."""
    given: dict[str, Any] = {
        name: value for name, value in (("replicates", replicates), ("draws", draws)) if value is not None
    }
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--set needs NAME=VALUE, such as --set epsilons=[1,5]; got {pair!r}.")
        try:
            given[name] = json.loads(text)
        except json.JSONDecodeError:
            given[name] = text
    return given


def _run(
    chosen: Study, folder: Path, small: bool, changes: dict[str, Any], workers: int | None, scheduler: str | None
) -> None:
    from privmix.studies import configure, run_study

    configuration = configure(chosen.configuration, small=small, **changes)
    try:
        report = run_study(chosen, configuration, folder, workers=workers, scheduler=scheduler)
    except KeyboardInterrupt:
        say(f"interrupted: finished cells are kept in {folder}; the same command goes on.")
        raise typer.Exit(INTERRUPTED) from None
    before = f", {report.before} were finished before" if report.before else ""
    typer.echo(f"{report.done} cells finished{before}, {len(report.failed)} failed.")
    if report.done or report.before:
        _draw(chosen, folder)
    if report.failed:
        say(f"error: {len(report.failed)} cells failed; {folder / 'log.jsonl'} has the reasons.")
        raise typer.Exit(UNFINISHED)


def _draw(chosen: Study, folder: Path) -> None:
    from privmix.studies import draw_figures

    results = draw_figures(chosen, folder)
    part = f" of {results.describe()}" if results.describe() else ""
    typer.echo(f"wrote {folder / 'results.csv'} and the figures in {folder / 'figures'}{part}")
