"""The density of the confidential data: in every draw, its mass over intervals, and its mean with bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from privmix.curves.mixture import count_of, load_atom, mass_values, over_draws, parts_of, run_over
from privmix.frames import as_floats, is_table
from privmix.frames.categories import as_codes
from privmix.frames.rows import pick_columns
from privmix.kernels import Kernel
from privmix.kernels.slots import log_f
from privmix.model import PrivateMixture
from privmix.samplers.base import Draws

Interval = tuple[float, float] | None
Evaluate = Callable[[np.ndarray], np.ndarray]
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
    if model.kernel.names:
        names = model.kernel.names
        raise ValueError(
            f"records have the columns {', '.join(names)}: give a grid by name, such as {{{names[0]!r}: points}}, or "
            f"ask one column: posterior.marginal({names[0]!r})."
        )
    if model.kernel.dimension > 1:
        raise ValueError(f"records have {model.kernel.dimension} coordinates: give a grid of points.")
    if model.kernel.categories is not None:
        return np.arange(float(len(model.kernel.categories)))
    bounds = model.mechanism.bounds or model.restricted_to
    if bounds is None and model.mechanism.is_global:
        bounds = model.mechanism.clipped_at  # counts are no places
    if bounds is None:
        lower, upper = model.kernel.support
        z = model.mechanism.fill_withheld(z)
        bounds = (max(lower, float(z.min())), min(upper, float(z.max())))
        if not bounds[0] < bounds[1]:
            bounds = (bounds[0] - 1.0, bounds[1] + 1.0)
    return bounds[0] + (bounds[1] - bounds[0]) * (np.arange(points) + 0.5) / points


def check_grid(kernel: Kernel, grid: Any) -> np.ndarray:
    """Return the points of a grid as an array of finite floats; a frame of rows is read by its columns."""
    if kernel.names and (is_table(grid) or isinstance(grid, xr.DataArray)):
        grid = read_points(kernel, grid)
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


def read_points(kernel: Any, grid: Any) -> np.ndarray:
    """Return rows of named columns as an array, categories by their places."""
    columns = pick_columns(grid, kernel.names, "the grid")
    read = [
        as_floats(columns[name], f"the grid of {name}")
        if child.categories is None
        else as_codes(columns[name], child.categories, f"the grid of {name}")
        for name, child in kernel.parts
    ]
    return np.column_stack(read)


def check_level(level: Any) -> float:
    """Return a level as a float, or say what is wrong with it."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    return float(level)


def density_bands(kernel: Kernel, draws: Draws, grid: Any, level: float, restricted_to: Interval) -> xr.Dataset:
    """Return the posterior mean of the density with a pointwise and a simultaneous band."""
    points = check_grid(kernel, grid)
    evaluate = _density_of(kernel, draws, restricted_to)
    bands = curve_bands(evaluate, points, count_of(draws), check_level(level))
    coords = grid_coords(kernel, points)
    return xr.Dataset({name: ("y", values) for name, values in bands.items()}, coords=coords, attrs={"level": level})


def grid_coords(kernel: Kernel, points: np.ndarray) -> dict[str, Any]:
    """Return the coordinates of points: numbers, rows with the names of their columns, categories with theirs."""
    if kernel.dimension > 1:
        named = {"coordinate": list(kernel.names)} if kernel.names else {}
        return {"point": (("y", "coordinate"), points), **named}
    if kernel.categories is None:
        return {"y": points}
    whole = [kernel.categories[int(j)] if j in range(len(kernel.categories)) else "" for j in points]
    return {"y": points, "category": ("y", whole)}


def density_mean(kernel: Kernel, draws: Draws, points: np.ndarray, restricted_to: Interval) -> np.ndarray:
    """Return the posterior mean of the density alone: that of `density_bands`, in a third of its time."""
    parts = _in_parts(_density_of(kernel, draws, restricted_to), points, count_of(draws))
    return np.concatenate([values.mean(axis=0) for values in parts])


