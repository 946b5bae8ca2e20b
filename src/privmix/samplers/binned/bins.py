"""The bins of a release, and their probabilities under an atom: what `Binned` needs to know of a model.

Four kinds. A histogram brings its bins. A mechanism with few outputs has one bin for each, and nothing is lost. A
mechanism whose g(z|θ) has a distribution function G has bins with probabilities G(e_{b+1}) − G(e_b), the outermost
open, or its pair has a function for them; one whose releases stay in a known interval has them by Gauss's rule with
two points, whose error is of fourth order in the width. In the last two the records are rounded to bins: the posterior
is that of the rounded release. A table of counts has the bins that its records had, and no records: the counts are the
data, and a chain starts from groups of equal size in the order of the bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privmix.jit import flat
from privmix.kernels.slots import copy_y
from privmix.mechanisms.cells import cell_hooks
from privmix.mechanisms.counted import MOST_RECORDS_AT_START
from privmix.mechanisms.equal_bins import default_bins, default_span, noised_interval
from privmix.mechanisms.histogram import bin_at, find_bin
from privmix.numerics import uniform, uniform_index
from privmix.pairs.slots import draw_given_at, draw_in_bin
from privmix.parts.columns import over_children
from privmix.samplers import base
from privmix.samplers.binned.bits import OF_BITS, tells_sets, why_not_sets
from privmix.samplers.binned.chances import (
    release_cdf,
    release_masses,
    row_at_once,
    row_by_quadrature,
    row_of_cells,
    row_of_edges,
    row_of_histogram,
    row_of_intervals,
    row_of_values,
    shares_of_cells,
)
from privmix.samplers.binned.counts import (
    RECORDS,
    log_of_one,
    log_of_two,
    one_in_bins,
    set_count,
    set_in_bins,
    two_in_bins,
    update_counts,
)
from privmix.samplers.binned.mixture import (
    bins_are_known,
    fill_row,
    give,
    log_of_counts,
    log_released,
    redraw_bins,
    slice_width,
    width_of_counts,
)
from privmix.samplers.binned.slots import (
    bin_of_record,
    count_again,
    label_records,
    redraw_counts,
    seat_records,
)
from privmix.samplers.binned.tables import (
    one_in_tables,
    set_in_tables,
    two_in_tables,
    update_counts_of_tables,
    update_unknown_of_tables,
)
from privmix.samplers.binned.unknown import count_in_bins, update_counts_and_total
from privmix.samplers.binned.withheld import redraw_withheld
from privmix.samplers.capabilities import pair
from privmix.samplers.moves.sticks import STICKS

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# What to do where there are no bins: other samplers take records, and none but this one takes counts.
OTHERS, NO_OTHERS = "Use Neal5() or Slice().", "Fit the released records themselves, or another kernel."


class Bins(NamedTuple):
    """Bins of a release: how many, the numbers that their probabilities are computed from, and the functions.

    Where several tables see them, `sums` is the number of bins of all tables. Where records are points of a lattice,
    `share` has the probability of each bin given each point. Where a release does not tell the bin of a record it is
    `hidden`.
    """

    size: int
    node: np.ndarray
    hooks: dict[Callable, Callable]
    sums: int = 0
    share: np.ndarray = np.zeros((0, 0))
    hidden: bool = False


class Nodes(NamedTuple):
    """What the probabilities of bins are computed from."""

    node: np.ndarray


class Seen(NamedTuple):
    """The parameters of a model's parts, as the records of one class see them."""

    mechanism: Any
    kernel: Any
    prior: Any


def find_bins(model: PrivateMixture, wanted: int | None) -> Bins:
    """Return the bins of a model's release; say why where there are none."""
    mechanism: Any = model.mechanism
    if model.has_masses and mechanism.bin_count is not None:
        kinds = TABLES if mechanism.joins_bins else HISTOGRAMS
        hooks, sums = kinds[mechanism.records_unknown], len(mechanism.origin()) if mechanism.joins_bins else 0
        return Bins(mechanism.bin_count, np.array(mechanism.edges), hooks, sums)
    if mechanism.is_counted and len(mechanism.tables) > 1:
        return _bins_of_classes(model)
    if mechanism.is_counted:
        found = _bins_of_records(replace(model, mechanism=mechanism.each), mechanism.bins, mechanism.span, NO_OTHERS)
        return found._replace(hooks={**found.hooks, **COUNTED})
    return _bins_of_records(model, wanted)


