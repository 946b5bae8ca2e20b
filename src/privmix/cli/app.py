"""The application: its commands and its global options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privmix.cli.count import count
from privmix.cli.demo import demo
from privmix.cli.fit import fit
from privmix.cli.options import respelled
from privmix.cli.outputs import Commands, leave_at_once, write_plainly
from privmix.cli.plan import plan
from privmix.cli.privatize import privatize
from privmix.cli.report import report
from privmix.cli.resume import resume
from privmix.cli.study import study


class Spelled(Commands):
    """The group of commands, which understands names in either spelling."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        return super().parse_args(ctx, respelled(args))


app = typer.Typer(
    cls=Spelled,
    # Plain help: markup would swallow square brackets, and typer's own tracebacks can show the raw data.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command(epilog="Example: privmix demo --output demo --seed 2")(demo)
app.command(epilog="Example: privmix plan --bounds 0 100 --epsilon 1 --people 20000 --want-l1 .15 --report plan.html")(
    plan
)
app.command(
    epilog="Example: privmix privatize survey.csv --column income --mechanism laplace --epsilon 5 --bounds 0 100 "
    "--output release.csv"
)(privatize)
app.command(
    epilog="Example: privmix count data/*.parquet --column z --mechanism laplace --epsilon 1 --bounds 0 100 "
    "--output counts.csv"
)(count)
app.command(epilog="Example: privmix fit release.csv --output fit.nc --picture fit.pdf --sampler slice --seed 1")(fit)
app.command(epilog="Example: privmix resume fit.nc --minutes 30")(resume)
app.command(epilog="Example: privmix study laplace --replicates 50 --draws 50000 --output laplace")(study)
app.command(epilog="Example: privmix report fit.nc --output report.html")(report)


def main() -> None:
    """Run the command line: the entry point of the script `privmix`."""
    write_plainly()
    try:
        app(prog_name="privmix")
    except SystemExit as end:
        leave_at_once(end.code)
        raise


def _show_version(wanted: bool) -> None:
    if wanted:
        import privmix

        typer.echo(f"privmix {privmix.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog="Example: privmix demo")
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an error arose; goes before the command.")
    ] = False,
) -> None:
    """Fit Bayesian nonparametric mixtures to data that were released under differential privacy."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
