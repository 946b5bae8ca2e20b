"""Options that several commands share: the mechanism, and how it is built from them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from privmix.mechanisms import LocalMechanism


class MechanismName(StrEnum):
    """Mechanisms of the command line."""

    laplace = "laplace"
    gaussian = "gaussian"
    haar = "haar"


# The options that each mechanism takes.
TAKES = {
    MechanismName.laplace: ("epsilon", "rho", "scale", "bounds"),
    MechanismName.gaussian: ("epsilon", "delta", "rho", "scale", "bounds"),
    MechanismName.haar: ("epsilon", "scale", "bounds", "levels"),
}

Column = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column to read; needed where several columns hold numbers.")
]
Epsilon = Annotated[float | None, typer.Option(metavar="E", help="Privacy budget ε of each record.")]
Delta = Annotated[float | None, typer.Option(metavar="D", help="δ of (ε, δ): gaussian only, with --epsilon.")]
Rho = Annotated[float | None, typer.Option(metavar="R", help="zCDP budget instead of --epsilon: laplace or gaussian.")]
Scale = Annotated[float | None, typer.Option(metavar="S", help="Scale of the noise instead of a budget.")]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LO HI", help="Range that a record can take, known without looking at the data."),
]
Levels = Annotated[int | None, typer.Option(metavar="J", help="Finest wavelet level: haar only, 3 by default.")]


def build_mechanism(name: MechanismName, **options: Any) -> LocalMechanism:
    """Return the mechanism that the options describe, or say which option is missing or out of place."""
    from privmix import mechanisms

    given = {option: value for option, value in options.items() if value is not None}
    strange = [option for option in given if option not in TAKES[name]]
    if strange:
        takes = ", ".join(f"--{option}" for option in TAKES[name])
        raise ValueError(f"--{strange[0]} was given, but {name} does not take it; it takes {takes}. Leave it out.")
    if "bounds" not in given and ("scale" not in given or name is MechanismName.haar):
        raise ValueError(
            f"--bounds LO HI is missing: {name} noise is scaled to the range that a record can take. Give bounds that "
            "are known without looking at the data, such as --bounds 0 100."
        )
    classes = {"laplace": mechanisms.Laplace, "gaussian": mechanisms.Gaussian, "haar": mechanisms.HaarWavelet}
    return classes[name](**given)
