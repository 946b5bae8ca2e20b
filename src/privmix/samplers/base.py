"""What every sampler offers to the engine, and the named tuples that they exchange."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from privmix.jit import slot

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


class Latent(NamedTuple):
    """A configuration of everything unobserved, in the order of stick labels: where a chain starts.

    ``labels[i]`` is the row of ``atoms`` that record i belongs to; for a draw from the model it is the label of its
    stick.
    """

    labels: np.ndarray
    atoms: np.ndarray
    y: np.ndarray
    concentration: np.ndarray
    hyper: np.ndarray


class Draws(NamedTuple):
    """Kept draws of one chain: mixing measures as weights and atoms, padded to a common number of components."""

    n_clusters: np.ndarray
    concentration: np.ndarray
    hyper: np.ndarray
    components: np.ndarray
    weight: np.ndarray
    atom: np.ndarray
    allocation: np.ndarray
    statistic: np.ndarray


@slot
def adopt(parts, data, state, latent, rng):
    """Set the state to a latent configuration."""


@slot
def sweep(parts, data, state, rng):
    """Make one sweep; return False when the state needs more room, to be called again."""


@slot
def record(parts, data, state, rng, draws, d):
    """Write draw d; return False, with nothing drawn, when the draws need more components."""


@slot
def impute(parts, data, state, rng, ys, labels):
    """Write a draw of the confidential records and the row of each, given everything else in the state."""


@dataclass(frozen=True)
class Sampler:
    """Base of samplers.

    A subclass is a frozen dataclass. Its file holds the ``State``, a named tuple of arrays that are changed in place,
    and the functions ``adopt``, ``sweep``, ``record`` and ``impute``, written against slots, so that they serve any
    model.
    """

    #: the plain functions that fill the slots of this file
    functions: ClassVar[dict[Callable, Callable]]
    #: names of the columns of ``State.statistic``
    statistics: ClassVar[tuple[str, ...]] = ("acceptance",)
    #: whether the rows of the state are sticks, so that ``adopt`` needs room for the largest label
    holds_sticks: ClassVar[bool] = False
    #: whether the state is a partition with atoms and no records, so that `SplitMerge` can move whole clusters
    holds_partition: ClassVar[bool] = False
    #: whether cluster parameters are integrated out of the label step
    conjugate: ClassVar[bool] = False

    def check(self, model: PrivateMixture) -> None:
        """Refuse a model that this sampler cannot serve, with the reason and the alternatives."""

    def allocate(self, model: PrivateMixture, n: int) -> Any:
        """Return an empty state for n records."""
        raise NotImplementedError

    def grow(self, state: Any) -> Any:
        """Return the state with more room."""
        raise NotImplementedError(f"{type(self).__name__} never needs more room")

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the slots that this sampler fills for a model."""
        return dict(self.functions)


def empty_records(model: PrivateMixture, *shape: int) -> np.ndarray:
    """Return an array of confidential records: numbers, or rows where the kernel has a dimension."""
    dimension = model.kernel.dimension
    return np.zeros(shape if dimension == 1 else (*shape, dimension))


def empty_tuning(model: PrivateMixture) -> np.ndarray:
    """Return the tuning array: the gain, then the tuned quantities."""
    return np.zeros(1 + model.kernel.tuning)
