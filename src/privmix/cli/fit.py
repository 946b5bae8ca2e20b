"""`privmix fit`: a release in, a posterior and its picture out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix import kernels, samplers
from privmix.checks.check import doubt_of
from privmix.cli import inputs, options
from privmix.cli.large import read_releases
from privmix.cli.options import takes_prior
from privmix.cli.outputs import (
    INTERRUPTED,
    NOT_CONVERGED,
    Force,
    after_writing,
    check_output,
    load_early,
    print_table,
    save_somewhere,
    say,
    tell_rest,
    terminated_as_interrupted,
    warn_of,
)
from privmix.counting.files import MOST_ROWS_READ
from privmix.kernels import Kernel
from privmix.model import DEFAULTS, LARGEST_R_HAT, LEAST_ESS, DefaultKernel
from privmix.parts.options import options_of
from privmix.priors import Prior
from privmix.release.readers.table import Layout, Processing
from privmix.report.tables import mechanism_rows, records_in_words, summary_rows
from privmix.samplers import Sampler

if TYPE_CHECKING:
    from privmix import Posterior, PrivateMixture, Release
    from privmix.mechanisms import Mechanism
    from privmix.posterior import Finding


#: samplers by their names here: all that the library has
SAMPLERS: dict[str, Any] = options.by_name(samplers)
#: what --auxiliaries means to the samplers that take it
TAKERS = {name: options_of(kind, {})["auxiliaries"] for name, kind in SAMPLERS.items() if hasattr(kind, "auxiliaries")}
SamplerName: Any = options.choices("SamplerName", SAMPLERS)

#: kernels by their names here: that of the default model, and all that the library has
KERNELS: dict[str, type[Kernel]] = {
    "auto": DefaultKernel,
    **{name: kind for name, kind in options.by_name(kernels).items() if kind.offered},
}
KernelName: Any = options.choices("KernelName", KERNELS)

# Most minutes that a fit goes on for by itself after its first draws.
MINUTES = 5.0
UntilRHat = Annotated[
    float | None,
    typer.Option(metavar="R", help=f"Go on until no R-hat is above; {LARGEST_R_HAT} without --draws."),
]
UntilEss = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help=f"Go on until no effective sample size is below; {LEAST_ESS:.0f} without --draws.",
    ),
]
Minutes = Annotated[
    float | None, typer.Option(metavar="M", help=f"Go on for at most so many minutes; {MINUTES:g} by default.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help=f"Exit with code {NOT_CONVERGED} where the chains have not converged; files stay."),
]
Progress = Annotated[
    bool, typer.Option("--progress/--no-progress", help="Show progress: bars on a terminal, else lines on stderr.")
]
Report = Annotated[
    Path | None, typer.Option(metavar="FILE.html", help="Report to write too, as `privmix report` does.")
]

# Draws of all chains that picture, tables and checks are made of after Ctrl-C, which wants an answer soon.
MOST_DRAWS_IN_HASTE = 4000


@options.takes_mechanism("What made z, where the file does not say.", required=False)
@takes_prior
def fit(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...",
            help="What `privatize` or `count` wrote; or a table of z, or of lower, upper and count, with --noise or "
            f"--mechanism and their options. Several are counted together, as is Parquet of {MOST_ROWS_READ:,} rows.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.nc", help="Posterior to write, as netCDF.")],
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of the density; by default beside the output, .png.")
    ] = None,
    report: Report = None,
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
    draws: Annotated[
        int | None,
        typer.Option(
            help=f"Draws to keep of each chain, and no more; by default {DEFAULTS.draws} and what the limits need."
        ),
    ] = None,
    warmup: Annotated[int, typer.Option(help="Sweeps before the first draw.")] = DEFAULTS.warmup,
    thin: Annotated[int, typer.Option(help="Sweeps for each draw.")] = DEFAULTS.thin,
    chains: Annotated[int, typer.Option(help="Independent chains.")] = DEFAULTS.chains,
    until_r_hat: UntilRHat = None,
    until_ess: UntilEss = None,
    minutes: Minutes = None,
    strict: Strict = False,
    seed: Annotated[int | None, typer.Option(help="Makes the draws repeatable.")] = None,
    progress: Progress = True,
    column: options.Column = None,
    scale_column: inputs.ScaleColumn = None,
    variance_column: inputs.VarianceColumn = None,
    clamped_at: inputs.ClampedAt = None,
    rounded_to: inputs.RoundedTo = None,
    withheld_below: inputs.WithheldBelow = None,
    withheld_unseen: inputs.WithheldUnseen = False,
    force: Force = False,
    mechanism: str | None = None,
    *,
    about: dict[str, Any],
    prior: Prior | None,
) -> None:
    """Estimate the density of the confidential data from a release, with its uncertainty.

    It goes on until the chains have converged, for some minutes at most; with --draws it makes so many draws and ends.
    Ctrl-C stops the chains and keeps what they have drawn; so does SIGTERM.

    Exit codes: 0, 2 for an error, 3 for chains that have not converged under --strict, 130 after Ctrl-C.
    """
    picture = output.with_suffix(".png") if picture is None else picture
    check_outputs(output, picture, report, force=force)
    layout = Layout(column, scale_column, variance_column)
    done = Processing(clamped_at, rounded_to, withheld_below, withheld_unseen or None)
    release = read_releases(sources, mechanism, about, layout, done, show=progress)
    model = build_model(kernel, release.mechanism, prior, resolution)
    how = build_sampler(sampler, auxiliaries)
    length = {"draws": DEFAULTS.draws if draws is None else draws} | going_on(
        until_r_hat, until_ess, minutes, wanted=draws is None and chains > 1
    )
    counts = {**length, "warmup": warmup, "thin": thin, "chains": chains, "seed": seed, "progress": progress}
    load_early()
    with terminated_as_interrupted():
        posterior = _sample(model, release, how, counts)
        deliver(posterior, output, picture, report, strict)


def going_on(r_hat: float | None, ess: float | None, minutes: float | None, *, wanted: bool) -> dict[str, Any]:
    """Return until when to go on: as the options say, else by the library's limits where that is wanted."""
    until = {name: value for name, value in {"r_hat": r_hat, "ess": ess}.items() if value is not None}
    if not until and minutes is None and not wanted:
        return {}
    return {"until": until, "minutes": MINUTES if minutes is None else minutes}


