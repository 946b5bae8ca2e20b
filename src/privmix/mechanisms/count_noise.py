"""Noise on the counts of a histogram: its scale, its normaliser and its draws.

The draws are idealised: discrete noise is exact but for the floating point of the uniform draws and exponentials that
it is made of. A hardened release needs an implementation in whole numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix.mechanisms.base import check_scale, one_of
from privmix.privacy import (
    discrete_gaussian_histogram_scale,
    gaussian_scale,
    laplace_scale,
    log_discrete_gaussian_norm,
)
from privmix.privacy.histograms import L1_SENSITIVITY, L2_SENSITIVITY

KINDS = ("laplace", "discrete laplace", "discrete gaussian")
_NAME = "NoisyHistogram"
# Discrete noise of a larger scale is not a whole number that a float can hold.
LARGEST_DISCRETE_SCALE = 1e12


def check_kind(noise: Any) -> None:
    """Refuse noise that is not known by name."""
    if not isinstance(noise, str) or noise not in KINDS:
        listed = ", ".join(repr(kind) for kind in KINDS)
        raise ValueError(f"{_NAME}: noise must be one of {listed}; got {noise!r}.")


def settle(noise: str, scale: Any, *, epsilon: Any, delta: Any, rho: Any) -> float:
    """Return the scale that a budget asks for, or as given; both, as a rebuilt mechanism has, must agree."""
    _check_pair(noise, epsilon, delta)
    if epsilon is None and rho is None:
        one_of(_NAME, epsilon=epsilon, rho=rho, scale=scale)
        return _bounded(noise, check_scale(scale))
    name = one_of(_NAME, epsilon=epsilon, rho=rho)
    derived = _bounded(noise, _calibrate(noise, epsilon, delta, rho))
    if scale is not None and not math.isclose(check_scale(scale), derived):
        raise ValueError(f"{_NAME} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
    return derived


def log_norm(noise: str, scale: float) -> float:
    """Return the log of the normaliser: minus the log density, or log probability, of no noise."""
    if noise == "laplace":
        return math.log(2.0 * scale)
    if noise == "discrete laplace":
        return -math.log(math.tanh(0.5 / scale))
    return log_discrete_gaussian_norm(scale)


def draw(noise: str, rng: np.random.Generator, scale: float, size: int) -> np.ndarray:
    """Return independent draws of the noise."""
    if noise == "laplace":
        return rng.laplace(0.0, scale, size)
    if noise == "discrete laplace":
        return _discrete_laplace(rng, scale, size)
    return _discrete_gaussian(rng, scale, size)


def _discrete_laplace(rng: np.random.Generator, scale: float, size: int) -> np.ndarray:
    """Draw P(k) ∝ e^(−|k|/s) as the difference of two geometric variates."""
    success = -math.expm1(-1.0 / scale)
    return (rng.geometric(success, size) - rng.geometric(success, size)).astype(np.float64)


def _discrete_gaussian(rng: np.random.Generator, scale: float, size: int) -> np.ndarray:
    """Draw P(k) ∝ e^(−k²/(2s²)) by rejection from the discrete Laplace law of scale t = ⌊s⌋ + 1.

    Canonne, Kamath and Steinke (2020), Algorithm 3: accept k with probability e^(−(|k| − s²/t)²/(2s²)).
    """
    t = math.floor(scale) + 1
    out = np.empty(size)
    missing = np.arange(size)
    while len(missing):
        k = _discrete_laplace(rng, t, len(missing))
        accepted = rng.random(len(missing)) < np.exp(-0.5 * ((np.abs(k) - scale * scale / t) / scale) ** 2)
        out[missing[accepted]] = k[accepted]
        missing = missing[~accepted]
    return out


def _check_pair(noise: str, epsilon: Any, delta: Any) -> None:
    if noise != "discrete gaussian" and delta is not None:
        raise ValueError(
            f"{_NAME} with {noise} noise has a guarantee in ε alone; got delta={delta!r}. Leave delta out, or use "
            "noise='discrete gaussian'."
        )
    if noise == "discrete gaussian" and (epsilon is None) != (delta is None):
        raise ValueError(
            f"{_NAME} with discrete gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
            f"epsilon={epsilon!r} and delta={delta!r}. For a single budget use rho=."
        )


def _calibrate(noise: str, epsilon: Any, delta: Any, rho: Any) -> float:
    if noise != "discrete gaussian":
        return check_scale(laplace_scale(L1_SENSITIVITY, epsilon=epsilon, rho=rho))
    if rho is not None:
        return check_scale(gaussian_scale(L2_SENSITIVITY, rho=rho))
    return discrete_gaussian_histogram_scale(epsilon, delta)


def _bounded(noise: str, scale: float) -> float:
    if noise != "laplace" and scale > LARGEST_DISCRETE_SCALE:
        raise ValueError(
            f"{_NAME}: discrete noise of scale {scale:g} is beyond {LARGEST_DISCRETE_SCALE:g}, where floats no longer "
            "hold every whole number of it. Use noise='laplace', or a larger budget."
        )
    return scale
