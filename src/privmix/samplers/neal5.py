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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privmix.kernels.slots import copy_y, draw_y
from privmix.mechanisms.slots import at_record, begin, evidence, log_q, settle
from privmix.numerics import exponential, uniform_index
from privmix.pairs.slots import log_g
from privmix.parts.checks import check_count
from privmix.samplers import base, marginal
from privmix.samplers.moves.partition import (
    adopt_partition,
    check_partition,
    empty_partition,
    join,
    keep_partition,
    propose_row,
    update_clusters,
)

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


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
    seen: np.ndarray  # what a global mechanism sees of the records
    members: np.ndarray
    order: np.ndarray  # records sorted by row
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
    exact
        Accept by the ratio of g(z|θ) itself, for pairs in which it is known: no value is drawn for the proposal.
    update
        With `exact`, how cluster parameters move: ``"impute"`` draws the records exactly and uses the kernel's own
        update, ``"walk"`` moves the parameters on the marginal likelihood.
    """

    auxiliaries: int = 1
    exact: bool = False
    update: marginal.Update = "walk"

    def __post_init__(self) -> None:
        check_count("auxiliaries", self.auxiliaries, 1, owner="Neal5")
        marginal.check_update("Neal5", self.update)

    @property
    def holds_partition(self) -> bool:  # type: ignore[override]
        """Whether the state is a partition without records."""
        return self.exact

    @property
    def proposes_records(self) -> bool:  # type: ignore[override]
        """Whether values of records are proposed, and not clusters alone."""
        return not self.exact

    def check(self, model: PrivateMixture) -> None:
        """Refuse what cannot work: exact steps without g(z|θ), proposals of values that the mechanism reveals."""
        if self.exact:
            marginal.check_model("Neal5(exact=True)", self.update, model)
        elif model.mechanism.is_global and self.auxiliaries > 1:
            raise ValueError(
                f"Neal5 with a global mechanism moves one value of each record: auxiliaries must be 1; got "
                f"{self.auxiliaries}."
            )
        elif model.mechanism.reveals:
            raise ValueError(
                f"Neal5 proposes confidential values, but {type(model.mechanism).__name__} reveals them, so that no "
                "proposal could be accepted. Use Neal5(exact=True), Neal8 or Slice."
            )

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps: those of the exact urn, or of the pseudo-marginal one."""
        if self.exact:
            return marginal.label_hooks(move_label, self.update, model)
        return {base.adopt: adopt, base.sweep: sweep, base.keep: keep_partition, base.impute: impute}

    def set_first_steps(self, state: Any, steps: np.ndarray) -> None:
        """Set the steps of the exact sampler's walk; the other has none."""
        if self.exact:
            state.walk[:] = steps

    def check_values(self, n: int, state: Any) -> str:
        """Return what is wrong with the values of a state, or "" where nothing is."""
        if self.exact:
            return marginal.check_values(n, state)
        sound = base.are_finite(state, "auxiliary", "seen") and (state.log_g < math.inf).all()
        return check_partition(n, state) or ("" if sound else "an auxiliary or its likelihood is not finite")

    def allocate(self, model: PrivateMixture, n: int) -> State | marginal.State:
        """Return an empty state: there are never more than n clusters and one proposed, so it never grows."""
        if self.exact:
            return marginal.allocate(model, n, len(self.statistics))
        m = self.auxiliaries
        return State(
            **empty_partition(model, n, n + 1, n * m, len(self.statistics)),
            auxiliary=base.empty_records(model, n * m),
            proposal=base.empty_records(model, m),
            log_g=np.zeros(n),
            seen=np.zeros_like(model.origin()),
        )


def adopt(parts, data, state, latent, rng):
    """Start at a latent configuration.

    Record i's own y takes a random place among its m auxiliaries, the others are draws of f(·|θ): so a configuration
    drawn from the model gives a state drawn from the pseudo-marginal's target.
    """
    adopt_partition(state, latent)
    m = len(state.proposal)
    for i in range(len(state.allocation)):
        mine = state.auxiliary[i * m : i * m + m]
        place = uniform_index(rng, m)
        for j in range(m):
            if j == place:
                copy_y(mine, j, latent.y, i)
            else:
                draw_y(parts.kernel, rng, state.theta[state.allocation[i]], mine, j)
    begin(parts.mechanism, data, state.seen, state.auxiliary, m)
    for i in range(len(state.allocation)):
        mine = state.auxiliary[i * m : i * m + m]
        value = evidence(parts.mechanism, data, state.seen, i, mine, mine)
        state.log_g[i] = settle(parts.mechanism, data, state.seen, i, mine, mine, value)


def sweep(parts, data, state, rng):
    """Propose once for each record, then update atoms, base measure and concentration."""
    accepted = 0
    for i in range(len(state.allocation)):
        accepted += move_record(parts, data, state, rng, i)
    state.statistic[0] = accepted / len(state.allocation)
    update_clusters(parts, state, rng, state.auxiliary)
    return True


def move_record(parts, data, state, rng, i):
    """Propose a cluster and auxiliaries for record i; return whether they were accepted."""
    m = len(state.proposal)
    mine = state.auxiliary[i * m : i * m + m]
    row = propose_row(parts, state, rng, i)
    for j in range(m):
        draw_y(parts.kernel, rng, state.theta[row], state.proposal, j)
    value = evidence(parts.mechanism, data, state.seen, i, mine, state.proposal)
    if exponential(rng) > state.log_g[i] - value:
        state.log_g[i] = settle(parts.mechanism, data, state.seen, i, mine, state.proposal, value)
        for j in range(m):
            copy_y(mine, j, state.proposal, j)
        join(state, i, state.allocation[i], row)
        return True
    return False


def impute(parts, data, state, rng, ys, labels):
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
        labels[i] = state.allocation[i]


def move_label(parts, data, state, rng, i):
    """Propose a cluster for record i; return whether it was accepted. Its own is, without evaluating g."""
    old = state.allocation[i]
    row = propose_row(parts, state, rng, i)
    if row == old:
        return True
    part = at_record(parts.mechanism, i)
    current = log_g(part, parts.kernel, data.z[i], state.theta[old])
    proposed = log_g(part, parts.kernel, data.z[i], state.theta[row])
    if exponential(rng) > current - proposed:
        join(state, i, old, row)
        return True
    return False