def check_outputs(output: Path, picture: Path, report: Path | None, *, force: bool) -> None:
    """Refuse files that cannot be written, or exist and are not to be replaced, before the long work."""
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

    inputs.refuse_columns(mechanism)
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


def deliver(posterior: Posterior, output: Path, picture: Path, report: Path | None, strict: bool) -> None:
    """Write the posterior first, warn, then write picture and report; one cut short is written too, and said to be."""
    complete = bool(posterior.datatree.attrs["complete"])
    save_somewhere(posterior, output)
    if not complete:
        say(f"interrupted: {output} holds the draws that were made before; privmix resume goes on with them.")
        posterior = posterior.thinned(max(MOST_DRAWS_IN_HASTE, posterior.chains))
    findings = posterior.check()
    with after_writing():
        warn_of(findings)
    doubt = doubt_of(findings)
    _draw(posterior, picture, doubt)
    with after_writing():
        _report(posterior, findings)
    written = f"wrote {output} and {picture}"
    if report is not None:
        from privmix.report import write

        write(posterior, report)
        written = f"wrote {output}, {picture} and {report}"
    with after_writing():
        typer.echo(written)
    if not complete:
        raise typer.Exit(INTERRUPTED)
    if strict and doubt:
        raise typer.Exit(NOT_CONVERGED)


def _report(posterior: Posterior, findings: list[Finding]) -> None:
    print_table(["", ""], mechanism_rows(posterior.model.mechanism, records_in_words(posterior)))
    header = ["quantity", "mean", "sd", "bulk ESS", "tail ESS", "R-hat", "note"]
    print_table(header, summary_rows(posterior.summary()), f"{posterior.chains} chains × {posterior.draws:,} draws")
    if "auto" in posterior.datatree.attrs:
        typer.echo(f"sampler: {posterior.datatree.attrs['auto']}")
    tell_rest(findings)


def _draw(posterior: Posterior, picture: Path, doubt: str) -> None:
    from matplotlib.figure import Figure

    from privmix.plots import plot_density, plot_pairs, save_figure
    from privmix.plots.pairs import picture_size

    names = posterior.model.kernel.names
    figure = Figure(figsize=picture_size(len(names)) if names else (7.5, 4.5), layout="constrained")
    if names:
        axes = plot_pairs(posterior, figure=figure, doubt=doubt)[0, 0]
    else:
        axes = plot_density(posterior, ax=figure.subplots(), doubt=doubt)
    save_figure(axes, picture)
