"""The noise on counts: its four laws, their draws, and how much of it a budget asks for.

Two facts tell the laws apart in compiled code: whether the exponent is squared, and whether noise is a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from privmix.mechanisms.discrete_noise import (
    LARGEST_DISCRETE_SCALE,
    ROOT_TWO_PI,
    draw_discrete_gaussian,
    draw_discrete_laplace,
    log_discrete_gaussian_between,
    log_discrete_gaussian_norm,
    log_discrete_laplace_between,
    log_discrete_laplace_norm,
)
from privmix.mechanisms.discrete_profile import discrete_gaussian_histogram_scale
from privmix.mechanisms.gaussian import gaussian_scale
from privmix.mechanisms.laplace import laplace_scale
from privmix.numerics.normal_intervals import scaled_mass
from privmix.parts.checks import check_scale, one_of
from privmix.privacy import ZCDP, ApproxDP, PureDP

Draw = Callable[[np.random.Generator, Any, int], np.ndarray]


class Law(NamedTuple):
    """A law of noise: its form, the log of its normaliser at a scale, and its draws."""

    squared: bool
    discrete: bool
    log_norm: Callable[[float], float]
    draw: Draw


#: laws by name; a Gaussian one has a guarantee in (ε, δ) or ρ, a Laplace one in ε
LAWS = {
    "laplace": Law(False, False, lambda s: math.log(2.0 * s), lambda rng, s, size: rng.laplace(0.0, s, size)),
    "gaussian": Law(True, False, lambda s: math.log(ROOT_TWO_PI * s), lambda rng, s, size: rng.normal(0.0, s, size)),
    "discrete laplace": Law(False, True, log_discrete_laplace_norm, draw_discrete_laplace),
    "discrete gaussian": Law(True, True, log_discrete_gaussian_norm, draw_discrete_gaussian),
}
KINDS = tuple(LAWS)
#: how many counts move by one when a neighbour is made: the L1 sensitivity, and the square of the L2 sensitivity
MOVED = {"replace": 2, "add-remove": 1}


def log_noise(squared, x, scale, log_norm):
    """Return the log density, or log probability, of noise x."""
    deviation = abs(x) / scale
    if squared:
        deviation = 0.5 * deviation * deviation
    return -deviation - log_norm


def log_noise_between(squared, discrete, low, high, scale, log_norm):
    """Return log P(low ≤ noise ≤ high), accurate in both tails; the ends are whole numbers where the noise is."""
    if discrete and squared:
        return log_discrete_gaussian_between(low, high, scale, log_norm)
    if discrete:
        return log_discrete_laplace_between(low, high, scale)
    if not low < high:
        return -math.inf
    if squared:
        return log_gaussian_between(low / scale, high / scale, (high - low) / scale)
    return log_laplace_between(low / scale, high / scale, (high - low) / scale)


def log_gaussian_between(low, high, width):
    """Return log(Φ(high) − Φ(low)), through the nearer tail."""
    nearest = min(max(0.0, low), high)
    return math.log(scaled_mass(low, high, width)) - 0.5 * nearest * nearest


def log_laplace_between(low, high, width):
    """Return log ∫ e^(−|x|)/2 dx from low to high, through the nearer tail."""
    if low >= 0.0:
        return math.log(-0.5 * math.expm1(-width)) - low
    if high <= 0.0:
        return math.log(-0.5 * math.expm1(-width)) + high
    return math.log(-0.5 * (math.expm1(low) + math.expm1(-high)))


def check_noise(owner: str, noise: Any) -> None:
    """Refuse noise that is not known by name."""
    if not isinstance(noise, str) or noise not in KINDS:
        raise ValueError(f"{owner}: noise must be one of {', '.join(map(repr, KINDS))}; got {noise!r}.")


def check_neighbours(owner: str, neighbours: Any) -> None:
    """Refuse a relation of neighbours that is not known by name."""
    if not isinstance(neighbours, str) or neighbours not in MOVED:
        raise ValueError(
            f"{owner}: neighbours must be 'replace' (one record is replaced) or 'add-remove' (one record is added or "
            f"removed); got {neighbours!r}."
        )


def find_scale(owner: str, noise: str, moved: int, bins: int, scale: Any, **budget: Any) -> float | np.ndarray:
    """Return the scale that a budget asks for, or as given, one for all bins or one a bin.

    Both, as a rebuilt mechanism has, must agree.
    """
    epsilon, delta, rho = budget["epsilon"], budget["delta"], budget["rho"]
    _check_pair(owner, noise, epsilon, delta)
    if epsilon is None and rho is None:
        one_of(owner, epsilon=epsilon, rho=rho, scale=scale)
        return _bounded(owner, noise, _given_scale(owner, scale, bins))
    name = one_of(owner, epsilon=epsilon, rho=rho)
    derived = _bounded(owner, noise, _calibrate(noise, moved, **budget))
    if scale is not None and not (np.ndim(scale) == 0 and math.isclose(check_scale(scale), derived)):
        raise ValueError(f"{owner} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
    return derived


def guarantee_of(
    noise: str, neighbours: str, scales: np.ndarray, epsilon: float | None, delta: float | None, rho: float | None
) -> PureDP | ApproxDP | ZCDP:
    """Return what was asked for; else what the scales give, of the worst bins that a neighbour can move."""
    moved = MOVED[neighbours]
    worst = 1.0 / np.sort(scales)[:moved]
    if not LAWS[noise].squared:
        return PureDP(float(worst.sum()) if epsilon is None else epsilon, neighbours=neighbours)
    if epsilon is not None and delta is not None:
        return ApproxDP(epsilon, delta, neighbours=neighbours)
    return ZCDP(0.5 * float(np.sum(worst**2)) if rho is None else rho, neighbours=neighbours)


def _given_scale(owner: str, scale: Any, bins: int) -> float | np.ndarray:
    if np.ndim(scale) == 0:
        return check_scale(scale)
    scale = check_scale(scale, varying=True)
    if len(scale) != bins:
        raise ValueError(f"{owner}: scale has {len(scale)} numbers, but there are {bins} bins. Give one a bin, or one.")
    return scale


def _check_pair(owner: str, noise: str, epsilon: Any, delta: Any) -> None:
    if not LAWS[noise].squared and delta is not None:
        raise ValueError(
            f"{owner} with {noise} noise has a guarantee in ε alone; got delta={delta!r}. Leave delta out, or use "
            "noise='discrete gaussian'."
        )
    if LAWS[noise].squared and (epsilon is None) != (delta is None):
        raise ValueError(
            f"{owner} with {noise} noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
            f"epsilon={epsilon!r} and delta={delta!r}. For a single budget use rho=."
        )


def _calibrate(noise: str, moved: int, epsilon: Any, delta: Any, rho: Any) -> float:
    law, sensitivity = LAWS[noise], math.sqrt(moved)
    if not law.squared:
        return check_scale(laplace_scale(float(moved), epsilon=epsilon, rho=rho))
    if rho is not None:
        return check_scale(gaussian_scale(sensitivity, rho=rho))
    if law.discrete:
        return discrete_gaussian_histogram_scale(epsilon, delta, moved)
    return check_scale(gaussian_scale(sensitivity, epsilon=epsilon, delta=delta))


def _bounded(owner: str, noise: str, scale: Any) -> Any:
    largest = float(np.max(scale))
    if LAWS[noise].discrete and largest > LARGEST_DISCRETE_SCALE:
        raise ValueError(
            f"{owner}: discrete noise of scale {largest:g} is beyond {LARGEST_DISCRETE_SCALE:g}, where floats no "
            "longer hold every whole number of it. Use noise='laplace', or a larger budget."
        )
    return scale
