"""What samplers share whose state is a partition with atoms and whose pair has a known g(z|θ).

The confidential records are integrated out of the label step: z_i | θ ~ g(·|θ). A sampler is a subclass of `Marginal`
that adds its label step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from privmix.jit import slot
from privmix.mechanisms.slots import at_record
from privmix.pairs.slots import draw_given_at, walk_columns
from privmix.samplers import base
from privmix.samplers.capabilities import need_convolution, need_log_base
from privmix.samplers.moves.atoms import update_base
from privmix.samplers.moves.parameters import (
    impute_and_update,
    update_parameters,
    walk_by_column,
    walk_parameters,
)
from privmix.samplers.moves.partition import (
    ROWS,
    adopt_partition,
    check_partition,
    empty_partition,
    keep_partition,
    update_concentration,
)

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

Update = Literal["impute", "walk"]


class State(NamedTuple):
    """A partition and the atoms of its clusters."""

    allocation: np.ndarray  # row of theta of each record
    size: np.ndarray
    theta: np.ndarray
    free: np.ndarray  # stack of rows that are free
    cursor: np.ndarray  # clusters, height of the free stack, rows ever used
    y: np.ndarray  # confidential records, imputed where an update wants them
    members: np.ndarray
    order: np.ndarray
    offset: np.ndarray
    score: np.ndarray
    scratch: np.ndarray
    stat: np.ndarray  # sufficient statistics of each row, then scratch rows; no columns without conjugacy
    side: np.ndarray  # a split or merge under way
    walk: np.ndarray  # log step sizes of the parameters' walk
    concentration: np.ndarray
    hyper: np.ndarray
    tune: np.ndarray
    statistic: np.ndarray


# Rows of sufficient statistics beyond those of the clusters: two sides of a split, and one to try things out.
SPARE_STATISTICS = 3


def allocate(model: PrivateMixture, n: int, statistics: int, extra: int = 1) -> State:
    """Return an empty state with room for n clusters and `extra` proposed ones: it never grows."""
    rows = n + extra
    sufficient = model.conjugate.statistics if model.conjugate is not None else 0
    return State(
        **empty_partition(model, n, rows, n, statistics),
        y=base.empty_records(model, n),
        score=np.zeros(rows),
        stat=np.zeros((rows + SPARE_STATISTICS, sufficient)),
        side=np.zeros(n, np.int64),
        walk=np.zeros(len(model.kernel.parameters)),
    )


def check_values(n: int, state: State) -> str:
    """Return what is wrong with the values of a state, or "" where nothing is."""
    # Records are drawn anew before they are read; one that was not reported is NaN until then.
    finite = base.are_finite(state, "walk") and not np.isinf(state.y).any()
    return check_partition(n, state) or ("" if finite else "a record or a step size is not finite")


@dataclass(frozen=True)
class Marginal(base.Sampler):
    """Base of samplers on a partition with atoms and without records."""

    holds_partition: ClassVar[bool] = True

    def allocate(self, model: PrivateMixture, n: int) -> State:
        """Return an empty state."""
        return allocate(model, n, len(self.statistics))

    def set_first_steps(self, state: Any, steps: np.ndarray) -> None:
        """Set the steps of the parameters' walk."""
        state.walk[:] = steps

    def check_values(self, n: int, state: Any) -> str:
        """Return what is wrong with the values of a state, or "" where nothing is."""
        return check_values(n, state)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return what all of them share."""
        return shared_hooks()


def shared_hooks() -> dict[Callable, Callable]:
    """Return start, sweep over the labels, draw and imputed records."""
    return {base.adopt: adopt, base.sweep: sweep, base.keep: keep_partition, base.impute: impute}


def label_hooks(step: Callable, update: str, model: PrivateMixture | None = None) -> dict[Callable, Callable]:
    """Return the hooks of a sampler with this label step and this update of the parameters."""
    return {**shared_hooks(), update_label: step, **update_hooks(update, model)}


def check_update(name: str, update: str) -> None:
    """Refuse an update of the parameters that does not exist."""
    if update not in ("impute", "walk"):
        raise ValueError(f"{name}: update must be 'impute' or 'walk'; got {update!r}.")


def update_hooks(update: str, model: PrivateMixture | None = None) -> dict[Callable, Callable]:
    """Return the hook of the parameters' update: a walk by column, where the model is known and its pair gives one."""
    if update == "impute":
        return {update_parameters: impute_and_update}
    known = None if model is None else model.convolution
    by_column = known is not None and walk_columns in known.extra
    return {update_parameters: walk_by_column if by_column else walk_parameters}


def check_model(name: str, update: str, model: PrivateMixture) -> None:
    """Refuse a model without g(z|θ), or a walk without the density of its base measure."""
    need_convolution(name, model)
    if update == "walk":
        need_log_base(name, model)


@slot
def update_label(parts, data, state, rng, i):
    """Update the cluster of record i; return whether a proposal was accepted, or the record moved."""


def sweep(parts, data, state, rng):
    """Update the label of every record, then what the clusters share."""
    moved = 0
    for i in range(len(state.allocation)):
        moved += update_label(parts, data, state, rng, i)
    state.statistic[0] = moved / len(state.allocation)
    finish_sweep(parts, data, state, rng)
    return True


def adopt(parts, data, state, latent, rng):
    """Start at a latent configuration; its records are integrated out."""
    adopt_partition(state, latent)


def finish_sweep(parts, data, state, rng):
    """Update atoms, base measure and concentration, after the labels."""
    rows = state.cursor[ROWS]
    update_parameters(parts, data, state, rng, rows)
    update_base(parts.kernel, rng, state, rows)
    update_concentration(parts, state, rng)


def impute(parts, data, state, rng, ys, labels):
    """Draw the confidential records given z and their clusters."""
    for i in range(len(state.allocation)):
        theta = state.theta[state.allocation[i]]
        draw_given_at(at_record(parts.mechanism, i), parts.kernel, rng, data.z[i], theta, ys, i)
        labels[i] = state.allocation[i]
