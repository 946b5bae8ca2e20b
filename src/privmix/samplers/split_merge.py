"""Split and merge: moves of whole clusters, on top of another sampler.

Two records are chosen. If they share a cluster, a split into two is proposed, one around each; if not, their clusters'
merger. A split hands out the other members either one after the other, with weights that grow with what was handed out
(sequential allocation, after Dahl 2005), or by restricted Gibbs scans from a random start (Jain and Neal 2004). The
probability of that proposal enters the acceptance ratio, for a merger as that of the split that would undo it.

Where cluster parameters are integrated out, a side is scored by its predictive density. Where they are part of the
state, the split keeps the parameters for the first record's side and draws those of the other from the base measure,
whose density cancels against the prior; a merger keeps those of the first record's cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from privmix.jit import constant, slot
from privmix.kernels.slots import draw_atom
from privmix.mechanisms.slots import at_record
from privmix.numerics import exponential, log_add_exp, uniform, uniform_index
from privmix.pairs.slots import add, clear, log_g, log_marginal
from privmix.parts.checks import check_count
from privmix.priors.slots import new_weight, reduction, update_unseen
from privmix.samplers import base
from privmix.samplers.capabilities import need_partition
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.conjugate import (
    CACHED,
    draw_row,
    log_predictive,
    put_record,
    rebuild_statistics,
    take_record,
)
from privmix.samplers.moves.partition import CLUSTERS, free_row, join
from privmix.samplers.neal8 import Neal8

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


@dataclass(frozen=True)
class SplitMerge(base.Sampler):
    """Another sampler, followed by split and merge proposals in each sweep.

    Parameters
    ----------
    inner
        A sampler whose state is a partition without records: `Neal8`, ``Neal5(exact=True)``, `Neal2` or `Neal3`.
    proposals
        Proposals in each sweep. One is best where it was measured: it costs as much as the rest of the sweep.
    allocation
        How a split hands out the members: ``"sequential"`` or ``"restricted"`` (Gibbs scans).
    scans
        Restricted Gibbs scans before the one that is the proposal.
    """

    inner: base.Sampler = field(default_factory=Neal8)
    proposals: int = 1
    allocation: Literal["sequential", "restricted"] = "sequential"
    scans: int = 3

    holds_partition: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("proposals", self.proposals, 1, owner="SplitMerge")
        check_count("scans", self.scans, 0, owner="SplitMerge")
        if self.allocation not in ("sequential", "restricted"):
            raise ValueError(f"SplitMerge: allocation must be 'sequential' or 'restricted'; got {self.allocation!r}.")
        if not isinstance(self.inner, base.Sampler):
            raise TypeError(f"SplitMerge wraps a sampler such as Neal8(); got {self.inner!r}.")

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the inner sampler reports, and the share of split and merge proposals accepted."""
        return (*self.inner.statistics, "split_merge_acceptance")

    def check(self, model: PrivateMixture) -> None:
        """Refuse what the inner sampler refuses, and states that are no partition."""
        need_partition("SplitMerge", self.inner)
        self.inner.check(model)

    def allocate(self, model: PrivateMixture, n: int) -> Any:
        """Return the inner sampler's empty state, with room for one more statistic."""
        return self.inner.allocate(model, n)._replace(statistic=np.zeros(len(self.statistics)))

    def check_values(self, n: int, state: Any) -> str:
        """Return what is wrong with the values of the inner sampler's state, or "" where nothing is."""
        return self.inner.check_values(n, state)

    def set_first_steps(self, state: Any, steps: np.ndarray) -> None:
        """Set the steps of the inner sampler's walk."""
        self.inner.set_first_steps(state, steps)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the inner sampler's steps, its sweep followed by the proposals."""
        inner = self.inner.hooks(model)
        backend = CONJUGATE if self.inner.conjugate else ATOMS
        return {
            **inner,
            **backend,
            base.sweep: sweep,
            inner_sweep: inner[base.sweep],
            hand_out: sequential if self.allocation == "sequential" else restricted,
            proposal_count: constant(self.proposals),
            scan_count: constant(self.scans),
        }


@slot
def inner_sweep(parts, data, state, rng):
    """Make a sweep of the wrapped sampler."""


@slot
def proposal_count():
    """Return the number of proposals in a sweep."""


@slot
def scan_count():
    """Return the number of restricted Gibbs scans before the last."""


@slot
def hand_out(parts, data, state, rng, rows, count, splitting):
    """Give each member a side; return the log probability of the sides given."""


@slot
def begin(parts, data, state):
    """Get ready for the proposals of a sweep."""


@slot
def open_sides(parts, data, state, rng, rows, pair, splitting):
    """Start the two sides with one record each."""


@slot
def side_score(parts, data, state, rows, side, i):
    """Return the log density of z_i on a side that does not hold it."""


