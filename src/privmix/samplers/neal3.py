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
class Neal3(marginal.Marginal):
    """Gibbs sampling of the labels alone (Neal 2000, Section 3), for pairs with a conjugate marginal."""

    conjugate: ClassVar[bool] = True

    def check(self, model: PrivateMixture) -> None:
        """Refuse a pair without a conjugate marginal."""
        need_conjugacy("Neal3", "the cluster parameters", model)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps: a sweep that scores clusters by their records."""
        return {**super().hooks(model), base.sweep: conjugate_sweep, cluster_score: log_predictive}
