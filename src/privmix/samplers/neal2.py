"""Neal 2: Gibbs steps on the labels given cluster parameters; a new cluster is weighted by its exact marginal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privmix.mechanisms.slots import at_record
from privmix.pairs.slots import log_g
from privmix.samplers import base, marginal
from privmix.samplers.capabilities import need_conjugacy
from privmix.samplers.moves.conjugate import cluster_score, conjugate_sweep

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


@dataclass(frozen=True)
class Neal2(marginal.Marginal):
    """Gibbs sampling of labels and cluster parameters (Neal 2000, Section 3), for pairs with a conjugate marginal."""

    conjugate: ClassVar[bool] = True

    def check(self, model: PrivateMixture) -> None:
        """Refuse a pair without a conjugate marginal."""
        need_conjugacy("Neal2", "the parameters of a new cluster", model)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps: a sweep that scores clusters by their atoms."""
        return {**super().hooks(model), base.sweep: conjugate_sweep, cluster_score: score_given_atom}


def score_given_atom(parts, data, state, h, i):
    """Return log g(z_i|θ_h)."""
    return log_g(at_record(parts.mechanism, i), parts.kernel, data.z[i], state.theta[h])
