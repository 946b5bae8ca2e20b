"""`privmix fit`: a release in, a posterior and its picture out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix import kernels, samplers
from privmix.cli import inputs, options
from privmix.cli.inputs import read_release
from privmix.cli.options import takes_prior
from privmix.cli.outputs import (
    INTERRUPTED,
    Force,
    after_writing,
    check_output,
    print_table,
    save_somewhere,
    say,
    tell,
    terminated_as_interrupted,
)
from privmix.kernels import Kernel
from privmix.model import DEFAULTS, DefaultKernel
from privmix.parts.options import options_of
from privmix.priors import Prior
from privmix.release.readers.table import Layout, Processing
from privmix.report.tables import mechanism_rows, summary_rows
from privmix.samplers import Sampler

if TYPE_CHECKING:
    from privmix import Posterior, PrivateMixture, Release
    from privmix.mechanisms import Mechanism


#: samplers by their names here: all that the library has
SAMPLERS: dict[str, Any] = options.by_name(samplers)
#: what --auxiliaries means to the samplers that take it
TAKERS = {name: options_of(kind, {})["auxiliaries"] for name, kind in SAMPLERS.items() if hasattr(kind, "auxiliaries")}
SamplerName: Any = options.choices("SamplerName", SAMPLERS)

#: kernels by their names here: that of the default model, and all that the library has
KERNELS: dict[str, type[Kernel]] = {"auto": DefaultKernel, **options.by_name(kernels)}
KernelName: Any = options.choices("KernelName", KERNELS)

# Draws of all chains that picture, tables and checks are made of after Ctrl-C, which wants an answer soon.
MOST_DRAWS_IN_HASTE = 4000


@options.takes_mechanism("What made z, where the file does not say.", required=False)
@takes_prior
def fit(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE",
            help="What `privatize` wrote; or a table of z, or of lower, upper and count, with --noise or --mechanism "
            "and their options.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.nc", help="Posterior to write, as netCDF.")],
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of the density; by default beside the output, .png.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Report to write too, as `privmix report` does.")
    ] = None,
    sampler: Annotated[SamplerName, typer.Option(help="How to draw; auto chooses by noise and pilot.")] = "auto",
    auxiliaries: Annotated[
        int | None,
        typer.Option(metavar="M", help="; ".join(f"{name}: {o.help} ({o.default})" for name, o in TAKERS.items())),
    ] = None,
    kernel: Annotated[
        KernelName,
        typer.Option(
            help="Density of a component; auto is that of privmix.fit, the others have the base "
            "measure that their classes in privmix.kernels have by default."
        ),
    ] = "auto",
    resolution: Annotated[
        float | None,
        typer.Option(metavar="S", help="Records are multiples of this, from the lower bound on: 1 for whole numbers."),
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.")] = DEFAULTS.draws,
    warmup: Annotated[int, typer.Option(help="Sweeps before the first draw.")] = DEFAULTS.warmup,
    thin: Annotated[int, typer.Option(help="Sweeps for each draw.")] = DEFAULTS.thin,
    chains: Annotated[int, typer.Option(help="Independent chains.")] = DEFAULTS.chains,
    seed: Annotated[int | None, typer.Option(help="Makes the draws repeatable.")] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Show progress; by default on a terminal.")
    ] = None,
    column: options.Column = None,
    scale_column: inputs.ScaleColumn = None,
    variance_column: inputs.VarianceColumn = None,
    clamped_at: inputs.ClampedAt = None,
    rounded_to: inputs.RoundedTo = None,
    withheld_below: inputs.WithheldBelow = None,
    force: Force = False,
    mechanism: str | None = None,
    *,
    about: dict[str, Any],
    prior: Prior | None,
) -> None:
    """Estimate the density of the confidential data from a release, with its uncertainty.

    Ctrl-C stops the chains and keeps what they have drawn; so does SIGTERM.
    """
    picture = output.with_suffix(".png") if picture is None else picture
    _check_outputs(output, picture, report, force)
    layout = Layout(column, scale_column, variance_column)
    release = read_release(source, mechanism, about, layout, Processing(clamped_at, rounded_to, withheld_below))
    model = build_model(kernel, release.mechanism, prior, resolution)
    how = build_sampler(sampler, auxiliaries)
    show = sys.stdout.isatty() if progress is None else progress
    counts = {"draws": draws, "warmup": warmup, "thin": thin, "chains": chains, "seed": seed, "progress": show}
    with terminated_as_interrupted():
        posterior = _sample(model, release, how, counts)
        _deliver(posterior, output, picture, report)


def _check_outputs(output: Path, picture: Path, report: Path | None, force: bool) -> None:
    from privmix.plots.style import picture_format

    check_output(output, ".nc", force=force)
    check_output(picture, force=force)
    picture_format(picture)
    if report is not None:
        check_output(report, ".html", ".htm", force=force)


def build_model(
    name: str, mechanism: Mechanism, prior: Prior | None, resolution: float | None = None
) -> PrivateMixture:
    """Return the model; `auto` is that of `privmix.fit`."""
    from privmix import PrivateMixture, default_model, priors
    from privmix.mechanisms import OnLattice

    if mechanism.bounds is None and "bounds" in KERNELS[name].__dataclass_fields__:
        raise ValueError(
            f"--kernel {name} follows from the bounds of the mechanism, which has none. Give --bounds LO HI, or "
            "--kernel normal."
        )
    if name == "auto":
        return default_model(mechanism, prior, resolution)
    mechanism = mechanism if resolution is None else OnLattice.around(mechanism, resolution)
    return PrivateMixture(mechanism, KERNELS[name].for_mechanism(mechanism), prior or priors.DirichletProcess())


def build_sampler(name: str, auxiliaries: int | None) -> Sampler:
    """Return the sampler that was asked for."""
    if auxiliaries is None:
        return SAMPLERS[name]()
    if name not in TAKERS:
        raise ValueError(f"--auxiliaries belongs to --sampler {' or '.join(TAKERS)}; {name} has none. Leave it out.")
    return SAMPLERS[name](auxiliaries=auxiliaries)


def _sample(model: PrivateMixture, release: Release, sampler: Sampler, counts: dict[str, Any]) -> Posterior:
    try:
        # On a lattice the model's mechanism is that of the release, seen otherwise.
        z = release if model.mechanism == release.mechanism else release.z
        return model.sample(z, sampler, **counts)
    except KeyboardInterrupt:
        say("interrupted before any draw was kept: nothing was written.")
        raise typer.Exit(INTERRUPTED) from None


def _deliver(posterior: Posterior, output: Path, picture: Path, report: Path | None) -> None:
    """Write the posterior first, then picture and report; a posterior cut short is written too, and said to be so."""
    complete = bool(posterior.datatree.attrs["complete"])
    save_somewhere(posterior, output)
    if not complete:
        say(f"interrupted: {output} holds the draws that were made before; privmix.load reads it.")
        posterior = posterior.thinned(max(MOST_DRAWS_IN_HASTE, posterior.chains))
    _draw(posterior, picture)
    with after_writing():
        _report(posterior)
    written = f"wrote {output} and {picture}"
    if report is not None:
        from privmix.report import write

        write(posterior, report)
        written = f"wrote {output}, {picture} and {report}"
    with after_writing():
        typer.echo(written)
    if not complete:
        raise typer.Exit(INTERRUPTED)


def _report(posterior: Posterior) -> None:
    print_table(["", ""], mechanism_rows(posterior.model.mechanism, posterior.records))
    summary = posterior.summary()
    header = ["quantity", "mean", "sd", "bulk ESS", "tail ESS", "R-hat", "note"]
    print_table(header, summary_rows(summary), f"{posterior.chains} chains × {posterior.draws:,} draws")
    if "auto" in posterior.datatree.attrs:
        typer.echo(f"sampler: {posterior.datatree.attrs['auto']}")
    tell(posterior.check())


def _draw(posterior: Posterior, picture: Path) -> None:
    from matplotlib.figure import Figure

    from privmix.plots import plot_density, save_figure

    axes = Figure(figsize=(7.5, 4.5), layout="constrained").subplots()
    save_figure(plot_density(posterior, ax=axes), picture)