def _bins_of_classes(model: PrivateMixture) -> Bins:
    """Return the bins of all classes, one after the other: the row of each, times its share of the records."""
    mechanism: Any = model.mechanism
    each = [replace(model, mechanism=table) for table in mechanism.tables]
    found = [find_bins(one, None) for one in each]
    nodes, rows = (np.cumsum([0, *sizes]) for sizes in ([len(f.node) for f in found], [f.size for f in found]))
    lines = []
    for k, ((first, last), (start, stop)) in enumerate(zip(pairwise(nodes), pairwise(rows), strict=True)):
        seen = f"Seen(parts.mechanism.c{k}, parts.kernel, parts.prior), data, Nodes(state.node[{first}:{last}])"
        lines.append(f"f{k}({seen}, theta, out[{start}:{stop}])")
        lines += [f"for b in range({start}, {stop}):", f"    out[b] *= parts.mechanism.shares[{k}]"]
    scopes = [{**one.hooks(), **f.hooks} for one, f in zip(each, found, strict=True)]
    arguments, more = "parts, data, state, theta, out", {"Seen": Seen, "Nodes": Nodes}
    row = over_children("row_of_classes", arguments, fill_row, scopes, lines, **more)
    return Bins(int(rows[-1]), np.concatenate([f.node for f in found]), {**LOCAL, **COUNTED, fill_row: row})


def _bins_of_records(
    model: PrivateMixture, wanted: int | None, span: tuple[float, float] | None = None, advice: str = OTHERS
) -> Bins:
    """Return the bins of records that were released one by one: the outputs, or so many equal ones of a span."""
    mechanism: Any = model.mechanism
    if tells_sets(model):
        return Bins(mechanism.cells, np.array([math.expm1(mechanism.epsilon)]), {**LOCAL, **OF_BITS}, hidden=True)
    reason = _refusal(model)
    if reason:
        raise ValueError(f"Binned() keeps counts of bins: {reason} {advice}")
    convolution: Any = model.convolution
    if mechanism.outputs is not None:
        law = {fill_row: row_at_once, release_masses: convolution.masses} if convolution.masses is not None else {}
        if mechanism.names:
            law[bin_of_record] = bin_of_rows(mechanism)
        return Bins(len(mechanism.outputs), np.array(mechanism.outputs, dtype=np.float64), {**VALUES, **law})
    lower, upper = default_span(mechanism) if span is None else span
    wanted = default_bins(mechanism, upper - lower) if wanted is None else wanted
    edges = np.linspace(lower, upper, wanted + 1)
    if mechanism.publishes_intervals:
        aligned = mechanism.align_edges(edges)
        law = {fill_row: row_of_intervals} if convolution.cdf is None else {**BY_CDF, release_cdf: convolution.cdf}
        hooks = {**LOCAL, **law, bin_of_record: bin_of_interval, **UNSEEN[mechanism.records_unknown]}
        if cell_hooks(mechanism):
            share = shares_of_cells(mechanism, aligned)
            return Bins(len(aligned) - 1, aligned, {**hooks, fill_row: row_of_cells}, share=share)
        return Bins(len(aligned) - 1, aligned, hooks)
    if convolution.cdf is None and convolution.masses is None:
        return Bins(wanted, edges, {**LOCAL, fill_row: row_by_quadrature, bin_of_record: bin_of_edges})
    edges[0], edges[-1] = -np.inf, np.inf
    if convolution.masses is not None:
        return Bins(wanted, edges, {**LOCAL, fill_row: row_at_once, release_masses: convolution.masses})
    return Bins(wanted, edges, {**LOCAL, **BY_CDF, release_cdf: convolution.cdf})


