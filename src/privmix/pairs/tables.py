"""The mass of a product of kernels in the cells of a table: the product of those of the columns in their bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from privmix.kernels import Kernel, Product
from privmix.kernels.slots import log_f
from privmix.mechanisms import Mechanism
from privmix.mechanisms.cells import cell_count, cell_edge
from privmix.mechanisms.table_cells import TableOfCells
from privmix.pairs.masses import draw_between, masses_of_kernel
from privmix.pairs.product import spread_over_cells
from privmix.pairs.slots import bin_masses, draw_in_bin
from privmix.parts.columns import over_children


def bins_between(edges, z):
    """Return the number of bins of a column (fills the slot of a mechanism's cells)."""
    return len(edges) - 1


def edge_before(edges, z, j):
    """Return the left edge of a column's bin."""
    return edges[j]


def masses_of_categories(edges, kernel, z, theta, out):
    """Write the probability of each category."""
    for j in range(len(out)):
        out[j] = math.exp(log_f(kernel, float(j), theta))


def draw_category(edges, kernel, rng, theta, j, ys, i):
    """Write the place of a category."""
    ys[i] = float(j)


def cell_masses_of(mechanism: Mechanism, kernel: Kernel) -> dict[Callable, Callable]:
    """Return hooks for a table of cells and a product of kernels that all have a distribution function, else none."""
    if not isinstance(mechanism, TableOfCells) or not isinstance(kernel, Product):
        return {}
    if not all(axis.categories or k.has("cdf") for axis, k in zip(mechanism.axes, kernel.children, strict=True)):
        return {}
    columns, cells, after = [], mechanism.bin_count, mechanism.bin_count
    for c, (axis, place) in enumerate(zip(mechanism.axes, kernel.places, strict=True)):
        after //= axis.bins
        edges = f"mechanism.edges[{mechanism.starts[c]}:{mechanism.starts[c + 1]}]"
        columns.append((c, axis.bins, after, edges, f"theta[{place.block.start}:{place.block.stop}]"))
    masses, draws = ["out[0] = 1.0", "held = 1"], []
    for c, count, after, edges, row in columns:
        masses.append(f"f{c}({edges}, kernel.c{c}, z, {row}, out[{cells - count}:{cells}])")
        masses.append(f"held = spread_over_cells(out, held, {count})")
        draws.append(f"f{c}({edges}, kernel.c{c}, rng, {row}, j // {after} % {count}, ys[i], {c})")
    scopes = [_scope(axis.categories, k) for axis, k in zip(mechanism.axes, kernel.children, strict=True)]
    of_masses = [masses_of_categories if axis.categories else masses_of_kernel for axis in mechanism.axes]
    of_draws = [draw_category if axis.categories else draw_between for axis in mechanism.axes]
    arguments, more = "mechanism, kernel, z, theta, out", {"spread_over_cells": spread_over_cells}
    return {
        bin_masses: over_children("masses_of_cells", arguments, of_masses, scopes, masses, **more),
        draw_in_bin: over_children("draw_in_cell", "mechanism, kernel, rng, theta, j, ys, i", of_draws, scopes, draws),
    }


def _scope(categories: Any, kernel: Kernel) -> Mapping[Callable, Callable]:
    """Return the hooks of a column: of its kernel, and of bins that are edges and no mechanism."""
    bins: dict[Callable, Callable] = {} if categories else {cell_count: bins_between, cell_edge: edge_before}
    return {**kernel.hooks(), **bins}
