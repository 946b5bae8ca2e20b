"""The density of the confidential data in every draw, and its mass over intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix.curves.mixture import count_of, load_atom, mass_values, over_draws, run_over
from privmix.kernels import Kernel
from privmix.kernels.slots import log_f
from privmix.model import PrivateMixture
from privmix.samplers.base import Draws

Interval = tuple[float, float] | None
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)
# Panels of an interval: components wider than about a hundredth of it are integrated to many digits.
PANELS = 120


def density_draws(kernel: Kernel, draws: Draws, grid: np.ndarray, restricted_to: Interval = None) -> np.ndarray:
    """Return the density at the grid in every draw, as an array (chain, draw, point).

    With `restricted_to`, the density of each draw is cut to that interval and renormalised on it.
    """
    shape = draws.weight.shape[:2]
    out = np.empty((math.prod(shape), len(grid)))
    run_over(kernel, mixture_density, draws, grid, out)
    if restricted_to is not None:
        out /= mass_inside(kernel, draws, restricted_to).reshape(-1, 1)
        out[:, (grid < restricted_to[0]) | (grid > restricted_to[1])] = 0.0
    return out.reshape(*shape, len(grid))


def mixture_density(kernel, weight, atom, components, row, grid, out):
    """Fill out[d, j] with Σ_h w_dh f(grid_j|φ_dh) (compiled)."""
    theta = row[0]
    for d in range(len(weight)):
        for j in range(len(grid)):
            out[d, j] = 0.0
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, theta)
            for j in range(len(grid)):
                out[d, j] += weight[d, h] * math.exp(log_f(kernel, grid[j], theta))


def mass_inside(kernel: Kernel, draws: Draws, interval: tuple[float, float]) -> np.ndarray:
    """Return the mass that each draw puts on an interval, as an array (chain, draw)."""
    if not kernel.has("cdf"):
        grid = np.linspace(*interval, 1025)
        return np.trapezoid(density_draws(kernel, draws, grid), grid, axis=-1)
    return mass_values(kernel, draws, *interval).reshape(draws.weight.shape[:2])


def panel_nodes(lower: float, upper: float, panels: int = PANELS) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of a composite Gauss-Legendre rule."""
    half = 0.5 * (upper - lower) / panels
    middles = lower + half * (2.0 * np.arange(panels) + 1.0)
    return (middles[:, None] + half * NODES).ravel(), np.tile(half * WEIGHTS, panels)


def integrate_density(kernel: Kernel, draws: Draws, lower: float, upper: float, restricted_to: Interval) -> np.ndarray:
    """Return the integral of the density over an interval for each draw."""
    nodes, weights = panel_nodes(lower, upper)

    def evaluate(some: Draws) -> np.ndarray:
        return density_draws(kernel, some, nodes, restricted_to).reshape(-1, len(nodes)) @ weights

    return over_draws(evaluate, draws, len(nodes))


def interval_mass(kernel: Kernel, draws: Draws, lower: float, upper: float, restricted_to: Interval) -> np.ndarray:
    """Return the mass of an interval for each draw."""
    ends = ends_of(kernel, restricted_to)
    a, b = min(max(lower, ends[0]), ends[1]), max(min(upper, ends[1]), ends[0])
    if a >= b:
        return np.zeros(count_of(draws))
    if not kernel.has("cdf"):
        need_finite(kernel, a, "this probability")
        need_finite(kernel, b, "this probability")
        return np.clip(integrate_density(kernel, draws, a, b, restricted_to), 0.0, 1.0)
    held = mass_values(kernel, draws, a, b)
    whole = 1.0 if restricted_to is None else mass_values(kernel, draws, *restricted_to)
    return np.clip(held / whole, 0.0, 1.0)


def ends_of(kernel: Kernel, restricted_to: Interval) -> tuple[float, float]:
    """Return the interval in which records lie: the kernel's support, restricted."""
    lower, upper = kernel.support
    return (lower, upper) if restricted_to is None else (max(lower, restricted_to[0]), min(upper, restricted_to[1]))


def need_finite(kernel: Kernel, end: float, what: str) -> None:
    """Refuse an integral from or to infinity."""
    if not math.isfinite(end):
        raise ValueError(
            f"{type(kernel).__name__} has no cdf, so that {what} would be an integral from or to infinity. Give the "
            "kernel a hook cdf(self, y, theta), or ask for a finite interval."
        )


def default_grid(model: PrivateMixture, z: np.ndarray, points: int) -> np.ndarray:
    """Return the middles of equal cells over the bounds or, where there are none, over the range of the release."""
    if model.kernel.dimension > 1:
        raise ValueError(f"records have {model.kernel.dimension} coordinates: give a grid of points.")
    bounds = model.mechanism.bounds or model.restricted_to
    if bounds is None:
        lower, upper = model.kernel.support
        bounds = (max(lower, float(z.min())), min(upper, float(z.max())))
        if not bounds[0] < bounds[1]:
            bounds = (bounds[0] - 1.0, bounds[1] + 1.0)
    return bounds[0] + (bounds[1] - bounds[0]) * (np.arange(points) + 0.5) / points


def check_grid(kernel: Kernel, grid: Any) -> np.ndarray:
    """Return the points of a grid as an array of finite floats."""
    try:
        points = np.ascontiguousarray(grid, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the grid must be numbers; got {grid!r}.") from error
    points = np.atleast_1d(points) if kernel.dimension == 1 else np.atleast_2d(points)
    wanted = 1 if kernel.dimension == 1 else 2
    if points.ndim != wanted or (wanted == 2 and points.shape[1] != kernel.dimension) or points.size == 0:
        kind = "a sequence of numbers" if wanted == 1 else f"rows of {kernel.dimension} numbers"
        raise ValueError(f"the grid must be {kind}; got an array of shape {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError("the grid has values that are NaN or infinite.")
    return points