def _refusal(model: PrivateMixture) -> str:
    mechanism: Any = model.mechanism
    if mechanism.is_global:
        of_rows = " Cells of several columns need a kernels.Product of such kernels." if mechanism.names else ""
        return f"{pair(model)} is no histogram with a kernel that has cdf(self, y, theta).{of_rows}"
    if mechanism.names:
        return mechanism.why_not_counted() or ("" if model.convolution else f"{pair(model)} has no g(z|θ).")
    if of_sets := why_not_sets(mechanism):
        return of_sets
    if model.convolution is None or mechanism.row_length is not None or mechanism.reveals:
        return f"{pair(model)} has no g(z|θ) for numbers z with noise."
    if mechanism.varying_fields():
        return "noise that differs between records does not come in counts."
    if mechanism.outputs is not None or mechanism.release_range is not None:
        return ""
    law = model.convolution
    known = law.cdf is not None or law.masses is not None or mechanism.publishes_intervals
    if not known:
        return f"{pair(model)} has g(z|θ) and no distribution function of z, from which bins have their probabilities."
    if noised_interval(mechanism) is None or mechanism.noise_spread() is None:
        return f"{type(mechanism).__name__} needs bounds and noise of a known spread, from which the bins follow."
    return ""


def bin_of_value(parts, data, state, latent, i):
    """Return the bin of a confidential record in a histogram."""
    return bin_at(parts.mechanism, latent.y[i])


def bin_of_output(parts, data, state, latent, i):
    """Return which of the outputs a released record is."""
    nearest = 0
    for b in range(len(state.node)):
        if abs(state.node[b] - data.z[i]) < abs(state.node[nearest] - data.z[i]):
            nearest = b
    return nearest


def nearest_output(outputs, z):
    """Return which of a column's outputs is released; where it is missing, their number."""
    if z != z:
        return len(outputs)
    nearest = 0
    for o in range(len(outputs)):
        if abs(outputs[o] - z) < abs(outputs[nearest] - z):
            nearest = o
    return nearest


def bin_of_rows(mechanism: Any) -> Callable:
    """Return the function that finds the cell of a released row, a number of the outputs of all columns."""
    lines, after = ["place = 0"], len(mechanism.outputs)
    for j, child in enumerate(mechanism.children):
        count = len(child.outputs)
        after //= count + 1
        found = f"nearest_output(state.node[0:{count * after}:{after}, {j}], data.z[i, {j}])"
        lines.append(f"place = place * {count + 1} + {found}")
    lines.append("return place")
    return flat("bin_of_row", "parts, data, state, latent, i", lines, {"nearest_output": nearest_output})


def bin_of_edges(parts, data, state, latent, i):
    """Return the bin of a released record."""
    return find_bin(state.node, data.z[i])


def bin_of_interval(parts, data, state, latent, i):
    """Return the bin that holds all noisy values behind a published record."""
    low, high = data.z[i, 0], data.z[i, 1]
    if low == high or low == -math.inf:
        return find_bin(state.node, low)
    return find_bin(state.node, high if high == math.inf else 0.5 * (low + high))


def known_number(state, n):
    """Return the number of records, which is known."""
    return n


def seat_each(parts, data, state, latent):
    """Put every record at the stick of its label."""
    for i in range(len(latent.labels)):
        b = bin_of_record(parts, data, state, latent, i)
        give(state, latent.labels[i], b, 1)
        state.counts[b] += 1.0


def seat_some(parts, data, state, latent):
    """Put the records at their sticks; of a start that has but some of very many, each stands for its share of them."""
    some = len(latent.labels)
    n = int(state.statistic[RECORDS]) if some == MOST_RECORDS_AT_START else some
    for i in range(some):
        b, share = bin_of_record(parts, data, state, latent, i), (i + 1) * n // some - i * n // some
        give(state, latent.labels[i], b, share)
        state.counts[b] += share


