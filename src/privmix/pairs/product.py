"""Records of several columns: given θ the columns of a released record are independent, so closed forms multiply.

log g(z|θ) = Σ log g_c(z_c|θ_c) over the columns that are there: a missing entry is integrated out. Y given z is drawn
column by column: a missing one from its kernel, or not at all where θ is updated next, given the entries that are
there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from privmix.kernels import Kernel, Product
from privmix.kernels.slots import draw_y, log_base, log_scale, parameter_count, prepare, update_atom
from privmix.mechanisms import Each, Mechanism
from privmix.mechanisms.slots import at_record
from privmix.numerics.steps import make_walk
from privmix.pairs.base import Convolution, write_row
from privmix.pairs.slots import draw_given, draw_given_at, draw_reported_at, log_g, walk_columns
from privmix.parts.columns import over_children, summed


def reported_number(mechanism, kernel, z, theta):
    """Return log g(z|θ) of one column; 0 where it is missing."""
    return 0.0 if z != z else log_g(mechanism, kernel, z, theta)


def reported_row(mechanism, kernel, z, theta):
    """Return the same of a column whose release is a row: a missing one has NaN in its first place."""
    return 0.0 if z[0] != z[0] else log_g(mechanism, kernel, z, theta)


def draw_from_number(mechanism, kernel, rng, z, theta, out, j):
    """Draw one column of Y given its release; from the kernel where that is missing."""
    if z != z:
        draw_y(kernel, rng, theta, out, j)
    else:
        out[j] = draw_given(mechanism, kernel, rng, z, theta)


def draw_from_row(mechanism, kernel, rng, z, theta, out, j):
    """Draw the same where the release is a row."""
    if z[0] != z[0]:
        draw_y(kernel, rng, theta, out, j)
    else:
        out[j] = draw_given(mechanism, kernel, rng, z, theta)


def leave_number(mechanism, kernel, rng, z, theta, out, j):
    """Draw one column of Y given its release; NaN where that is missing."""
    out[j] = z if z != z else draw_given(mechanism, kernel, rng, z, theta)


def leave_row(mechanism, kernel, rng, z, theta, out, j):
    """Draw the same where the release is a row."""
    out[j] = z[0] if z[0] != z[0] else draw_given(mechanism, kernel, rng, z, theta)


def make_column_walk(reported: Callable) -> Callable:
    """Return a walk on the parameters of one column, from its log g where it is there: the other columns stay."""

    def column_target(about, theta):
        """Return log G₀(θ) + Σ log g(z_i|θ) over the members that reported the column."""
        mechanism, kernel, z, members, hyper = about
        total = log_base(kernel, theta, hyper)
        if total == -math.inf:
            return total
        for k in range(len(members)):
            total += reported(at_record(mechanism, members[k]), kernel, z[members[k]], theta)
        return total

    walk = make_walk(column_target, prepare, parameter_count, log_scale)

    def walk_column(mechanism, kernel, rng, z, theta, passes, members, hyper, log_step, gain, sharers, tune, spare):
        about = (mechanism, kernel, z, members, hyper)
        walk(about, kernel, rng, theta, passes, len(members), log_step, gain, sharers)

    return walk_column


def make_column_update(leave: Callable) -> Callable:
    """Return the update of a column whose base measure has no density: its entries are drawn, its kernel does it."""

    def update_column(mechanism, kernel, rng, z, theta, passes, members, hyper, log_step, gain, sharers, tune, spare):
        count = 0
        for k in range(len(members)):
            leave(at_record(mechanism, members[k]), kernel, rng, z[members[k]], theta, spare, count)
            count += spare[count] == spare[count]  # the next is written over one that is missing
        tune[0] = gain
        update_atom(kernel, rng, theta, spare[:count], tune, hyper)

    return update_column


walk_number, walk_row = make_column_walk(reported_number), make_column_walk(reported_row)
update_number, update_row = make_column_update(leave_number), make_column_update(leave_row)
#: by whether the base measure of a column has a density, and its release is a row
MOVES = {True: (walk_number, walk_row), False: (update_number, update_row)}


def walk_over(mechanism: Each, kernel: Product, scopes: Sequence[Mapping[Callable, Callable]]) -> Callable:
    """Return the walk on the parameters of one column after another.

    A walk on all at once would evaluate every column for every parameter: with four columns it takes 3.5 times as long.
    """
    lines = []
    for j, (z, place) in enumerate(zip(mechanism.encoded_places("z", ":, "), kernel.places, strict=True)):
        own = {"theta": place.block, "hyper": place.hyper, "log_step": place.parameters, "tune": place.tune}
        row, hyper, steps, tune = (f"{name}[{part.start}:{part.stop}]" for name, part in own.items())
        before = f"f{j}(mechanism.c{j}, kernel.c{j}, rng, {z}, {row}"
        lines += [
            f"{before}, passes, members, {hyper}, {steps}, gain, sharers, {tune}, spare[:, {j}])",
            place.copy_back(),
        ]
    children = zip(kernel.children, mechanism.encoded_widths(), strict=True)
    return over_children(
        "walk_columns",
        "mechanism, kernel, rng, z, theta, passes, members, hyper, log_step, gain, sharers, tune, spare",
        [MOVES[child.has("log_base")][width is not None] for child, width in children],
        scopes,
        lines,
    )


def fill_outputs(mechanism, kernel, outputs, theta, out):
    """Write the probability of each output of a column."""
    for o in range(len(outputs)):
        out[o] = math.exp(log_g(mechanism, kernel, outputs[o], theta))


def spread_over_cells(out, held, count):
    """Split each of the cells held so far by the outputs of one more column; return how many there are now.

    The probabilities of these outputs stand at the end of `out`, where of the last column only the last cell belongs:
    so it is read first and written last. The others go from the last on: none is written over before it is read.
    """
    column, last = out[len(out) - count :], out[held - 1]
    for b in range(held - 2, -1, -1):
        chance = out[b]
        for o in range(count - 1, -1, -1):
            out[b * count + o] = chance * column[o]
    for o in range(count):
        out[(held - 1) * count + o] = last * column[o]
    return held * count


def masses_over(
    mechanism: Each, kernel: Product, scopes: Sequence[Mapping[Callable, Callable]], known: Sequence[Convolution]
) -> Callable | None:
    """Return a function that writes the probability of every cell of rows, the product of those of its columns.

    None where there are no cells. A missing entry has probability 1 whatever θ is: it says nothing.
    """
    if mechanism.outputs is None:
        return None
    cells = len(mechanism.outputs)
    lines, after = ["out[0] = 1.0", "held = 1"], cells
    for j, (child, place) in enumerate(zip(mechanism.children, kernel.places, strict=True)):
        count = len(child.outputs)
        after //= count + 1
        outputs = f"outputs[0:{count * after}:{after}, {j}]"
        row = f"theta[{place.block.start}:{place.block.stop}]"
        lines += [
            f"f{j}(mechanism.c{j}, kernel.c{j}, {outputs}, {row}, out[{cells - count - 1}:{cells - 1}])",
            f"out[{cells - 1}] = 1.0",
            f"held = spread_over_cells(out, held, {count + 1})",
        ]
    return over_children(
        "masses",
        "mechanism, kernel, outputs, theta, out",
        [found.masses or fill_outputs for found in known],
        scopes,
        lines,
        spread_over_cells=spread_over_cells,
    )


def product_convolution(
    mechanism: Mechanism, kernel: Kernel, find: Callable[[Mechanism, Kernel], Convolution | None]
) -> Convolution | None:
    """Return the convolution of columns whose pairs all have one; None for other parts.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    find
        Returns what is known of one column's.
    """
    if not isinstance(mechanism, Each) or not isinstance(kernel, Product):
        return None
    columns = list(zip(mechanism.children, kernel.children, strict=True))
    known = [(m, k, found) for m, k in columns if (found := find(m, k)) is not None]
    if len(known) < len(columns):
        return None
    scopes = [{**m.hooks(), **k.hooks(), **found.hooks()} for m, k, found in known]
    rows = [f"theta[{place.block.start}:{place.block.stop}]" for place in kernel.places]
    ends = [f"{z}, {row}" for z, row in zip(mechanism.encoded_places("z"), rows, strict=True)]
    numbers = [width is None for width in mechanism.encoded_widths()]
    log_g_of_all = over_children(
        "log_g",
        "mechanism, kernel, z, theta",
        [reported_number if number else reported_row for number in numbers],
        scopes,
        summed(f"f{j}(mechanism.c{j}, kernel.c{j}, {end})" for j, end in enumerate(ends)),
    )
    lines = [f"f{j}(mechanism.c{j}, kernel.c{j}, rng, {end}, {{out}}, {j})" for j, end in enumerate(ends)]
    sample = over_children(
        "sample",
        "mechanism, kernel, rng, z, theta, out",
        [draw_from_number if number else draw_from_row for number in numbers],
        scopes,
        [line.format(out="out") for line in lines],
    )
    reported = over_children(
        "draw_reported_at",
        "mechanism, kernel, rng, z, theta, ys, i",
        [leave_number if number else leave_row for number in numbers],
        scopes,
        [line.format(out="ys[i]") for line in lines],
    )
    walk = walk_over(mechanism, kernel, scopes)
    extra = {draw_given_at: write_row, draw_reported_at: reported, walk_columns: walk}
    cost = sum(found.cost for _, _, found in known)
    name = " × ".join(found.name for _, _, found in known)
    masses = masses_over(mechanism, kernel, scopes, [found for _, _, found in known])
    return Convolution(name, log_g_of_all, sample, masses=masses, extra=extra, cost=cost)
