"""Hardened releases: noise that OpenDP draws on its lattice, with the guarantee of OpenDP's own map.

A hardened mechanism is the one whose law the released values have, on the lattice that they lie on, so that a fit uses
that law. Who drew and what is promised are its fields. Fits, pictures and checks need no OpenDP; drawing does.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms import Mechanism, NoisyHistogram, RandomizedResponse
from privmix.mechanisms.count_noise import MOVED
from privmix.parts import given
from privmix.privacy import Guarantee, PureDP
from privmix.release.opendp import (
    NOISES,
    least_scale,
    noise_on_counts,
    opendp_version,
    promise_of,
    randomized_response,
)


@dataclass(frozen=True, eq=False, repr=False)
class Hardened(Mechanism):
    """What hardened mechanisms share: who drew the noise, and what that promises.

    Parameters
    ----------
    promised
        What the map of whoever drew says.
    drawn_by
        Name and version of what drew, and the lattice that it drew on.
    """

    promised: Guarantee | None = given()
    drawn_by: str = given("")

    details: ClassVar[dict[str, str]] = {"drawn_by": "noise drawn by"}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.details = {**super().details, **Hardened.details}

    @property
    def guarantee(self) -> Any:
        """What the map of whoever drew the noise says."""
        return self.promised

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{super().in_words}; the noise was drawn by {self.drawn_by}"

    def draw(self, y: np.ndarray) -> np.ndarray:
        """Return a release of checked records, drawn by OpenDP."""
        raise NotImplementedError


def draw_hardened(y: Any, mechanism: Mechanism, seed: Any = None) -> tuple[Any, Mechanism]:
    """Return a release of confidential data that OpenDP drew, and the mechanism that it has the law of."""
    if seed is not None:
        raise ValueError(
            "a hardened release takes no seed: OpenDP draws from a secure source, and whoever guesses a seed can take "
            "the noise off. Leave it out."
        )
    hard = harden(mechanism)
    return hard.give_back(y, hard.draw(hard.clip_data(y, stacklevel=4))), hard


@singledispatch
def harden(mechanism: Any) -> Any:
    """Return the mechanism that OpenDP draws from in place of another, with what its map promises.

    Where a guarantee was asked for, the noise grows until OpenDP's map keeps it; where the noise was given, it stays,
    and the guarantee is what the map says of it.

    Parameters
    ----------
    mechanism
        What to harden.
    """
    if mechanism.is_wrapper:
        raise ValueError(
            f"{type(mechanism).__name__} is made of another mechanism. Harden that one; then clamp, round or withhold "
            "what it released."
        )
    served = ", ".join(kind.__name__ for kind in harden.registry if kind is not object)
    raise ValueError(
        f"{type(mechanism).__name__} has no hardened form: OpenDP has no exact sampler for it. These have one: "
        f"{served}. Or leave hardened out, for simulation and study."
    )


@dataclass(frozen=True)
class HardenedResponse(Hardened, RandomizedResponse):  # type: ignore[override]
    """Randomized response that OpenDP's exact sampler drew."""

    def draw(self, y: np.ndarray) -> np.ndarray:
        """Return the drawn cell of each record."""
        measurement = randomized_response(self.cells, self.truth)

        def respond(cells: np.ndarray) -> list[int]:
            return [measurement(cell) for cell in cells.tolist()]

        if not self.staggered:
            return np.array(respond(self.cell_of(y)), dtype=np.float64)
        second = np.array([secrets.randbits(1) for _ in y], dtype=bool)  # a fair coin, from a secure source too
        return self.on_two_grids(y, second, respond)


@harden.register
def _(mechanism: RandomizedResponse) -> HardenedResponse:
    cells, truth, asked = mechanism.cells, mechanism.truth, mechanism.epsilon
    if truth >= 1.0:
        raise ValueError(
            f"RandomizedResponse with ε = {asked:g} lies with a probability below 1e-16, which OpenDP's sampler takes "
            "for never. Give a smaller epsilon."
        )
    # The probability is rounded to a float: where that is upwards, the map says a little more than was asked for.
    while asked is not None and randomized_response(cells, truth).map(1) > asked:
        truth = math.nextafter(truth, 0.0)
    promised = PureDP(randomized_response(cells, truth).map(1))
    return HardenedResponse(
        cells,
        None,
        mechanism.bounds,
        truth,
        staggered=mechanism.staggered,
        promised=promised,
        drawn_by=opendp_version("cell by cell"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class HardenedHistogram(Hardened, NoisyHistogram):  # type: ignore[override]
    """A histogram whose noise OpenDP drew on the whole numbers."""

    def draw(self, y: np.ndarray) -> np.ndarray:
        """Return the counts with noise."""
        counts = self.statistic(y).astype(np.int64).tolist()
        return np.array(noise_on_counts(continuous(self.noise), float(self.scale))(counts), dtype=np.float64)


def continuous(noise: str) -> str:
    """Return the name of noise without a word that says that it is discrete."""
    return noise.removeprefix("discrete ")


@harden.register
def _(mechanism: NoisyHistogram) -> HardenedHistogram:
    if np.ndim(mechanism.scale):
        raise ValueError(
            "NoisyHistogram with a scale for each bin has no hardened form: OpenDP's noise on counts has one scale. "
            "Give one number."
        )
    noise, moved = continuous(mechanism.noise), MOVED[mechanism.neighbours]
    distance = moved if noise == "laplace" else math.sqrt(moved)  # OpenDP's L1 is of whole numbers
    promise = partial(_promise_on_counts, noise, distance, mechanism.delta, mechanism.neighbours)
    scale = float(mechanism.scale)
    if mechanism.epsilon is not None or mechanism.rho is not None:
        scale = least_scale(promise, mechanism.guarantee, scale)
    return HardenedHistogram(
        mechanism.records,
        mechanism.bins,
        f"discrete {noise}",
        bounds=mechanism.bounds,
        scale=scale,
        neighbours=mechanism.neighbours,
        promised=promise(scale),
        drawn_by=opendp_version("on the whole numbers"),
    )


def _promise_on_counts(noise: str, distance: float, delta: float | None, neighbours: str, scale: float) -> Guarantee:
    promised = promise_of(noise_on_counts(noise, scale), distance, NOISES[noise][1], delta)
    return replace(promised, neighbours=neighbours)