def seat_counts(parts, data, state, latent):
    """Put groups of equal size at the sticks, in the order of the bins: the counts are the data."""
    groups, n, seated = len(latent.atoms), int(np.sum(data.z)), 0
    for b in range(len(state.counts)):
        state.counts[b] = data.z[b]
        last = seated + int(data.z[b])
        while seated < last:
            h = seated * groups // n
            stop = min(last, -(-(h + 1) * n // groups))
            give(state, h, b, stop - seated)
            seated = stop


def keep_counts(parts, data, state, rng):
    """Leave the counts: they are the data."""


def impute_in_bins(parts, data, state, rng, ys, labels):
    """Draw records from the table: each from its stick's kernel inside its bin, in an order that says nothing."""
    i = 0
    for h in range(state.cursor[STICKS]):
        for b in range(len(state.counts)):
            for _ in range(state.table[h, b]):
                draw_in_bin(parts.mechanism, parts.kernel, rng, state.theta[h], b, ys, i)
                labels[i] = h
                i += 1
    for i in range(len(labels) - 1, 0, -1):
        j = uniform_index(rng, i + 1)
        copy_y(state.members, 0, ys, i)  # scratch: a row would else be a view of what is written over
        copy_y(ys, i, ys, j)
        copy_y(ys, j, state.members, 0)
        label = labels[i]
        labels[i] = labels[j]
        labels[j] = label


def no_labels(parts, data, state, rng, labels):
    """Write nothing: one release of all records says nothing of any one of them."""


def no_records(parts, data, state, rng, ys, labels):
    """Write nothing: a table of counts has no records, and there may be more than memory holds."""


def labels_from_table(parts, data, state, rng, labels):
    """Give each record a stick from the table of its bin, each way as likely as any other."""
    for i in range(len(labels)):
        b = bin_of_record(parts, data, state, data, i)
        left = 0
        for h in range(state.cursor[STICKS]):
            left += state.table[h, b]
        threshold, h = uniform(rng) * left, 0
        while threshold >= state.table[h, b]:
            threshold -= state.table[h, b]
            h += 1
        state.table[h, b] -= 1
        labels[i] = h
    for i in range(len(labels)):
        state.table[labels[i], bin_of_record(parts, data, state, data, i)] += 1


def impute_by_release(parts, data, state, rng, ys, labels):
    """Give each record a stick from the table of its bin, and draw it given its release."""
    labels_from_table(parts, data, state, rng, labels)
    for i in range(len(labels)):
        draw_given_at(parts.mechanism, parts.kernel, rng, data.z[i], state.theta[labels[i]], ys, i)


# Where the likelihood is that of counts.
OF_COUNTS: dict[Callable, Callable] = {
    log_released: log_of_counts,
    redraw_bins: bins_are_known,
    slice_width: width_of_counts,
}
HISTOGRAM: dict[Callable, Callable] = {
    **OF_COUNTS,
    count_again: known_number,
    seat_records: seat_each,
    fill_row: row_of_histogram,
    bin_of_record: bin_of_value,
    redraw_counts: update_counts,
    log_of_two: two_in_bins,
    log_of_one: one_in_bins,
    set_count: set_in_bins,
    label_records: no_labels,
    base.impute: impute_in_bins,
}
Hooks = dict[Callable, Callable]
JOINED: Hooks = {**HISTOGRAM, log_of_two: two_in_tables, log_of_one: one_in_tables, set_count: set_in_tables}
# By whether the number of records is not known.
HISTOGRAMS: dict[bool, Hooks] = {
    False: HISTOGRAM,
    True: {**HISTOGRAM, seat_records: seat_some, redraw_counts: update_counts_and_total, count_again: count_in_bins},
}
TABLES: dict[bool, Hooks] = {
    False: {**JOINED, redraw_counts: update_counts_of_tables},
    True: {**JOINED, seat_records: seat_some, redraw_counts: update_unknown_of_tables, count_again: count_in_bins},
}
LOCAL: dict[Callable, Callable] = {
    **OF_COUNTS,
    count_again: known_number,
    seat_records: seat_each,
    bin_of_record: bin_of_edges,
    redraw_counts: keep_counts,
    label_records: labels_from_table,
    base.impute: impute_by_release,
}
# By whether records were withheld without a trace.
UNSEEN: dict[bool, Hooks] = {False: {}, True: {redraw_counts: redraw_withheld, count_again: count_in_bins}}
BY_CDF: dict[Callable, Callable] = {fill_row: row_of_edges}
VALUES: dict[Callable, Callable] = {**LOCAL, fill_row: row_of_values, bin_of_record: bin_of_output}
COUNTED: dict[Callable, Callable] = {seat_records: seat_counts, label_records: no_labels, base.impute: no_records}