@slot
def put_side(parts, data, state, side, i):
    """Take record i into a side."""


@slot
def take_side(parts, data, state, side, i):
    """Take record i out of a side."""


@slot
def split_gain(parts, data, state, rows, pair, count):
    """Return log p(z|two clusters) − log p(z|one) for the sides as they are."""


@slot
def finish_rows(parts, data, state, rng, rows, splitting):
    """Bring what a row keeps besides its members up to date, after an accepted proposal."""


def sweep(parts, data, state, rng):
    """Make the inner sampler's sweep, then the proposals."""
    inner_sweep(parts, data, state, rng)
    accepted = 0
    if len(state.allocation) > 1:
        begin(parts, data, state)
        for _ in range(proposal_count()):
            accepted += split_or_merge(parts, data, state, rng)
        update_unseen(parts.prior, rng, state.concentration, len(state.allocation), state.cursor[CLUSTERS])
    state.statistic[len(state.statistic) - 1] = accepted / proposal_count()
    return True


def split_or_merge(parts, data, state, rng):
    """Propose to split or to merge the clusters of two random records; return whether it was accepted."""
    n = len(state.allocation)
    i = uniform_index(rng, n)
    j = uniform_index(rng, n - 1)
    j += j >= i
    splitting = state.allocation[i] == state.allocation[j]
    other = free_row(state, 0) if splitting else state.allocation[j]
    rows = (state.allocation[i], other)
    count = gather(state, rng, i, j)
    open_sides(parts, data, state, rng, rows, (i, j), splitting)
    log_proposal = hand_out(parts, data, state, rng, rows, count, splitting)
    log_ratio = log_prior_ratio(parts, state, count, splitting)
    log_ratio += split_gain(parts, data, state, rows, (i, j), count) - log_proposal
    if exponential(rng) > (-log_ratio if splitting else log_ratio):
        move_members(state, rows, (i, j), count, splitting)
        finish_rows(parts, data, state, rng, rows, splitting)
        return True
    return False


def gather(state, rng, i, j):
    """Put the other members of both clusters, in random order, first in state.order; return how many there are."""
    count = 0
    for k in range(len(state.allocation)):
        row = state.allocation[k]
        if k not in (i, j) and (row in (state.allocation[i], state.allocation[j])):
            state.order[count] = k
            count += 1
    for k in range(count - 1, 0, -1):
        other = uniform_index(rng, k + 1)
        state.order[k], state.order[other] = state.order[other], state.order[k]
    return count


def log_prior_ratio(parts, state, count, splitting):
    """Return the log of r Γ(n_a − d) Γ(n_b − d)/(Γ(1 − d) Γ(n_a + n_b − d)): the prior of two clusters against one.

    Here r is the weight of a new cluster for the last of n records, where the others form the clusters of the merger.
    """
    size_b = 1.0
    for k in range(count):
        size_b += state.side[state.order[k]]
    size_a = count + 2.0 - size_b
    merged = state.cursor[CLUSTERS] - (0 if splitting else 1)
    weight = new_weight(parts.prior, state.concentration, len(state.allocation) - 1, merged)
    less = reduction(parts.prior, state.concentration)
    log_ratio = math.log(weight) + math.lgamma(size_a - less) + math.lgamma(size_b - less)
    return log_ratio - math.lgamma(size_a + size_b - less) - math.lgamma(1.0 - less)


def sequential(parts, data, state, rng, rows, count, splitting):
    """Hand out the members one after the other; for a merger, as they lie."""
    log_proposal = 0.0
    sizes = (1.0, 1.0)
    for k in range(count):
        i = state.order[k]
        log_proposal += choose_side(parts, data, state, rng, rows, sizes, i, splitting)
        sizes = (sizes[0] + 1.0 - state.side[i], sizes[1] + state.side[i])
    return log_proposal


def restricted(parts, data, state, rng, rows, count, splitting):
    """Hand out the members at random, scan them by Gibbs steps, and once more as the proposal."""
    size_b = 1.0
    for k in range(count):
        i = state.order[k]
        state.side[i] = uniform_index(rng, 2)
        size_b += state.side[i]
        put_side(parts, data, state, state.side[i], i)
    log_proposal = 0.0
    for scan in range(scan_count() + 1):
        last = scan == scan_count()
        log_proposal = 0.0
        for k in range(count):
            i = state.order[k]
            take_side(parts, data, state, state.side[i], i)
            size_b -= state.side[i]
            sizes = (count + 1.0 - size_b, size_b)
            log_proposal += choose_side(parts, data, state, rng, rows, sizes, i, splitting or not last)
            size_b += state.side[i]
    return log_proposal


