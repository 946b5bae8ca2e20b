"""What every sampler offers to the engine, and the named tuples that they exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from privmix.jit import slot
from privmix.parts.options import Named

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

    Trial = Callable[["Sampler", int, np.ndarray], np.ndarray]


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
def keep(parts, data, state, rng, draws, d):
    """Write draw d; return False, with nothing drawn, when the draws need more components."""


@slot
def impute(parts, data, state, rng, ys, labels):
    """Write a draw of the confidential records and the row of each, given everything else in the state."""


def doubled(array: np.ndarray) -> np.ndarray:
    """Return an array of a state with room for twice as many rows, the new ones empty."""
    return np.concatenate([array, np.zeros_like(array)])


@dataclass(frozen=True)
class Sampler(Named):
    """Base of samplers.

    A subclass is a frozen dataclass. Its file holds the ``State``, a named tuple of arrays that are changed in place,
    and the functions ``adopt``, ``sweep``, ``keep`` and ``impute``, written against slots, so that they serve any
    model; ``hooks`` says which function fills which slot. All that other rooms ask of a sampler is a member here.
    """

    #: names of the columns of ``State.statistic``
    statistics: ClassVar[tuple[str, ...]] = ("acceptance",)
    #: whether the rows of the state are sticks, so that ``adopt`` needs room for the largest label
    holds_sticks: ClassVar[bool] = False
    #: whether the state is a partition with atoms and no records, so that `SplitMerge` can move whole clusters
    holds_partition: ClassVar[bool] = False
    #: whether it serves releases of an unknown number of records
    learns_records: ClassVar[bool] = False
    #: whether cluster parameters are integrated out of the label step
    conjugate: ClassVar[bool] = False
    #: whether it needs no more of the records than a table of counts
    takes_counts: ClassVar[bool] = False
    #: whether ``acceptance`` is that of proposed records: under pure ε-differential privacy it is then at least e^−ε,
    #: for records inside the bounds (the paper's Proposition 1)
    proposes_records: ClassVar[bool] = False

    def check(self, model: PrivateMixture) -> None:
        """Refuse a model that this sampler cannot serve, with the reason and the alternatives."""

    def choose(self, model: PrivateMixture, z: np.ndarray, sweeps: int, trial: Trial) -> tuple[Sampler, str]:
        """Return the sampler that is to run, and why, where it is another than this one.

        Parameters
        ----------
        model, z, sweeps
            What is to be sampled, the release, and sweeps of a chain.
        trial
            ``trial(sampler, sweeps, points)`` runs a short chain and returns its density, draws × points.
        """
        return self, ""

    def allocate(self, model: PrivateMixture, n: int) -> Any:
        """Return an empty state for n records."""
        raise NotImplementedError

    def grow(self, state: Any) -> Any:
        """Return the state with more room."""
        raise NotImplementedError(f"{type(self).__name__} never needs more room")

    def allocate_for(self, model: PrivateMixture, n: int, rows: int) -> Any:
        """Return an empty state for n records that has grown to so many rows, or as far as it can."""
        state = self.allocate(model, n)
        while len(state.size) < rows:
            try:
                state = self.grow(state)
            except NotImplementedError:
                break
        return state

    def doubts(self, reported: Mapping[str, np.ndarray]) -> list[tuple[str, str]]:
        """Return what a run says against itself, each with what to do, by what it reported (chain, draw) by name."""
        return []

    def stored(self, state: Any) -> Any:
        """Return the state as a file holds it: without what the next sweep makes anew."""
        return state

    def check_state(self, model: PrivateMixture, n: int, state: Any) -> str:
        """Return what is wrong with a state for n records that a file held, or "" where nothing is.

        Compiled code checks no index, so this is all that stands between a damaged file and memory of others.
        """
        wrong = self._check_shapes(model, n, state) or check_common(state) or self.check_values(n, state)
        return wrong or model.prior.check_law(n, int(np.count_nonzero(state.size)), state.concentration)

    def check_values(self, n: int, state: Any) -> str:
        """Return what is wrong with the values of a state whose shapes are right, or "" where nothing is."""
        return ""

    def _check_shapes(self, model: PrivateMixture, n: int, state: Any) -> str:
        wanted = self.allocate_for(model, n, len(state.size))
        for name, array in wanted._asdict().items():
            found = getattr(state, name)
            if found.dtype != array.dtype or found.shape != array.shape:
                return f"{name} has shape {found.shape} and type {found.dtype} in place of {array.shape}, {array.dtype}"
        return ""

    def set_first_steps(self, state: Any, steps: np.ndarray) -> None:
        """Set the first log step sizes of a walk that the sampler itself makes on the kernel's parameters, if any."""

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the functions that fill the slots for a model: slot to plain function."""
        raise NotImplementedError


def check_common(state: Any) -> str:
    """Return what is wrong with the arrays that every state has, or "" where nothing is."""
    if (state.size < 0).any() or not np.isfinite(state.theta[state.size > 0]).all():
        return "a size is negative, or a parameter of a cluster is not finite"
    if not np.isfinite(state.concentration).all() or not state.concentration[0] > 0:
        return "the concentration is not positive and finite"
    return "" if are_finite(state, "hyper", "tune") else "a hyperparameter or a step size is not finite"


def are_finite(state: Any, *names: str) -> bool:
    """Return whether all numbers of these arrays of a state are finite."""
    return all(bool(np.isfinite(getattr(state, name)).all()) for name in names)


def in_range(labels: np.ndarray, stop: int) -> bool:
    """Return whether all labels are from 0 to below `stop`."""
    return bool(((labels >= 0) & (labels < stop)).all())


def empty_records(model: PrivateMixture, *shape: int) -> np.ndarray:
    """Return an array of confidential records: numbers, or rows where the kernel has a dimension."""
    dimension = model.kernel.dimension
    return np.zeros(shape if dimension == 1 else (*shape, dimension))


def empty_tuning(model: PrivateMixture) -> np.ndarray:
    """Return the tuning array: the gain, then the tuned quantities."""
    return np.zeros(1 + model.kernel.tuning)
