"""A number that is fixed or has a Gamma hyperprior: read from what the user gives, drawn, integrated out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from privmix.numerics import gamma

# The least value that a hyperprior can give: zero would absorb the chain.
LEAST = 1e-300
# First width of a slice of its logarithm, and the most steps by which it is widened.
WIDTH, MOST_STEPS_OUT = 1.0, 40
# Nodes of the integral over a hyperprior, by Gauss and Laguerre.
NODES = 60


def store_learned(part: Any, name: str, above: float = 0.0) -> None:
    """Read a field that is a number or a pair (shape, rate), and store it with the fields fixed, shape and rate.

    Parameters
    ----------
    part, name
        The part and the name of its field.
    above
        What a fixed number must exceed.
    """
    given = getattr(part, name)
    fixed, shape, rate = _read(given, name, above)
    object.__setattr__(part, name, fixed if shape == 0.0 else (shape, rate))
    for key, value in {"fixed": fixed, "shape": shape, "rate": rate}.items():
        object.__setattr__(part, key, value)


def _read(given: Any, name: str, above: float) -> tuple[float, float, float]:
    """Return (fixed, shape, rate); shape 0 marks a fixed number."""
    try:
        values = [float(v) for v in given] if isinstance(given, tuple | list) else [float(given)]
    except (TypeError, ValueError):
        values = []
    least = above if len(values) == 1 else 0.0
    if len(values) not in (1, 2) or not all(math.isfinite(v) and v > least for v in values):
        number = "a positive number" if above == 0.0 else f"a number above {above:g}"
        raise ValueError(
            f"{name} must be {number}, or a pair (shape, rate) of positive numbers for a Gamma hyperprior; got "
            f"{given!r}."
        )
    return (values[0], 0.0, 0.0) if len(values) == 1 else (0.0, values[0], values[1])


def draw_learned(rng, fixed, shape, rate):
    """Draw from Gamma(shape, rate), or return the fixed number."""
    if shape == 0.0:
        return fixed
    return max(gamma(rng, shape) / rate, LEAST)


def log_hyperprior(part, log_value):
    """Return the log density of log x under x ~ Gamma(shape, rate), up to a constant."""
    return part.shape * log_value - part.rate * math.exp(log_value)


def exponential_of(log_value):
    """Return e^x, at least the least value of a hyperprior."""
    return max(math.exp(log_value), LEAST)


def nodes(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return values of the number and their weights: a quadrature over its hyperprior, or the fixed one."""
    if part.shape == 0.0:
        return np.array([part.fixed]), np.ones(1)
    if part.shape > 100.0:  # the constants of the quadrature overflow, but then a few quantiles are enough
        shares = (np.arange(NODES) + 0.5) / NODES
        return special.gammaincinv(part.shape, shares) / part.rate, np.full(NODES, 1.0 / NODES)
    places, weights = special.roots_genlaguerre(NODES, part.shape - 1.0)
    return np.maximum(places / part.rate, 1e-12), weights / weights.sum()
