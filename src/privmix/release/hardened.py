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

from privmix.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    NoisyHistogram,
    RandomizedResponse,
)
from privmix.mechanisms.count_noise import MOVED
from privmix.parts import given
from privmix.privacy import Guarantee, PureDP
from privmix.release.opendp import (
    NOISES,
    least_scale,
    noise_on_counts,
    noise_on_lattice,
    opendp_version,
    promise_of,
    randomized_response,
)

# Points of the lattice between the bounds, at least: OpenDP's map adds one step to the distance of two records, so that
# this many cost 0.4% of ε. More make each sum over them dearer in a fit.
LEAST_POINTS = 256
# Steps in one scale of the noise, at least: rounding then adds at most 0.2% to its variance.
LEAST_STEPS_IN_SCALE = 8
# Every multiple of a step up to this one, with noise to spare, is a float.
LARGEST_MULTIPLE = 2.0**45


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


def has_hardened_form(mechanism: Mechanism) -> bool:
    """Return whether OpenDP can draw in place of a mechanism, as far as its kind and its cells tell."""
    known = harden.dispatch(type(mechanism)) is not harden.dispatch(object)
    return known and not getattr(mechanism, "staggered", False)


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


@dataclass(frozen=True, eq=False)
class HardenedLaplace(Hardened, DiscreteLaplace):
    """Records with Laplace noise that OpenDP drew on the multiples of a power of two."""

    def draw(self, y: np.ndarray) -> np.ndarray:
        """Return the records with noise."""
        return draw_on_lattice("laplace", self, y)


@dataclass(frozen=True, eq=False)
class HardenedGaussian(Hardened, DiscreteGaussian):
    """Records with Gaussian noise that OpenDP drew on the multiples of a power of two."""

    def draw(self, y: np.ndarray) -> np.ndarray:
        """Return the records with noise."""
        return draw_on_lattice("gaussian", self, y)


def draw_on_lattice(noise: str, mechanism: Any, y: np.ndarray) -> np.ndarray:
    """Return records with noise on multiples of a step: each by the measurement that the map is of."""
    measurement = noise_on_lattice(noise, float(mechanism.scale), exponent_of(mechanism.step))
    # The map is of the distance of the outermost points. What is beyond them, by half a step at most, could be rounded
    # to the next.
    inside = np.clip(y, *np.multiply(mechanism.ends, mechanism.step))
    return np.array([measurement(value) for value in inside.tolist()], dtype=np.float64)


def exponent_of(step: float) -> int:
    """Return k with step = 2^k, or say that there is none."""
    mantissa, exponent = math.frexp(step)
    if mantissa != 0.5:
        raise ValueError(
            f"OpenDP's lattice is the multiples of a power of two; the step is {step:g}. Give one such as 1 or 0.125."
        )
    return exponent - 1


def choose_step(width: float, scale: float) -> float:
    """Return a power of two that is fine for noise of this scale, and gives a sum over few points."""
    return 2.0 ** math.floor(math.log2(min(width / LEAST_POINTS, scale / LEAST_STEPS_IN_SCALE)))


@harden.register
def _(mechanism: Laplace) -> HardenedLaplace:
    return _on_lattice(mechanism, "laplace", HardenedLaplace)


@harden.register
def _(mechanism: Gaussian) -> HardenedGaussian:
    return _on_lattice(mechanism, "gaussian", HardenedGaussian)


@harden.register
def _(mechanism: DiscreteLaplace) -> HardenedLaplace:
    return _on_lattice(mechanism, "laplace", HardenedLaplace)


@harden.register
def _(mechanism: DiscreteGaussian) -> HardenedGaussian:
    return _on_lattice(mechanism, "gaussian", HardenedGaussian)


def _on_lattice(mechanism: Any, noise: str, kind: Any) -> Any:
    """Return the mechanism on OpenDP's lattice, its bounds moved outwards to points of it."""
    name = type(mechanism).__name__
    if mechanism.bounds is None:
        raise ValueError(f"{name} without bounds promises nothing, hardened or not. Give bounds=(lower, upper).")
    if np.ndim(mechanism.scale):
        raise ValueError(f"{name} with one scale a record has no hardened form. Give one number for all of them.")
    step, (lower, upper) = mechanism.lattice_step, mechanism.bounds
    if step is None:
        step = choose_step(upper - lower, float(mechanism.scale))
    else:
        lower, upper = np.multiply(mechanism.ends, step).tolist()
    k, lower, upper = exponent_of(step), step * math.floor(lower / step), step * math.ceil(upper / step)
    if max(abs(lower), abs(upper), float(mechanism.scale)) > LARGEST_MULTIPLE * step:
        raise ValueError(
            f"{name}: bounds from {lower:g} to {upper:g} and noise of scale {mechanism.scale:g} are too large for a "
            f"lattice of step {step:g}: floats do not hold its points. Give a larger step, or shift the records."
        )
    delta = getattr(mechanism, "delta", None)
    promise = partial(_promise_on_lattice, noise, k, upper - lower, delta)
    scale = float(mechanism.scale)
    if mechanism.epsilon is not None or mechanism.rho is not None:
        scale = least_scale(promise, mechanism.guarantee, scale)
    who = opendp_version(f"on the multiples of 2^{k}")
    return kind(bounds=(lower, upper), scale=scale, step=step, promised=promise(scale), drawn_by=who)


def _promise_on_lattice(noise: str, k: int, width: float, delta: float | None, scale: float) -> Guarantee:
    return promise_of(noise_on_lattice(noise, scale, k), width, NOISES[noise][1], delta)


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
        expected=mechanism.expected,
        promised=promise(scale),
        drawn_by=opendp_version("on the whole numbers"),
    )


def _promise_on_counts(noise: str, distance: float, delta: float | None, neighbours: str, scale: float) -> Guarantee:
    promised = promise_of(noise_on_counts(noise, scale), distance, NOISES[noise][1], delta)
    return replace(promised, neighbours=neighbours)
