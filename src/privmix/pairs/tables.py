"""The mass of a product of kernels in the cells of a table: the product of those of the columns in their bins."""

from __future__ import annotations

import math
from collections.abc import Callable

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
    """Return hooks for a table of cells and a product of kernels that all have a distribution function, else none.

    The functions read the number of bins of a column when they run, so that another table compiles nothing anew.
    """
    if not isinstance(mechanism, TableOfCells) or not isinstance(kernel, Product):
        return {}
    columns = list(zip(mechanism.axes, kernel.children, strict=True))
    if not all(axis.categories or child.has("cdf") for axis, child in columns):
        return {}
    scopes = [child.hooks() if axis.categories else {**child.hooks(), **BINS} for axis, child in columns]
    rows = [f"theta[{place.block.start}:{place.block.stop}]" for place in kernel.places]
    of_masses = [masses_of_categories if axis.categories else masses_of_kernel for axis, _ in columns]
    of_draws = [draw_category if axis.categories else draw_between for axis, _ in columns]
    more = {"spread_over_cells": spread_over_cells}
    masses, draws = _lines_of_masses(rows), _lines_of_draws(rows)
    arguments = "mechanism, kernel, rng, theta, j, ys, i"
    return {
        bin_masses: over_children("cell_masses", "mechanism, kernel, z, theta, out", of_masses, scopes, masses, **more),
        draw_in_bin: over_children("draw_in_cell", arguments, of_draws, scopes, draws),
    }


def _lines_of_masses(rows: list[str]) -> list[str]:
    """Return lines that write the masses of one column after another, and split the cells held so far by them."""
    lines = ["out[0] = 1.0", "held = 1"]
    for c, row in enumerate(rows):
        lines += [
            f"edges = mechanism.edges[mechanism.starts[{c}] : mechanism.starts[{c + 1}]]",
            f"f{c}(edges, kernel.c{c}, z, {row}, out[len(out) - len(edges) + 1 :])",
            "held = spread_over_cells(out, held, len(edges) - 1)",
        ]
    return lines


def _lines_of_draws(rows: list[str]) -> list[str]:
    """Return lines that draw the columns from the last on, which runs fastest in the number of a cell."""
    lines = ["left = j"]
    for c, row in reversed(list(enumerate(rows))):
        lines += [
            f"edges = mechanism.edges[mechanism.starts[{c}] : mechanism.starts[{c + 1}]]",
            f"f{c}(edges, kernel.c{c}, rng, {row}, left % (len(edges) - 1), ys[i], {c})",
            "left //= len(edges) - 1",
        ]
    return lines


#: hooks of bins that are edges and no mechanism
BINS: dict[Callable, Callable] = {cell_count: bins_between, cell_edge: edge_before}
