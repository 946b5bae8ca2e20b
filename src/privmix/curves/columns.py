"""Some columns of a fit of rows: the draws of their own mixture, alone or given the values of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from privmix.curves.density import check_grid, density_bands, density_draws, density_mean
from privmix.curves.mixture import count_of, load_atom, run_over
from privmix.frames.categories import as_codes
from privmix.kernels import Kernel
from privmix.kernels.slots import log_f
from privmix.samplers.base import Draws


def need_columns(kernel: Kernel, name: str) -> Any:
    """Return the kernel of named columns, or say that there are none."""
    if not kernel.names:
        raise ValueError(f"{name} is for records of several named columns (kernels.Product, mechanisms.Each).")
    return kernel


def only_columns(kernel: Any, draws: Draws, names: Sequence[str]) -> tuple[Kernel, Draws]:
    """Return the kernel and the draws of some columns: weights stay, atoms and hyperparameters are those columns'."""
    atom, hyper = kernel.draws_of(names, draws.atom, draws.hyper)
    return kernel.only(names), draws._replace(atom=atom, hyper=hyper)


def column_given(kernel: Any, draws: Draws, name: str, given: Mapping[str, Any]) -> Draws:
    """Return the draws of one column given the values of others: weights, and atoms where columns slope inside them.

    Parameters
    ----------
    kernel, draws
        Of a fit of rows.
    name
        The column.
    given
        A value for each of some others: a number, or the name of a category.
    """
    if name in given:
        raise ValueError(f"conditional: {name!r} cannot be given a value and asked for.")
    weight = draws_given(kernel, draws, given).weight
    values = {other: float(axis_of(kernel, other, [value]).points[0]) for other, value in given.items()}
    alone = only_columns(kernel, draws, [name])[1]
    return alone._replace(weight=weight, atom=kernel.atoms_given(name, draws.atom, values))


def draws_given(kernel: Any, draws: Draws, given: Mapping[str, Any]) -> Draws:
    """Return the draws with the weights of components given the values of some columns: in proportion to w_h f(y|θ_h).

    Parameters
    ----------
    kernel, draws
        Of a fit of rows.
    given
        A value for each of some columns: a number, or the name of a category.
    """
    names = list(given)
    if not names:
        raise ValueError("conditional needs the value of at least one other column, such as age=40.")
    part, some = only_columns(kernel, draws, names)
    values = [axis_of(kernel, name, [given[name]]).points[0] for name in names]
    point = np.array(values) if len(names) == 1 else np.array([values])
    score = np.full((count_of(draws), draws.weight.shape[-1]), -np.inf)
    run_over(part, score_components, some, point, score)
    top = score.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        told = ", ".join(f"{name}={given[name]!r}" for name in names)
        raise ValueError(f"{told} has density 0 in {int((~np.isfinite(top)).sum())} draws: no record is like that.")
    weight = np.exp(score - top)
    return draws._replace(weight=(weight / weight.sum(axis=1, keepdims=True)).reshape(draws.weight.shape))


def score_components(kernel, weight, atom, components, row, point, out):
    """Fill out[d, h] with log w_dh f(point|φ_dh) (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            if weight[d, h] > 0.0:
                out[d, h] = np.log(weight[d, h]) + log_f(kernel, point[0], row[0])


class Axis(NamedTuple):
    """The grid of one column: points, and what to call them."""

    points: np.ndarray
    labels: np.ndarray


def axis_of(kernel: Any, name: str, grid: Any) -> Axis:
    """Return the points of a column's grid: numbers, or categories by name or place."""
    child = kernel.children[kernel.column(name)]
    if child.categories is None:
        points = check_grid(child, grid)
        return Axis(points, points)
    points = as_codes(grid, child.categories, f"the grid of {name}")
    return Axis(points, np.array([child.categories[int(point)] for point in points]))


def axes_of(kernel: Kernel, grids: Mapping[str, Any]) -> tuple[dict[str, Axis], np.ndarray]:
    """Return the axes of named grids, and all their points: rows, or numbers where there is one grid."""
    product = need_columns(kernel, "a grid by column")
    if not grids:
        raise ValueError(f"the grid has no column; the columns are {', '.join(product.names)}.")
    axes = {name: axis_of(product, name, grid) for name, grid in grids.items()}
    mesh = np.meshgrid(*[axis.points for axis in axes.values()], indexing="ij")
    rows = np.stack([values.reshape(-1) for values in mesh], axis=1)
    return axes, np.ascontiguousarray(rows[:, 0] if len(axes) == 1 else rows)


def density_over(kernel: Kernel, draws: Draws, grids: Mapping[str, Any], level: float) -> xr.Dataset:
    """Return the joint density of some columns on the grid that theirs make, the others integrated out."""
    axes, points = axes_of(kernel, grids)
    part, some = only_columns(need_columns(kernel, "a grid by column"), draws, list(axes))
    bands = density_bands(part, some, points, level, None)
    shape, coords = [len(axis.points) for axis in axes.values()], {name: axis.labels for name, axis in axes.items()}
    variables = {str(name): (tuple(axes), values.values.reshape(shape)) for name, values in bands.data_vars.items()}
    return xr.Dataset(variables, coords=coords, attrs=bands.attrs)


def density_draws_over(kernel: Kernel, draws: Draws, grids: Mapping[str, Any]) -> xr.DataArray:
    """Return the same density in each draw."""
    axes, points = axes_of(kernel, grids)
    part, some = only_columns(need_columns(kernel, "a grid by column"), draws, list(axes))
    values = density_draws(part, some, points)
    shape = (*values.shape[:2], *[len(axis.points) for axis in axes.values()])
    coords = {name: axis.labels for name, axis in axes.items()}
    return xr.DataArray(values.reshape(shape), dims=("chain", "draw", *axes), coords=coords)


def density_mean_over(kernel: Kernel, draws: Draws, grids: Mapping[str, Any]) -> xr.DataArray:
    """Return the posterior mean of the same density alone, in a third of the time."""
    axes, points = axes_of(kernel, grids)
    part, some = only_columns(need_columns(kernel, "a grid by column"), draws, list(axes))
    coords = {name: axis.labels for name, axis in axes.items()}
    values = density_mean(part, some, points, None).reshape([len(axis.points) for axis in axes.values()])
    return xr.DataArray(values, dims=tuple(axes), coords=coords)
