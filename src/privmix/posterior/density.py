"""The density of the confidential data: its value in every draw, its posterior mean and bands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from privmix.jit import bind, slot
from privmix.kernels import Kernel
from privmix.kernels.slots import log_f, prepare
from privmix.samplers.base import Draws

# Values held at a time: 64 MB, whatever the number of draws and points.
CHUNK = 8_000_000


def density_draws(
    kernel: Kernel, draws: Draws, grid: np.ndarray, support: tuple[float, float] | None = None
) -> np.ndarray:
    """Return the density at the grid in every draw, as an array (chain, draw, point).

    With `support`, the density of each draw is cut to that interval and renormalised on it.
    """
    shape = draws.weight.shape[:2]
    flat = [array.reshape(-1, *array.shape[2:]) for array in (draws.weight, draws.atom, draws.components)]
    out = np.empty((flat[0].shape[0], len(grid)))
    run = bind(mixture_density, kernel.hooks(), owner=type(kernel).__name__)
    run(kernel.record(), *map(np.ascontiguousarray, flat), np.zeros((1, kernel.columns)), grid, out)
    if support is not None:
        out /= support_mass(kernel, draws, support).reshape(-1, 1)
        out[:, (grid < support[0]) | (grid > support[1])] = 0.0
    return out.reshape(*shape, len(grid))


def mixture_density(kernel, weight, atom, components, row, grid, out):
    """Fill out[d, j] with Σ_h w_dh f(grid_j|φ_dh) (compiled)."""
    theta = row[0]
    for d in range(len(weight)):
        for j in range(len(grid)):
            out[d, j] = 0.0
        for h in range(components[d]):
            for p in range(atom.shape[2]):
                theta[p] = atom[d, h, p]
            prepare(kernel, theta)
            for j in range(len(grid)):
                out[d, j] += weight[d, h] * math.exp(log_f(kernel, grid[j], theta))


@slot
def cdf(kernel, y, theta):
    """Return P(Y ≤ y|θ): a kernel's optional hook."""


def support_mass(kernel: Kernel, draws: Draws, support: tuple[float, float]) -> np.ndarray:
    """Return the mass that each draw puts on an interval, as an array (chain, draw)."""
    shape = draws.weight.shape[:2]
    if not hasattr(type(kernel), "cdf"):
        grid = np.linspace(*support, 1025)
        return np.trapezoid(density_draws(kernel, draws, grid), grid, axis=-1)
    flat = [array.reshape(-1, *array.shape[2:]) for array in (draws.weight, draws.atom, draws.components)]
    out = np.empty(flat[0].shape[0])
    hooks = {**kernel.hooks(), cdf: type(kernel).cdf}  # type: ignore[attr-defined]
    run = bind(mixture_mass, hooks, owner=type(kernel).__name__)
    run(kernel.record(), *map(np.ascontiguousarray, flat), np.zeros((1, kernel.columns)), *support, out)
    return out.reshape(shape)


def mixture_mass(kernel, weight, atom, components, row, lower, upper, out):
    """Fill out[d] with Σ_h w_dh (F(upper|φ_dh) − F(lower|φ_dh)) (compiled)."""
    theta = row[0]
    for d in range(len(weight)):
        out[d] = 0.0
        for h in range(components[d]):
            for p in range(atom.shape[2]):
                theta[p] = atom[d, h, p]
            prepare(kernel, theta)
            out[d] += weight[d, h] * (cdf(kernel, upper, theta) - cdf(kernel, lower, theta))


def density_bands(
    kernel: Kernel, draws: Draws, grid: Any, level: float, support: tuple[float, float] | None
) -> xr.Dataset:
    """Return the posterior mean of the density and a pointwise band at the level, in chunks of the grid."""
    points = check_grid(kernel, grid)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    tail = (1.0 - level) / 2.0
    step = max(1, CHUNK // draws.weight[..., 0].size)
    rows = []
    for first in range(0, len(points), step):
        values = density_draws(kernel, draws, points[first : first + step], support).reshape(
            -1, len(points[first : first + step])
        )
        rows.append([values.mean(axis=0), *np.quantile(values, [tail, 1.0 - tail], axis=0)])
    mean, lower, upper = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    coords: dict = {"y": points} if kernel.dimension == 1 else {"point": (("y", "coordinate"), points)}
    bands = {"mean": ("y", mean), "lower": ("y", lower), "upper": ("y", upper)}
    return xr.Dataset(bands, coords=coords, attrs={"level": level})


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
