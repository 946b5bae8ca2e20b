"""`privmix resume`: a saved posterior in, the same with more draws out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privmix.cli.fit import Minutes, Progress, Report, Strict, UntilEss, UntilRHat, check_outputs, deliver, going_on
from privmix.cli.inputs import refuse_columns
from privmix.cli.outputs import INTERRUPTED, Force, check_output, load_early, say, terminated_as_interrupted


def resume(
    source: Annotated[Path, typer.Argument(metavar="FIT.nc", help="Posterior that `fit` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.nc", help="Posterior to write; by default the one that was read."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of the density; by default beside the output, .png.")
    ] = None,
    report: Report = None,
    draws: Annotated[
        int | None, typer.Option(help="More draws of each chain; by default as many as the limits need.")
    ] = None,
    until_r_hat: UntilRHat = None,
    until_ess: UntilEss = None,
    minutes: Minutes = None,
    strict: Strict = False,
    progress: Progress = True,
    force: Force = False,
) -> None:
    """Go on with a saved fit, where its chains ended; the old draws are kept.

    The file and the picture beside it are replaced by the longer ones, whole or not at all, unless --output names
    others. Ctrl-C stops the chains and keeps what they have drawn. Exit codes are those of `fit`.
    """
    import privmix

    target = source if output is None else output
    drawn = target.with_suffix(".png") if picture is None else picture
    check_outputs(target, drawn, None, force=force or output is None)  # else they are the ones to be replaced
    if report is not None:
        check_output(report, ".html", ".htm", force=force)
    posterior = privmix.load(source)
    refuse_columns(posterior.model.mechanism)
    length = going_on(until_r_hat, until_ess, minutes, wanted=draws is None and posterior.chains > 1)
    load_early()
    with terminated_as_interrupted():
        try:
            longer = posterior.resume(draws, progress=progress, **length)
        except KeyboardInterrupt:
            say(f"interrupted before any draw was added: {source} stays as it was.")
            raise typer.Exit(INTERRUPTED) from None
        deliver(longer, target, drawn, report, strict)
