"""The sampler on counts: it keeps how many records fall into each bin, and no record.

Where all that a release says is in counts of bins, the likelihood is multinomial, and the cost of a sweep is the number
of bins times the number of sticks, whatever n is. That is so for noisy histograms, whose true counts are drawn along;
for mechanisms with few outputs, such as randomized response, whose counts are the data; and, after its records are
rounded to bins, for any mechanism that adds noise and whose g(z|θ) has a distribution function. Rows of bits are looked
at one by one, but by as little as their set of ones.

The mixing measure is part of the state, as sticks and atoms; sticks are broken until less than e^−37 of the mass is
left beyond them, so that the sum over components is complete in floating point. Atoms and sticks move on the likelihood
of the counts itself, because labels would hold them in place; then the counts are handed out to the sticks, which makes
room for the exact draws of sticks, concentration and base measure that any sampler with labels has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from privmix.mechanisms.counted import MOST_RECORDS_AT_START
from privmix.parts.checks import check_count
from privmix.priors.rest import LEAST_MASS_LEFT
from privmix.samplers import base
from privmix.samplers.binned.bins import find_bins
from privmix.samplers.binned.bits import TABLE_BITS, TABLE_SIZE
from privmix.samplers.binned.counts import RECORDS
from privmix.samplers.binned.mixture import (
    LEAST_EXPECTED_RECORDS,
    allocate_counts,
    clear_table,
    exchange_bins,
    fill_row,
    mass_before,
    move_atoms,
    move_sticks,
    redraw_bins,
    sum_chances,
)
from privmix.samplers.binned.slots import count_again, label_records, redraw_counts, seat_records
from privmix.samplers.capabilities import need_few_sticks, need_moves, need_open_law, need_whole_density
from privmix.samplers.moves.atoms import adopt_law, copy_row, update_base
from privmix.samplers.moves.sticks import (
    MISCOUNTED,
    STICKS,
    WAITING,
    check_sticks,
    exchange_more,
    extend_sticks,
    forget_empty,
    is_needed,
    keep_sticks,
    mass_is_left,
    may_exchange,
    swap_sticks,
    update_sticks,
)

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Log of the mass beyond the last stick: below the rounding of a sum of probabilities.
LOG_MASS_BEYOND = -37.0
# How far a probability may be above 1.
ROUNDING = 1e-9


class State(NamedTuple):
    """Sticks, atoms, the probability of each bin under each atom, and the counts of the bins."""

    size: np.ndarray  # records at each stick: the sums of the table
    theta: np.ndarray
    weight: np.ndarray
    log_left: np.ndarray  # log of the mass beyond each stick
    log_old: np.ndarray
    row: np.ndarray  # probability of each bin under each stick's atom
    rest: np.ndarray  # the same under the mixture of all later sticks
    chance: np.ndarray  # probability of each bin
    trial: np.ndarray
    fresh: np.ndarray
    counts: np.ndarray
    sums: np.ndarray  # of counts in each bin of each table, where there are several
    reach: np.ndarray  # how far counts moved in warm-up
    node: np.ndarray  # what the probabilities of bins are computed from
    share: np.ndarray  # probability of each bin given each point of a lattice, where records lie on one
    ones: np.ndarray  # set of cells whose bit is one, of each record whose row has a bit for every cell
    cell: np.ndarray  # the bin that was drawn for each of these records
    partial: np.ndarray  # sums of the bins' probabilities over sets of neighbouring cells
    table: np.ndarray  # records at each stick in each bin, when counts were last handed out
    offset: np.ndarray
    members: np.ndarray
    scratch: np.ndarray
    walk: np.ndarray  # log step sizes: of each parameter, and of all positive ones together
    cursor: np.ndarray
    least: np.ndarray  # sticks are broken until less than this is left
    concentration: np.ndarray
    hyper: np.ndarray
    tune: np.ndarray
    statistic: np.ndarray


@dataclass(frozen=True)
class Binned(base.Sampler):
    """The sampler that keeps only counts: for histograms, and for releases of many records.

    Where records were released one by one, a draw gives each a cluster from those of its bin.

    Parameters
    ----------
    bins
        Bins for mechanisms that add noise to each record, over the bounds and five standard deviations of the noise on
        either side; by default so many that a bin is a tenth of a standard deviation wide, from 64 to 2,048.
        Histograms and mechanisms with few outputs have bins of their own.
    """

    bins: int | None = None

    statistics: ClassVar[tuple[str, ...]] = ("acceptance", "records")
    holds_sticks: ClassVar[bool] = True
    learns_records: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.bins is not None:
            check_count("bins", self.bins, 2, owner="Binned")

    def check(self, model: PrivateMixture) -> None:
        """Refuse a release that is not counts, a base measure without a density, a prior with very many sticks."""
        find_bins(model, self.bins)
        need_whole_density("Binned()", model)
        need_moves("Binned()", model)
        need_few_sticks("Binned()", model)
        need_open_law("Binned()", model)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps, those that depend on the kind of bins among them."""
        return {
            base.adopt: adopt,
            base.sweep: sweep,
            base.keep: keep,
            exchange_more: exchange_bins,
            may_exchange: always,
            is_needed: mass_is_left,
            **find_bins(model, self.bins).hooks,
        }

    def allocate(self, model: PrivateMixture, n: int) -> State:
        """Return an empty state with room for a first number of sticks."""
        room, columns = 64, model.kernel.columns
        bins, node, _, sums, share, hidden = find_bins(model, self.bins)
        rows = n if hidden else 0
        return State(
            size=np.zeros(room, np.int64),
            theta=np.zeros((room, columns)),
            weight=np.zeros(room),
            log_left=np.zeros(room),
            log_old=np.zeros(room),
            row=np.zeros((room, bins)),
            rest=np.zeros((room, bins)),
            chance=np.zeros(bins),
            trial=np.zeros(bins),
            fresh=np.zeros(bins),
            counts=np.zeros(bins),
            sums=np.zeros(sums),
            reach=np.full(bins, 1e6),
            node=node,
            share=share,
            ones=np.zeros(rows, np.int64),
            cell=np.zeros(rows, np.int64),
            partial=np.zeros((-(-bins // TABLE_BITS) if hidden else 0, TABLE_SIZE)),
            table=np.zeros((room, bins), np.int64),
            offset=np.zeros(room, np.int64),
            members=base.empty_records(model, min(n, MOST_RECORDS_AT_START)),
            scratch=np.zeros((room, columns)),
            walk=np.zeros(len(model.kernel.parameters) + 1),
            cursor=np.zeros(3, np.int64),
            least=np.full(1, math.exp(LOG_MASS_BEYOND)),
            concentration=np.zeros(model.prior.law_size(n)),
            hyper=np.zeros(len(model.kernel.hyperparameters)),
            tune=base.empty_tuning(model),
            statistic=np.array([0.0, float(n), *[0.0] * (len(self.statistics) - 2)]),  # Lifted reports more
        )

    def check_state(self, model: PrivateMixture, n: int, state: State) -> str:
        """Return what is wrong with a state; the bins are those of the model."""
        found = find_bins(model, self.bins)
        wrong = super().check_state(model, n, state)
        if wrong == MISCOUNTED and model.mechanism.records_unknown and state.size.sum() >= 1:
            wrong = self.check_values(int(state.size.sum()), state)
        same = np.array_equal(found.node, state.node, equal_nan=True) and np.array_equal(found.share, state.share)
        return wrong or ("" if same else "node is not that of the bins")

    def check_values(self, n: int, state: State) -> str:
        """Return what is wrong with the values of a state, or "" where nothing is."""
        table, counts = state.table, state.counts
        if (table < 0).any() or not np.array_equal(table.sum(axis=1), state.size):
            return "size does not count the records of each stick"
        if len(state.ones) and not (state.ones.min() >= 0 and state.ones.max() < 2 ** len(counts)):
            return "ones has sets of cells that there are not"
        if len(state.cell) and not np.array_equal(np.bincount(state.cell.clip(0), minlength=len(counts)), counts):
            return "counts do not count the cells of records"
        if not np.array_equal(table.sum(axis=0), counts) or state.cursor[FILLED] not in (0, 1):
            return "counts do not count the records of each bin"
        occupied = state.row[state.size > 0]
        if not ((occupied >= 0) & (occupied <= 1 + ROUNDING)).all():
            return "the probability of a bin is none"
        # The count of a bin that no record ever visited moved by 0.
        steps = base.are_finite(state, "walk", "reach") and (state.reach >= 0).all()
        return check_sticks(n, state) or ("" if steps else "a step is not finite, or below 0")

    def set_first_steps(self, state: State, steps: np.ndarray) -> None:
        """Set the steps of the atoms' walk; that of all positive parameters together is on the log scale."""
        state.walk[: len(steps)] = steps

    def grow(self, state: State) -> State:
        """Return the state with room for twice as many sticks."""
        names = ("size", "theta", "weight", "log_left", "log_old", "row", "rest", "table", "offset", "scratch")
        return state._replace(**{name: base.doubled(getattr(state, name)) for name in names})


# Entry of State.cursor: whether the rows of occupied sticks are those of their atoms
FILLED = 2


def adopt(parts, data, state, latent, rng):
    """Start at a latent configuration: its atoms, and the bins and labels of its records as counts."""
    adopt_law(state, latent)
    clear_table(state)
    for b in range(len(state.counts)):
        state.counts[b] = 0.0
    state.cursor[STICKS] = 0
    state.cursor[WAITING] = 0
    state.cursor[FILLED] = 0
    seat_records(parts, data, state, latent)
    for h in range(len(state.size)):
        if state.size[h] > 0:
            state.cursor[STICKS] = h + 1
    for h in range(state.cursor[STICKS]):
        copy_row(state.theta, h, latent.atoms, h)


def sweep(parts, data, state, rng):
    """Draw what sizes allow, then move counts, atoms and sticks on the likelihood of counts, then hand them out."""
    n = count_records(state)
    if not complete(parts, data, state, rng, n):
        return False
    redraw_counts(parts, data, state, rng)
    n = count_again(state, n)
    move_atoms(parts, data, state, rng, n)
    move_sticks(parts, state, rng, n)
    swap_sticks(parts, state, rng, LEAST_EXPECTED_RECORDS / n)
    redraw_bins(state, rng)
    allocate_counts(state, rng)
    state.statistic[RECORDS] = n
    return True


def count_records(state):
    """Return the number of records."""
    n = 0  # here and not in `sweep`: numba would compile every step that takes n twice, first for the constant 0
    for h in range(len(state.size)):
        n += state.size[h]
    return n


def complete(parts, data, state, rng, n):
    """Given sizes and occupied atoms, draw base measure, sticks, concentration and empty atoms; False without room."""
    if state.cursor[WAITING] == 0:
        forget_empty(state)
        update_base(parts.kernel, rng, state, state.cursor[STICKS])
        update_sticks(parts, state, rng, n)
    if not extend_sticks(parts, state, rng):
        state.cursor[WAITING] = 1
        return False
    state.cursor[WAITING] = 0
    for h in range(state.cursor[STICKS]):
        if state.size[h] == 0 or state.cursor[FILLED] == 0:
            fill_row(parts, data, state, state.theta[h], state.row[h])
    state.cursor[FILLED] = 1
    sum_chances(state)
    return True


def keep(parts, data, state, rng, draws, d):
    """Write the mixing measure: sticks up to the last occupied one and until little is left, then the rest."""
    if not keep_sticks(parts, state, rng, draws, d, sticks_that_count(state)):
        return False
    if draws.allocation.shape[1] > 0:
        label_records(parts, data, state, rng, draws.allocation[d])
        for i in range(draws.allocation.shape[1]):
            draws.allocation[d, i] = state.offset[draws.allocation[d, i]]
    return True


def sticks_that_count(state):
    """Return how many sticks there are up to the last occupied one and until little is left."""
    sticks = 1
    for h in range(state.cursor[STICKS]):
        if state.size[h] > 0 or mass_before(state, h) > LEAST_MASS_LEFT:
            sticks = h + 1
    return sticks


def always(state, h):
    """Return True: all sticks that carry anything are in the state."""
    return True
