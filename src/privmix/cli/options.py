"""Options that several commands share: the mechanism, and how it is built from them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from privmix.mechanisms import Mechanism


class MechanismName(StrEnum):
    """Mechanisms of the command line."""

    laplace = "laplace"
    gaussian = "gaussian"
    haar = "haar"
    randomised_response = "randomised-response"
    square_wave = "square-wave"
    histogram = "histogram"
    smoothed_histogram = "smoothed-histogram"


class NoiseName(StrEnum):
    """Noise on the counts of a histogram."""

    laplace = "laplace"
    discrete_laplace = "discrete-laplace"
    discrete_gaussian = "discrete-gaussian"


# The options that each mechanism takes.
TAKES = {
    MechanismName.laplace: ("epsilon", "rho", "scale", "bounds"),
    MechanismName.gaussian: ("epsilon", "delta", "rho", "scale", "bounds"),
    MechanismName.haar: ("epsilon", "scale", "bounds", "levels"),
    MechanismName.randomised_response: ("epsilon", "bounds", "cells"),
    MechanismName.square_wave: ("epsilon", "bounds"),
    MechanismName.histogram: ("epsilon", "delta", "rho", "scale", "bounds", "bins", "noise", "records"),
    MechanismName.smoothed_histogram: ("epsilon", "bounds", "bins", "draws", "records"),
}
#: mechanisms that make one release of all records
GLOBAL = (MechanismName.histogram, MechanismName.smoothed_histogram)

Column = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column to read; needed where several columns hold numbers.")
]
Epsilon = Annotated[
    float | None, typer.Option(metavar="E", help="Privacy budget ε of each record; of a histogram as a whole.")
]
Delta = Annotated[
    float | None, typer.Option(metavar="D", help="δ of (ε, δ), with --epsilon: gaussian, or discrete-gaussian noise.")
]
Rho = Annotated[
    float | None, typer.Option(metavar="R", help="zCDP budget instead of --epsilon: laplace, gaussian or histogram.")
]
Scale = Annotated[float | None, typer.Option(metavar="S", help="Scale of the noise instead of a budget.")]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LO HI", help="Range that a record can take, known without looking at the data."),
]
Levels = Annotated[int | None, typer.Option(metavar="J", help="Finest wavelet level: haar only, 3 by default.")]
Cells = Annotated[int | None, typer.Option(metavar="K", help="Number of cells: randomised-response only.")]
Bins = Annotated[
    int | None, typer.Option(metavar="M", help="Number of equal bins: histogram (64) or smoothed-histogram.")
]
Noise = Annotated[NoiseName | None, typer.Option(help="Noise on each count: histogram only, laplace by default.")]


def build_mechanism(name: MechanismName, **options: Any) -> Mechanism:
    """Return the mechanism that the options describe, or say which option is missing or out of place."""
    from privmix import mechanisms

    given = {option: value for option, value in options.items() if value is not None}
    _check_taken(name, given)
    if "noise" in given:
        given["noise"] = given["noise"].replace("-", " ")
    classes = {
        MechanismName.laplace: mechanisms.Laplace,
        MechanismName.gaussian: mechanisms.Gaussian,
        MechanismName.haar: mechanisms.HaarWavelet,
        MechanismName.randomised_response: mechanisms.RandomizedResponse,
        MechanismName.square_wave: mechanisms.SquareWave,
        MechanismName.histogram: mechanisms.NoisyHistogram,
        MechanismName.smoothed_histogram: mechanisms.SmoothedHistogram,
    }
    made: Any = classes[name]
    return made(**given)


def _check_taken(name: MechanismName, given: dict[str, Any]) -> None:
    """Refuse options that the mechanism does not take, and ask for those that it cannot do without."""
    strange = [option for option in given if option not in TAKES[name]]
    if strange:
        takes = ", ".join(f"--{option}" for option in TAKES[name])
        raise ValueError(f"--{strange[0]} was given, but {name} does not take it; it takes {takes}. Leave it out.")
    if "bounds" not in given and _needs_bounds(name, given):
        raise ValueError(
            f"--bounds LO HI is missing: {name} needs the range that a record can take. Give bounds that are known "
            "without looking at the data, such as --bounds 0 100."
        )
    if name is MechanismName.randomised_response and "cells" not in given:
        raise ValueError(f"--cells K is missing: {name} releases one of K cells of the bounds. Give it, at least 2.")
    if name in GLOBAL and "records" not in given:
        raise ValueError(
            f"--records N is missing: {name} is one release of all records, whose number is public. Give it."
        )


def _needs_bounds(name: MechanismName, given: dict[str, Any]) -> bool:
    if name in (MechanismName.laplace, MechanismName.gaussian):
        return "scale" not in given
    return isinstance(given.get("bins"), int | None)  # edges of bins have the bounds in them
