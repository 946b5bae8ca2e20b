"""How columns of a fit of rows depend on one another: correlations and mutual information, in each draw.

Correlations come from the moments of the components: exact where kernels state them. Mutual information is that of
cells: of categories it is exact; numbers are cut into cells, which can only lose, and whose masses are exact where a
kernel has a distribution function. Cells are narrow where many records are, and the same in all draws. Where columns
slope inside components it is that of the numbers themselves, by quadrature inside each component.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import xlogy

from privmix.curves.columns import need_columns, only_columns
from privmix.curves.density import NODES, WEIGHTS, check_level, summarise_draws
from privmix.curves.functionals import need_moments
from privmix.curves.information import information_of_rows
from privmix.curves.mixture import count_of, flattened, load_atom, over_draws, run_over
from privmix.curves.moments import component_moments
from privmix.curves.predictive import draw_records
from privmix.kernels import Kernel, Product
from privmix.kernels.slots import log_f, mass, row_moments
from privmix.samplers.base import Draws

# Cells of a column of numbers: half of equal probability, half of equal width. Two groups lose .1% of their mutual
# information, components along a line with correlation .99 .9%, spikes a hundredth wide in a wide component 4%.
CELLS = 96
Tabulate = Callable[[Draws], Callable[[int, int], np.ndarray]]
# Records of the fit that show where cells belong.
SCOUTS = 20_000


def correlation(kernel: Kernel, draws: Draws, level: float) -> xr.Dataset:
    """Return the correlation of each two columns of numbers: posterior mean, interval and draws."""
    level, names = check_level(level), number_columns(kernel)
    covariance = covariance_draws(kernel, draws, names)
    sd = np.sqrt(np.maximum(np.einsum("djj->dj", covariance), 1e-300))
    values = np.clip(covariance / (sd[:, :, None] * sd[:, None, :]), -1.0, 1.0)
    return _matrix(draws, values, names, level)


def number_columns(kernel: Kernel) -> list[Any]:
    """Return the columns that are numbers, at least two; of rows without names their places."""
    if kernel.dimension < 2:
        raise ValueError("correlation is for records of several columns; these are of one.")
    if not isinstance(kernel, Product):
        return list(kernel.names or range(kernel.dimension))
    names = [name for name, child in kernel.parts if child.categories is None]
    if len(names) < 2:
        raise ValueError(
            "correlation needs two columns of numbers, and of these "
            f"{'only ' + names[0] if names else 'none'} is one. posterior.mutual_information() is for categories too."
        )
    return names


def covariance_draws(kernel: Kernel, draws: Draws, names: Sequence[Any]) -> np.ndarray:
    """Return the covariance matrix of columns in each draw: that between components, and that inside them."""
    if not isinstance(kernel, Product):
        return _covariances_of_rows(kernel, draws)
    weight = flattened(draws)[0]
    moments = []
    for name in names:
        child, some = only_columns(kernel, draws, [name])
        moments.append(component_moments(child, some, child.support, need_moments(child, None)))
    mean, inside = np.moveaxis(np.stack(moments, axis=1), 3, 0)
    gap = mean - np.einsum("dh,djh->dj", weight, mean)[:, :, None]
    between = np.einsum("dh,djh,dkh->djk", weight, gap, gap)
    return between + np.einsum("dh,djh,jk->djk", weight, inside, np.eye(len(names)))


def _covariances_of_rows(kernel: Kernel, draws: Draws) -> np.ndarray:
    if not kernel.has("row_moments"):
        raise ValueError(
            f"{type(kernel).__name__} does not say the moments of a row. Give the kernel a hook row_moments(self, "
            "theta, mean, covariance), or summarise posterior.predictive(size)."
        )
    d = kernel.dimension
    out = np.zeros((count_of(draws), d, d))
    run_over(kernel, mixture_covariance, draws, np.zeros((2, d)), np.zeros((d, d)), out)
    return out


def mixture_covariance(kernel, weight, atom, components, row, means, inside, out):
    """Fill out[d] with the covariance of draw d: means first, then what is between and inside components (compiled)."""
    average, mean = means[0], means[1]
    for d in range(len(weight)):
        for j in range(len(average)):
            average[j] = 0.0
        for again in range(2):
            for h in range(components[d]):
                load_atom(kernel, atom, d, h, row[0])
                row_moments(kernel, row[0], mean, inside)
                for j in range(len(mean)):
                    if again == 0:
                        average[j] += weight[d, h] * mean[j]
                    else:
                        for k in range(len(mean)):
                            gaps = (mean[j] - average[j]) * (mean[k] - average[k])
                            out[d, j, k] += weight[d, h] * (inside[j, k] + gaps)


def mutual_information(kernel: Kernel, draws: Draws, level: float, cells: int = CELLS) -> xr.Dataset:
    """Return the mutual information of each two columns in nats: posterior mean, interval and draws."""
    known, level = need_columns(kernel, "mutual_information"), check_level(level)
    names = list(known.names)
    if not isinstance(known, Product):
        return _matrix(draws, information_of_rows(known, draws), names, level).assign_attrs(unit="nats")
    tabulate, width = _tables_of_product(known, draws, cells)

    def evaluate(some: Draws) -> np.ndarray:
        values = np.full((count_of(some), len(names), len(names)), np.nan)
        joint = tabulate(some)
        for j, k in combinations(range(len(names)), 2):
            values[:, j, k] = values[:, k, j] = information(joint(j, k))
        return values

    return _matrix(draws, over_draws(evaluate, draws, width), names, level).assign_attrs(unit="nats")


def _tables_of_product(kernel: Product, draws: Draws, cells: int) -> tuple[Tabulate, int]:
    """Return what makes tables of two columns, independent inside components, and how many numbers that takes."""
    edges = cell_edges(kernel, draws, cells)
    counts = [len(edge) for edge in edges]

    def tabulate(some: Draws) -> Callable[[int, int], np.ndarray]:
        weight, columns = flattened(some)[0], zip(kernel.names, edges, strict=True)
        masses = [cell_masses(*only_columns(kernel, some, [name]), edge) for name, edge in columns]
        return lambda j, k: np.swapaxes(masses[j] * weight[:, :, None], 1, 2) @ masses[k]

    return tabulate, draws.weight.shape[-1] * sum(counts) + 2 * max(counts) ** 2


def information(joint: np.ndarray) -> np.ndarray:
    """Return the mutual information of tables of probabilities: Σ p log p less the same of the margins."""
    joint = joint / joint.sum(axis=(1, 2), keepdims=True)
    whole = xlogy(joint, joint).sum(axis=(1, 2))
    margins = [joint.sum(axis=axis) for axis in (1, 2)]
    return np.maximum(whole - sum(xlogy(margin, margin).sum(axis=1) for margin in margins), 0.0)


def cell_edges(kernel: Product, draws: Draws, cells: int) -> list[np.ndarray]:
    """Return the edges of the cells of each column, from records of the fit; of categories, their places."""
    rows = _scouts(kernel, draws)
    return [
        np.arange(float(len(child.categories))) if child.categories is not None else _edges(column, child, cells)
        for child, column in zip(kernel.children, rows.T, strict=True)
    ]


def _scouts(kernel: Kernel, draws: Draws) -> np.ndarray:
    """Return records of the fit. Where cells lie is no matter of chance: the same records for the same draws."""
    which = np.linspace(0, count_of(draws) - 1, SCOUTS).astype(np.int64)
    return draw_records(kernel, draws, which, np.zeros((SCOUTS, kernel.dimension)), np.random.default_rng(0))


def _edges(y: np.ndarray, child: Kernel, cells: int) -> np.ndarray:
    half = cells // 2
    inner = [np.quantile(y, np.arange(1, half) / half), np.linspace(y.min(), y.max(), half + 1)[1:-1]]
    lower, upper = child.support
    if not child.has("cdf"):  # then the masses are integrals, of what the records reach
        lower, upper = max(lower, float(y.min())), min(upper, float(y.max()))
    return np.unique(np.concatenate([[lower], *inner, [upper]]))


def cell_masses(kernel: Kernel, draws: Draws, edges: np.ndarray) -> np.ndarray:
    """Return the mass of each cell under each component of each draw, (draw, component, cell)."""
    how = fill_shares if kernel.categories is not None else fill_masses if kernel.has("cdf") else fill_integrals
    cells = len(edges) - (kernel.categories is None)
    out = np.zeros((count_of(draws), draws.weight.shape[-1], cells))
    run_over(kernel, how, draws, edges, out)
    return out


def fill_shares(kernel, weight, atom, components, row, edges, out):
    """Write the share of each category (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            for j in range(len(edges)):
                out[d, h, j] = math.exp(log_f(kernel, edges[j], row[0]))


def fill_masses(kernel, weight, atom, components, row, edges, out):
    """Write the mass between each two edges (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            for j in range(len(edges) - 1):
                out[d, h, j] = mass(kernel, edges[j], edges[j + 1], row[0])


def fill_integrals(kernel, weight, atom, components, row, edges, out):
    """Write the integral of the density between each two edges by Gauss's rule with five points (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            for j in range(len(edges) - 1):
                half = 0.5 * (edges[j + 1] - edges[j])
                for k in range(5):
                    y = edges[j] + half * (1.0 + POINTS[k])
                    out[d, h, j] += half * SHARES[k] * math.exp(log_f(kernel, y, row[0]))


POINTS, SHARES = (tuple(values.tolist()) for values in (NODES, WEIGHTS))


def _matrix(draws: Draws, values: np.ndarray, names: Sequence[Any], level: float) -> xr.Dataset:
    """Return numbers of each two columns as a Dataset over ``column`` and ``other``, with their draws."""
    columns = zip(("mean", "lower", "upper"), summarise_draws(values, level), strict=True)
    variables: dict[str, Any] = {name: (("column", "other"), column) for name, column in columns}
    shaped = values.reshape(*draws.components.shape, len(names), len(names))
    variables["draws"] = (("chain", "draw", "column", "other"), shaped)
    return xr.Dataset(variables, coords={"column": list(names), "other": list(names)}, attrs={"level": level})
