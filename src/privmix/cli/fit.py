"""`privmix fit`: a release in, a posterior and its picture out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix import kernels, samplers
from privmix.cli import options
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
            help="What `privatize` wrote; or a table of z, or of lower, upper and count, with --mechanism and its "
            "options.",
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
    release = read_release(source, mechanism, column, about)
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


def read_release(source: Path, name: str | None, column: str | None, about: dict[str, Any]) -> Release:
    """Return the release in a file, with the mechanism that the file names or that the options describe."""
    from privmix.release import Release, describes_itself
    from privmix.release.files import sidecar

    described = describes_itself(source)
    if name is None:
        strange = [f"--{key}" for key, value in {"column": column, **about}.items() if value is not None]
        if strange:
            raise ValueError(f"{strange[0]} describes a table of z, for which --mechanism is missing. Add it.")
        if source.suffix.lower() == ".csv" and source.is_file() and not described:
            raise ValueError(
                f"{source} has no {sidecar(source).name} beside it, so nothing says what mechanism made it. Fetch "
                "that file too, or give --mechanism and its options."
            )
        return Release.load(source)
    if described:
        raise ValueError(f"{source} says itself what mechanism made it. Leave out --mechanism and its options.")
    return _read_plain(source, name, column, about)


def _read_plain(source: Path, name: str, column: str | None, about: dict[str, Any]) -> Release:
    """Return the release in a plain table, as the mechanism reads it."""
    from privmix.release import Release, read_column, read_columns

    kind = options.OFFERED[name]
    single = len(kind.column_names) == 1
    columns = {"z": read_column(source, column)} if single else read_columns(source, kind.column_names)
    told, z = kind.read_table(columns)
    strange = [key for key in told if key in about] + ([] if single or column is None else ["column"])
    if strange:
        listed = ", ".join(kind.column_names)
        raise ValueError(f"--{strange[0]} was given, but a {name} is read from the columns {listed}. Leave it out.")
    mechanism = options.build_mechanism(name, about | told)
    if mechanism.row_length is not None:
        raise ValueError(
            f"{name} releases several numbers a record, which no single column holds. Give privatize's file."
        )
    return Release(z, mechanism)


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
