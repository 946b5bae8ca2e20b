"""Neal 3: Gibbs steps on the labels with records and cluster parameters both integrated out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privmix.samplers import base, marginal
from privmix.samplers.capabilities import need_conjugacy
from privmix.samplers.moves.conjugate import cluster_score, conjugate_sweep, log_predictive

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


@dataclass(frozen=True)
class Neal3(base.Sampler):
    """Gibbs sampling of the labels alone (Neal 2000, Section 3), for pairs with a conjugate marginal."""

    functions: ClassVar[dict[Callable, Callable]]
    holds_partition: ClassVar[bool] = True
    conjugate: ClassVar[bool] = True

    def check(self, model: PrivateMixture) -> None:
        """Refuse a pair without a conjugate marginal."""
        need_conjugacy("Neal3", "the cluster parameters", model)

    def allocate(self, model: PrivateMixture, n: int) -> marginal.State:
        """Return an empty state."""
        return marginal.allocate(model, n, len(self.statistics))


Neal3.functions = {**marginal.FUNCTIONS, base.sweep: conjugate_sweep, cluster_score: log_predictive}
