"""Rows of bits as counts of cells: the likelihood of all rows as a function of the cells' probabilities.

A row that releases a bit for every cell tells its record by the set of its ones alone: its probability is, up to a
constant, 1 + (r − 1) Σ_{c in the set} p_c, with r the ratio of odds of a one in the record's own cell and in others,
which is e^ε. There are nearly as many sets as records, so that to count them saves nothing; but the sum over a set
takes a few looks into tables, one for each eight cells. Atoms and sticks move on this likelihood, in which no record
has a cell. After that each record is given one, so that counts of cells can be handed out to the sticks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from privmix.mechanisms import UnaryEncoding
from privmix.numerics import uniform
from privmix.pairs.masses import masses_of_kernel
from privmix.samplers.binned.mixture import fill_row, give, log_released, redraw_bins, slice_width, width_of_records
from privmix.samplers.binned.slots import bin_of_record, seat_records

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Most cells whose sets are whole numbers, and the largest ε at which no product of two probabilities overflows.
MOST_CELLS, LARGEST_EPSILON = 62, 200.0
# Cells to a table of sums, and its length: one sum for each set of them.
TABLE_BITS, TABLE_SIZE = 8, 256
# Probabilities of rows are multiplied up to here; then the logarithm of the product is taken.
LARGEST_PRODUCT = 1e200


def tells_sets(model: PrivateMixture) -> bool:
    """Return whether numbers are released as rows of bits, of few enough cells."""
    mechanism = model.mechanism
    if not isinstance(mechanism, UnaryEncoding) or not model.kernel.has("cdf") or model.kernel.dimension > 1:
        return False
    return mechanism.cells <= MOST_CELLS and mechanism.epsilon <= LARGEST_EPSILON


def why_not_sets(mechanism: Any) -> str:
    """Return what rows of bits must be so that they can be counted, "" where there are none."""
    if not isinstance(mechanism, UnaryEncoding):
        return ""
    return f"rows of bits need at most {MOST_CELLS} cells of numbers, ε ≤ {LARGEST_EPSILON:g} and a kernel with cdf."


def row_of_bits(parts, data, state, theta, out):
    """Write the probability of each cell: of the row `out` the number of cells is all that is read."""
    masses_of_kernel(parts.mechanism, parts.kernel, out, theta, out)


def log_of_bits(state, chance):
    """Return the log probability of all rows, up to a constant."""
    fill_partial(state, chance)
    more, total, product = state.node[0], 0.0, 1.0
    for i in range(len(state.ones)):
        product *= 1.0 + more * max(sum_over_ones(state, i), 0.0)
        if product > LARGEST_PRODUCT:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


def fill_partial(state, chance):
    """Write the sum of probabilities over every set of the cells of each table."""
    for a in range(state.partial.shape[0]):
        sums = state.partial[a]
        sums[0], filled = 0.0, 1
        for c in range(TABLE_BITS * a, TABLE_BITS * (a + 1)):
            p = chance[c] if c < len(chance) else 0.0
            for v in range(filled):
                sums[filled + v] = sums[v] + p
            filled *= 2


def sum_over_ones(state, i):
    """Return the probability of the cells whose bit is one in row i."""
    left, total = state.ones[i], 0.0
    for a in range(state.partial.shape[0]):
        total += state.partial[a, left & (TABLE_SIZE - 1)]
        left >>= TABLE_BITS
    return total


def redraw_cells(state, rng):
    """Give each record a cell: c with weight p_c, times r in the set of its ones."""
    fill_partial(state, state.chance)
    whole, cells = 0.0, len(state.counts)
    for c in range(cells):
        whole += state.chance[c]
        state.counts[c] = 0.0
    for i in range(len(state.ones)):
        inside = state.node[0] * sum_over_ones(state, i)
        place = uniform(rng) * (whole + inside)
        if place < whole:
            c = cell_at(state, place, -1)
        else:
            c = cell_at(state, (place - whole) / state.node[0], state.ones[i])
        state.cell[i] = c
        state.counts[c] += 1.0


def cell_at(state, place, ones):
    """Return the cell at a place on the line of the probabilities of all cells in a set."""
    last, left = 0, ones
    for c in range(len(state.counts)):
        if left & 1 and state.chance[c] > 0.0:
            place -= state.chance[c]
            last = c
            if place < 0.0:
                break
        left >>= 1
    return last  # where rounding left nothing, the last that could be


def seat_rows(parts, data, state, latent):
    """Read the sets of ones, and put every record at the stick of its label, in the cell that it was plausible in.

    What a record's row says of a cell is one of two numbers; a row in which all are the same tells nothing.
    """
    lower, upper = parts.mechanism.bounds
    cells = len(state.counts)
    for i in range(len(latent.labels)):
        least = data.z[i, 0]
        for c in range(cells):
            least = min(least, data.z[i, c])
        state.ones[i] = 0
        for c in range(cells - 1, -1, -1):
            state.ones[i] = 2 * state.ones[i] + (data.z[i, c] > least)
        place = cells * (latent.y[i] - lower) / (upper - lower)
        state.cell[i] = int(min(max(place, 0.0), cells - 1.0))
        give(state, latent.labels[i], state.cell[i], 1)
        state.counts[state.cell[i]] += 1.0


def drawn_cell(parts, data, state, latent, i):
    """Return the cell that was drawn for a record."""
    return state.cell[i]


OF_BITS: dict[Callable, Callable] = {
    fill_row: row_of_bits,
    log_released: log_of_bits,
    redraw_bins: redraw_cells,
    slice_width: width_of_records,  # cells were drawn given the sticks
    seat_records: seat_rows,
    bin_of_record: drawn_cell,
}