def _density_of(kernel: Kernel, draws: Draws, restricted_to: Interval) -> Evaluate:
    def evaluate(some: np.ndarray) -> np.ndarray:
        return density_draws(kernel, draws, some, restricted_to).reshape(-1, len(some))

    return evaluate


def curve_bands(evaluate: Evaluate, points: np.ndarray, count: int, level: float) -> dict[str, np.ndarray]:
    """Return mean, pointwise band and simultaneous band of a curve.

    The simultaneous band is that of Montiel Olea and Plagborg-Møller (2019): at every point the interval between the
    same two order statistics of the draws, r-th from below and r-th from above, with the largest r for which at least
    the share `level` of the drawn curves lies inside everywhere. It is found in two passes over parts of the points:
    the first keeps for each draw how deep it lies at its worst point, the second reads off the order statistics.

    Parameters
    ----------
    evaluate
        Function of some points that returns the curve there, an array (draw, point).
    points, count
        All points, and the number of draws.
    level
        Posterior probability of the bands.
    """
    tail = 0.5 * (1.0 - level)
    # The simultaneous band holds the pointwise one, so that no draw need be told deeper than the pointwise quantile.
    most = math.floor(tail * (count - 1)) + 1
    depth = np.full(count, most)
    rows = []
    for values in _in_parts(evaluate, points, count):
        ordered = np.sort(values, axis=0)
        rows.append([values.mean(axis=0), *_quantiles(ordered, [tail, 1.0 - tail])])
        for j in range(values.shape[1]):
            _lower_depth(depth, values[:, j], np.ascontiguousarray(ordered[:, j]), most)
    inside = math.ceil(level * count - 1e-9)
    r = int(np.sort(depth)[count - inside])
    pair = [r - 1, count - r]
    ends = [np.partition(values, pair, axis=0)[pair] for values in _in_parts(evaluate, points, count)]
    mean, lower, upper = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    below, above = np.concatenate(ends, axis=1)
    return {"mean": mean, "lower": lower, "upper": upper, "simultaneous_lower": below, "simultaneous_upper": above}


def _in_parts(evaluate: Evaluate, points: np.ndarray, count: int) -> Iterator[np.ndarray]:
    return (evaluate(points[part]) for part in parts_of(len(points), count))


def _quantiles(ordered: np.ndarray, probs: list[float]) -> list[np.ndarray]:
    """Return quantiles of sorted columns, interpolated between order statistics as `numpy.quantile` does."""
    found = []
    for prob in probs:
        place = prob * (len(ordered) - 1)
        low = min(math.floor(place), len(ordered) - 1)
        high = min(low + 1, len(ordered) - 1)
        found.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    return found


def _lower_depth(depth: np.ndarray, values: np.ndarray, ordered: np.ndarray, most: int) -> None:
    """Lower the depth of draws that are among the first or last `most` at this point; equal values count as inside."""
    count = len(ordered)
    low = np.flatnonzero(values < ordered[most - 1])
    depth[low] = np.minimum(depth[low], np.searchsorted(ordered, values[low], side="right"))
    high = np.flatnonzero(values > ordered[count - most])
    depth[high] = np.minimum(depth[high], count - np.searchsorted(ordered, values[high], side="left"))


def summarise_draws(values: np.ndarray, level: float) -> list[np.ndarray]:
    """Return mean, lower and upper quantile over the first axis."""
    tail = 0.5 * (1.0 - check_level(level))
    return [values.mean(axis=0), *np.quantile(values, [tail, 1.0 - tail], axis=0)]


def short_names(points: np.ndarray) -> list[str]:
    """Return points as text of four digits, or of as many more as tell them apart."""
    names = [[f"{float(x):.{digits}g}" for x in points] for digits in range(4, 18)]
    return next((some for some in names if len(set(some)) == len(set(points.tolist()))), names[-1])