def choose_side(parts, data, state, rng, rows, sizes, i, free):
    """Give record i a side, by chance or (not free) the one it lies on; return the log probability of that side."""
    score_a = math.log(sizes[0]) + side_score(parts, data, state, rows, 0, i)
    score_b = math.log(sizes[1]) + side_score(parts, data, state, rows, 1, i)
    total = log_add_exp(score_a, score_b)
    if free:
        state.side[i] = 1 if math.log(1.0 - uniform(rng)) < score_b - total else 0
    else:
        state.side[i] = 1 if state.allocation[i] == rows[1] else 0
    put_side(parts, data, state, state.side[i], i)
    return (score_b if state.side[i] == 1 else score_a) - total


def move_members(state, rows, pair, count, splitting):
    """Carry out a split (the second side moves to its own row) or a merger (all move to the first)."""
    if splitting:
        join(state, pair[1], rows[0], rows[1])
        for k in range(count):
            if state.side[state.order[k]] == 1:
                join(state, state.order[k], rows[0], rows[1])
    else:
        for k in range(count):
            if state.side[state.order[k]] == 1:
                join(state, state.order[k], rows[1], rows[0])
        join(state, pair[1], rows[1], rows[0])


def nothing_to_begin(parts, data, state):
    """Atoms are as the inner sampler left them."""


def open_atoms(parts, data, state, rng, rows, pair, splitting):
    """Draw the atom of the second side of a split from the base measure."""
    if splitting:
        draw_atom(parts.kernel, rng, state.theta[rows[1]], state.hyper)


def score_by_atom(parts, data, state, rows, side, i):
    """Return log g(z_i|θ) of the side's atom."""
    return log_g(at_record(parts.mechanism, i), parts.kernel, data.z[i], state.theta[rows[side]])


def no_side(parts, data, state, side, i):
    """Keep nothing: an atom does not depend on who is on its side."""


def gain_by_atoms(parts, data, state, rows, pair, count):
    """Return Σ log g(z|θ_b) − log g(z|θ_a) over the second side."""
    gain = score_by_atom(parts, data, state, rows, 1, pair[1]) - score_by_atom(parts, data, state, rows, 0, pair[1])
    for k in range(count):
        i = state.order[k]
        if state.side[i] == 1:
            gain += score_by_atom(parts, data, state, rows, 1, i) - score_by_atom(parts, data, state, rows, 0, i)
    return gain


def keep_atoms(parts, data, state, rng, rows, splitting):
    """Atoms go with their rows."""


ATOMS: dict[Callable, Callable] = {
    begin: nothing_to_begin,
    open_sides: open_atoms,
    side_score: score_by_atom,
    put_side: no_side,
    take_side: no_side,
    split_gain: gain_by_atoms,
    finish_rows: keep_atoms,
}


def side_row(state, side):
    """Return the spare row of statistics that a side uses."""
    return len(state.stat) - 3 + side


def open_statistics(parts, data, state, rng, rows, pair, splitting):
    """Start each side's statistics with its record."""
    for side in range(2):
        clear(state.stat[side_row(state, side)])
        put_record(parts, data, state, side_row(state, side), pair[side])


def score_by_statistics(parts, data, state, rows, side, i):
    """Return the log predictive density of z_i given a side."""
    return log_predictive(parts, data, state, side_row(state, side), i)


def put_statistics(parts, data, state, side, i):
    """Take record i into a side's statistics."""
    put_record(parts, data, state, side_row(state, side), i)


def take_statistics(parts, data, state, side, i):
    """Take record i out of a side's statistics."""
    take_record(parts, data, state, side_row(state, side), i)


def gain_by_statistics(parts, data, state, rows, pair, count):
    """Return the log marginals of the two sides, less that of all their records together."""
    spare = len(state.stat) - 1
    copy_row(state.stat, spare, state.stat, side_row(state, 0))
    add(parts.mechanism, parts.kernel, state.stat[spare], data.z[pair[1]])
    for k in range(count):
        i = state.order[k]
        if state.side[i] == 1:
            add(parts.mechanism, parts.kernel, state.stat[spare], data.z[i])
    merged = log_marginal(parts.mechanism, parts.kernel, state.stat[spare])
    return state.stat[side_row(state, 0), CACHED] + state.stat[side_row(state, 1), CACHED] - merged


def redraw_rows(parts, data, state, rng, rows, splitting):
    """Make the statistics of the rows anew and draw their atoms."""
    rebuild_statistics(parts, data, state)
    draw_row(parts, state, rng, rows[0])
    if splitting:
        draw_row(parts, state, rng, rows[1])


CONJUGATE: dict[Callable, Callable] = {
    begin: rebuild_statistics,
    open_sides: open_statistics,
    side_score: score_by_statistics,
    put_side: put_statistics,
    take_side: take_statistics,
    split_gain: gain_by_statistics,
    finish_rows: redraw_rows,
}
