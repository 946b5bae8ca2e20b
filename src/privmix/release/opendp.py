"""Measurements of OpenDP, an extra: exact samplers, each with OpenDP's own privacy map.

OpenDP draws noise on the multiples of 2^k in exact arithmetic, from a secure source of randomness: no low bits of a
floating-point sum tell of the data. What a draw promises is what its map says of it.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.privacy import ZCDP, ApproxDP, Guarantee, PureDP

#: OpenDP's constructor of noise, and the guarantee that its map is in
NOISES: dict[str, tuple[str, Callable[[float], Guarantee]]] = {
    "laplace": ("make_laplace", PureDP),
    "gaussian": ("make_gaussian", ZCDP),
}


def require_opendp() -> Any:
    """Return OpenDP's prelude, with the features that noise needs, or say how to get it."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise ImportError(
            "a hardened release is drawn by OpenDP, which is not installed. Run `pip install privmix[opendp]`."
        ) from error
    dp.enable_features("contrib")
    return dp


def opendp_version(lattice: str) -> str:
    """Return the name and version of what draws, and what it draws on."""
    return f"OpenDP {importlib.metadata.version('opendp')}, {lattice}"


def noise_on_lattice(noise: str, scale: float, k: int) -> Any:
    """Return the measurement that moves a number to the nearest multiple of 2^k and adds noise on those multiples."""
    dp = require_opendp()
    make = getattr(dp.m, NOISES[noise][0])
    return make(dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64"), scale=scale, k=k)


def noise_on_counts(noise: str, scale: float) -> Any:
    """Return the measurement that adds noise on the whole numbers to a list of whole numbers."""
    dp = require_opendp()
    metric = dp.l1_distance(T="i64") if noise == "laplace" else dp.l2_distance(T="f64")
    return getattr(dp.m, NOISES[noise][0])(dp.vector_domain(dp.atom_domain(T="i64")), metric, scale=scale)


def randomized_response(cells: int, truth: float) -> Any:
    """Return the measurement that gives the true number of a cell with a probability, else another at random."""
    return require_opendp().m.make_randomized_response(list(range(cells)), truth)


def promise_of(measurement: Any, distance: float, kind: Callable[[float], Guarantee], delta: float | None) -> Guarantee:
    """Return what OpenDP's map says of inputs at most this far apart: with δ, by its own conversion from zCDP.

    Parameters
    ----------
    measurement
        Of OpenDP.
    distance
        How far the inputs of two neighbours can be apart, in the measurement's metric.
    kind
        The guarantee that the map is in.
    delta
        Where (ε, δ) is wanted.
    """
    if delta is None:
        return kind(measurement.map(distance))
    dp = require_opendp()
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta=delta)
    return ApproxDP(*fixed.map(distance))


def least_scale(promise: Callable[[float], Guarantee], asked: Guarantee, start: float) -> float:
    """Return the least scale, but for rounding, at which a promise keeps what was asked for.

    Parameters
    ----------
    promise
        What a scale promises; it falls as the scale grows.
    asked
        A guarantee of the same kind.
    start
        A scale to begin with, near to the answer.
    """

    def keeps(scale: float) -> bool:
        given, wanted = promise(scale).to_dict(), asked.to_dict()
        return all(given[name] <= wanted[name] for name in wanted if isinstance(wanted[name], float))

    low, high = start, start
    while keeps(low):
        low *= 0.5
    while not keeps(high):
        high *= 2.0
    while np.nextafter(low, high) < high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return float(high)
