"""Private Neal 5: the paper's marginal sampler (Algorithm 1).

The mixing measure is integrated out. Each record proposes to join the cluster of another record, or a new one, with m
auxiliary draws of its confidential value from there, and is accepted by the ratio of ĝ = (1/m) Σ_j q(z_i|ỹ_ij): a
pseudo-marginal step on g(z_i|θ) = ∫ q(z_i|y) f(y|θ) dy. The paper prints that ratio upside down once, before its
equation for ĝ; Algorithm 1 has it right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from privmix.kernels.slots import copy_y, draw_atom, draw_y
from privmix.mechanisms.base import at_record, log_q
from privmix.mechanisms.evidence import evidence, settle
from privmix.numerics import exponential, gamma, log_gamma_variate, uniform, uniform_index
from privmix.priors.base import new_weight, update_given_partition
from privmix.samplers import base
from privmix.samplers.moves.atoms import copy_row, update_atoms, update_base
from privmix.samplers.moves.measure import rest_sticks, write_common, write_rest

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Entries of State.cursor
CLUSTERS, FREE, ROWS = 0, 1, 2


class State(NamedTuple):
    """A partition, the atoms of its clusters and m auxiliaries for each record."""

    allocation: np.ndarray  # row of theta of each record
    size: np.ndarray  # records in each row
    theta: np.ndarray
    free: np.ndarray  # stack of rows that are free
    cursor: np.ndarray  # clusters, height of the free stack, rows ever used
    auxiliary: np.ndarray  # n·m numbers or rows: those of record i are auxiliary[i·m : (i+1)·m]
    proposal: np.ndarray
    log_g: np.ndarray  # log ĝ of each record
    members: np.ndarray
    offset: np.ndarray
    scratch: np.ndarray
    concentration: np.ndarray
    hyper: np.ndarray
    tune: np.ndarray
    statistic: np.ndarray


@dataclass(frozen=True)
class Neal5(base.Sampler):
    """The marginal sampler of the paper: one joint proposal of cluster and confidential value for each record.

    Parameters
    ----------
    auxiliaries
        Draws m of the confidential value for each proposal. More make the acceptance ratio less noisy, at m times the
        cost.
    """

    auxiliaries: int = 1

    functions: ClassVar[dict[Callable, Callable]]

    def __post_init__(self) -> None:
        if not isinstance(self.auxiliaries, int) or self.auxiliaries < 1:
            raise ValueError(f"Neal5: auxiliaries must be a whole number of at least 1; got {self.auxiliaries!r}.")

    def check(self, model: PrivateMixture) -> None:
        """Refuse a mechanism that reveals y: an independent proposal never hits a known value."""
        if model.mechanism.reveals:
            raise ValueError(
                f"Neal5 proposes confidential values, but {type(model.mechanism).__name__} reveals them, so that no "
                "proposal could be accepted. Use Slice."
            )

    def allocate(self, model: PrivateMixture, n: int) -> State:
        """Return an empty state: there are never more than n clusters and one proposed, so it never grows."""
        m, rows, columns = self.auxiliaries, n + 1, model.kernel.columns
        return State(
            allocation=np.zeros(n, np.int64),
            size=np.zeros(rows, np.int64),
            theta=np.zeros((rows, columns)),
            free=np.zeros(rows, np.int64),
            cursor=np.zeros(3, np.int64),
            auxiliary=base.empty_records(model, n * m),
            proposal=base.empty_records(model, m),
            log_g=np.zeros(n),
            members=base.empty_records(model, n * m),
            offset=np.zeros(rows, np.int64),
            scratch=np.zeros((rows if model.kernel.hyperparameters else 1, columns)),
            concentration=np.zeros(1),
            hyper=np.zeros(len(model.kernel.hyperparameters)),
            tune=base.empty_tuning(model),
            statistic=np.zeros(len(self.statistics)),
        )


def adopt(parts, data, state, latent, rng):
    """Start at a latent configuration.

    Record i's own y takes a random place among its m auxiliaries, the others are draws of f(·|θ): so a configuration
    drawn from the model gives a state drawn from the pseudo-marginal's target.
    """
    n, rows = len(state.allocation), len(state.size)
    state.concentration[0] = latent.concentration[0]
    for c in range(len(state.hyper)):
        state.hyper[c] = latent.hyper[c]
    used = number_clusters(state, latent)
    for h in range(rows - used):  # the lowest free row on top
        state.free[h] = rows - 1 - h
    state.cursor[CLUSTERS] = used
    state.cursor[FREE] = rows - used
    state.cursor[ROWS] = used
    m = len(state.proposal)
    for i in range(n):
        mine = state.auxiliary[i * m : i * m + m]
        place = uniform_index(rng, m)
        for j in range(m):
            if j == place:
                copy_y(mine, j, latent.y, i)
            else:
                draw_y(parts.kernel, rng, state.theta[state.allocation[i]], mine, j)
        value = evidence(parts.mechanism, data, i, mine, mine)
        state.log_g[i] = settle(parts.mechanism, data, i, mine, mine, value)


def number_clusters(state, latent):
    """Give the occupied labels rows 0, 1, … in order of appearance; return how many there are."""
    used = 0
    for h in range(len(state.size)):
        state.size[h] = 0
    for i in range(len(state.allocation)):
        row = used
        for j in range(i):  # the row of the first record with the same label
            if latent.labels[j] == latent.labels[i]:
                row = state.allocation[j]
                break
        if row == used:
            copy_row(state.theta, used, latent.atoms, latent.labels[i])
            used += 1
        state.allocation[i] = row
        state.size[row] += 1
    return used


def sweep(parts, data, state, rng):
    """Propose once for each record, then update atoms, base measure and concentration."""
    accepted = 0
    for i in range(len(state.allocation)):
        accepted += move_record(parts, data, state, rng, i)
    state.statistic[0] = accepted / len(state.allocation)
    rows = state.cursor[ROWS]
    update_atoms(parts.kernel, rng, state, rows, state.auxiliary)
    update_base(parts.kernel, rng, state, rows)
    state.concentration[0] = update_given_partition(
        parts.prior, rng, state.concentration[0], len(state.allocation), state.cursor[CLUSTERS]
    )
    return True


def move_record(parts, data, state, rng, i):
    """Propose a cluster and auxiliaries for record i; return whether they were accepted."""
    m = len(state.proposal)
    mine = state.auxiliary[i * m : i * m + m]
    row = propose_row(parts, state, rng, i)
    for j in range(m):
        draw_y(parts.kernel, rng, state.theta[row], state.proposal, j)
    value = evidence(parts.mechanism, data, i, mine, state.proposal)
    if exponential(rng) > state.log_g[i] - value:
        state.log_g[i] = settle(parts.mechanism, data, i, mine, state.proposal, value)
        for j in range(m):
            copy_y(mine, j, state.proposal, j)
        join(state, i, state.allocation[i], row)
        return True
    return False


def propose_row(parts, state, rng, i):
    """Draw a cluster from the urn of the other records: copy one's label, or open the row on top of the free stack.

    Copying the label of a random other record chooses a cluster with probability proportional to its size without
    visiting the clusters. A new row is only looked at here; `join` takes it off the stack.
    """
    n = len(state.allocation)
    clusters = state.cursor[CLUSTERS] - (state.size[state.allocation[i]] == 1)
    weight = new_weight(parts.prior, state.concentration[0], n - 1, clusters)
    if uniform(rng) * (weight + n - 1) < weight:
        row = state.free[state.cursor[FREE] - 1]
        draw_atom(parts.kernel, rng, state.theta[row], state.hyper)
        return row
    other = uniform_index(rng, n - 1)
    return state.allocation[other + (other >= i)]


def join(state, i, old, row):
    """Move record i from its old row to another, opening and closing clusters as needed."""
    if row == old:
        return
    if state.size[row] == 0:
        state.cursor[FREE] -= 1
        state.cursor[CLUSTERS] += 1
        state.cursor[ROWS] = max(state.cursor[ROWS], row + 1)
    state.allocation[i] = row
    state.size[row] += 1
    state.size[old] -= 1
    if state.size[old] == 0:
        state.free[state.cursor[FREE]] = old
        state.cursor[FREE] += 1
        state.cursor[CLUSTERS] -= 1


def record(parts, data, state, rng, draws, d):
    """Draw the mixing measure given the partition and write it.

    Given clusters of sizes n_1…n_k the weights are Dirichlet(n_1, …, n_k, α), the last being that of a fresh
    Dirichlet process: so a marginal sampler gives bands like any other.
    """
    k = state.cursor[CLUSTERS]
    if k + rest_sticks(state.concentration[0]) > draws.weight.shape[1]:
        return False
    rest = new_weight(parts.prior, state.concentration[0], len(state.allocation), k)
    log_rest = log_gamma_variate(rng, rest)
    total = math.exp(log_rest)
    component = 0
    for h in range(state.cursor[ROWS]):
        if state.size[h] > 0:
            draws.weight[d, component] = gamma(rng, float(state.size[h]))
            total += draws.weight[d, component]
            copy_row(draws.atom[d], component, state.theta, h)
            state.offset[h] = component
            component += 1
    for h in range(k):
        draws.weight[d, h] /= total
    components = write_rest(parts, rng, state, draws, d, k, log_rest - math.log(total))
    if draws.allocation.shape[1] > 0:
        for i in range(len(state.allocation)):
            draws.allocation[d, i] = state.offset[state.allocation[i]]
    write_common(state, draws, d, k, components)
    return True


def impute(parts, data, state, rng, ys):
    """Draw Y given the auxiliaries: one of the m, with weight q(z_i|ỹ_ij).

    With m > 1 an auxiliary taken at random is not a draw of Y given z.
    """
    m = len(state.proposal)
    for i in range(len(state.allocation)):
        part = at_record(parts.mechanism, i)
        chosen = 0
        best = -math.inf
        for j in range(m):  # exponential races: the least E_j/q_j wins with probability ∝ q_j
            score = -math.log(exponential(rng))
            if m > 1:
                score += log_q(part, data.z[i], state.auxiliary[i * m + j])
            if score > best:
                best = score
                chosen = j
        copy_y(ys, i, state.auxiliary, i * m + chosen)


Neal5.functions = {base.adopt: adopt, base.sweep: sweep, base.record: record, base.impute: impute}
