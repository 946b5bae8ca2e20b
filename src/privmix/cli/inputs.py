"""What `privmix fit` reads: a release that describes itself, or a plain table that the options describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmix.cli import options
from privmix.parts.options import flag
from privmix.release.readers.table import PLAIN, UNTOUCHED, Layout, Processing, has_bins, lattice_of, read_rows

if TYPE_CHECKING:
    from privmix import Release
    from privmix.mechanisms import Mechanism

ScaleColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of the scale of each row's noise: of Gaussian noise std_dev.")
]
VarianceColumn = Annotated[str | None, typer.Option(metavar="NAME", help="Column of the variance of each row's noise.")]
ClampedAt = Annotated[float | None, typer.Option(metavar="L", help="Noisy values below this were set to it.")]
RoundedTo = Annotated[
    float | None, typer.Option(metavar="S", help="Noisy values were rounded to multiples of this, halves up.")
]
WithheldBelow = Annotated[
    float | None, typer.Option(metavar="L", help="Noisy values below this were not published: their cells are empty.")
]
WithheldUnseen = Annotated[
    bool, typer.Option("--withheld-unseen", help="Withheld records have no row at all: learn their number.")
]


def refuse_columns(mechanism: Mechanism) -> None:
    """Refuse records of several columns, and categories: what the command line writes is about one number."""
    if mechanism.names or mechanism.categories is not None:
        held = f"several columns ({', '.join(mechanism.names)})" if mechanism.names else "categories"
        raise ValueError(
            f"the release has {held}, and the command line fits records of one number. Use Python: "
            "privmix.fit(privmix.Release.load(path)), or privmix.load(path) for a fit."
        )


def read_release(
    source: Path,
    name: str | None,
    about: dict[str, Any],
    layout: Layout = PLAIN,
    done: Processing = UNTOUCHED,
) -> Release:
    """Return the release in a file, with the mechanism that the file names or that the options describe."""
    from privmix.release import Release, describes_itself
    from privmix.release.files import sidecar

    described = describes_itself(source)
    name, about = _named(source, name, about, described)
    if name is None:
        told = {**layout._asdict(), **done._asdict(), **about}
        strange = [flag(key) for key, value in told.items() if value is not None]
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
    return _read_plain(source, name, about, layout, done)


def _named(source: Path, name: str | None, about: dict[str, Any], described: bool) -> tuple[str | None, dict[str, Any]]:
    """Return the mechanism and its options; where only the noise is named, it is that of the bins or of the records."""
    if name is not None or "noise" not in about or described or not source.is_file():
        return name, about
    if has_bins(source):
        return "histogram", about
    rest = {field: value for field, value in about.items() if field != "noise"}
    return str(about["noise"]), rest


def _read_plain(source: Path, name: str, about: dict[str, Any], layout: Layout, done: Processing) -> Release:
    """Return the release in a plain table, as the mechanism reads it."""
    from privmix.release import Release

    kind = options.OFFERED[name]
    are_bins = len(kind.column_names) > 1
    layout = layout._replace(noise=str(about.get("noise", name)).replace("-", " "))
    rows = read_rows(source, layout, done, lattice_of(about.get("noise", name), about), are_bins)
    told = kind.read_table(rows.columns())[0] | rows.fields()
    strange = [key for key in told if key in about]
    if strange:
        raise ValueError(f"{flag(strange[0])} was given, but {source} tells it, in its columns. Leave it out.")
    mechanism = options.build_mechanism(name, about | told)
    if mechanism.row_length is not None:
        raise ValueError(
            f"{name} releases several numbers a record, which no single column holds. Give privatize's file."
        )
    return Release(rows.values, done.around(mechanism))
