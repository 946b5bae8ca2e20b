"""What every prior of the mixing measure offers to samplers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from privmix.parts import Part
from privmix.priors import slots
from privmix.priors.rest import dirichlet_rest_sticks, one_atom


class Prior(Part):
    """Law of the mixing measure: a frozen dataclass with a hook for each slot of this room, of the same name.

    Samplers on partitions take any law whose urn gives weight n_h − d to an old cluster and a weight of n and of the
    number of clusters to a new one (Gibbs-type priors). What is optional has the value of a Dirichlet process.
    """

    #: whether the mass beyond h sticks falls as a power of h, so that no sampler can break them all
    heavy_tailed: ClassVar[bool] = False

    @property
    def has_far_labels(self) -> bool:
        """Whether the sticks of records lie so far out that a sampler cannot keep all before them; by default not."""
        return False

    def cluster_law(self, n: int) -> np.ndarray | None:
        """Return the probability of 0, 1, 2, … clusters among n records, or None where no formula is known."""
        return None

    def law_size(self, n: int) -> int:
        """Return the length of the row that a chain on n records keeps of the prior; by default the concentration."""
        return 1

    def check_law(self, n: int, k: int, law: np.ndarray) -> str:
        """Return what is wrong with the row of a chain with k clusters of n records that a file held, or ""."""
        return ""

    def most_clusters(self, n: int) -> int:
        """Return the largest number of clusters that n records can form; by default n."""
        return n

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this prior fills."""
        cls: Any = type(self)
        needed = {getattr(slots, name): getattr(cls, name) for name in REQUIRED}
        defaults = {**OPTIONAL, slots.rest_weight: cls.new_weight}
        return needed | {slot: getattr(cls, slot.__name__, default) for slot, default in defaults.items()}


#: hooks that every prior gives
REQUIRED = (
    "draw_concentration",
    "new_weight",
    "stick",
    "log_stick_density",
    "stick_given",
    "update_given_partition",
    "update_given_sticks",
)


def nothing_unseen(prior, rng, law):
    """Draw nothing: the concentration is all."""


def size_itself(prior, law):
    """Return 0: an old cluster weighs its size."""
    return 0.0


def nothing_to_redraw(prior, rng, law, n, k):
    """Redraw nothing: the concentration is all."""


def keep_concentration(prior, rng, law, n, sizes):
    """Return the concentration as it is: it is redrawn given the sticks."""
    return law[0]


#: hooks that a prior may give, and what stands for them where it does not
OPTIONAL: dict[Callable, Callable] = {
    slots.draw_unseen: nothing_unseen,
    slots.reduction: size_itself,
    slots.update_unseen: nothing_to_redraw,
    slots.update_given_labels: keep_concentration,
    slots.rest_sticks: dirichlet_rest_sticks,
    slots.rest_atoms: one_atom,
}
