"""Finitely many components, their number fixed: weights from a symmetric Dirichlet law."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import special

from privmix.parts import given
from privmix.parts.checks import check_count
from privmix.priors.base import Prior
from privmix.priors.concentration import draw_learned, nodes, store_learned
from privmix.priors.finite import (
    finite_rest_atoms,
    finite_rest_sticks,
    finite_stick,
    log_finite_stick,
    update_weight,
)
from privmix.priors.gibbs_type import cluster_law, is_too_large


@dataclass(frozen=True)
class Dirichlet(Prior):
    """K components whose weights are Dirichlet(γ, …, γ): sparse where γ is small, for then most stay empty.

    An old cluster weighs n_h + γ in the urn, a new one (K − k)γ. With γ = α/K and a large K it is close to a Dirichlet
    process of concentration α. What draws report as the concentration is γ.

    Parameters
    ----------
    components
        The number K of components.
    weight
        The weight γ of each, a positive number, or a pair (shape, rate) that puts a Gamma hyperprior on it.
    """

    components: int = 10
    weight: float | tuple[float, float] = given(0.1)
    fixed: float = field(init=False, repr=False)
    shape: float = field(init=False, repr=False)
    rate: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", check_count("components", self.components, 1, owner="Dirichlet"))
        store_learned(self, "weight")

    def most_clusters(self, n: int) -> int:
        """Return K, or n if there are fewer records."""
        return min(n, self.components)

    def cluster_law(self, n: int) -> np.ndarray | None:
        """Return the probability of 0, 1, 2, … clusters among n records, or None where it would take too long."""
        weights, shares = nodes(self)
        most = self.most_clusters(n)
        if is_too_large(n, most, len(weights)):
            return None
        k, weight, every = np.arange(1, most + 1), weights[:, None], self.components
        log_v = k * np.log(weight) + special.gammaln(every + 1) - special.gammaln(every - k + 1)
        log_v += special.gammaln(every * weight) - special.gammaln(every * weight + n)
        return cluster_law(n, -weights, log_v, shares)

    def draw_concentration(self, rng):
        """Draw γ ~ Gamma(shape, rate), or return the fixed one."""
        return draw_learned(rng, self.fixed, self.shape, self.rate)

    def reduction(self, law):
        """Return −γ: an old cluster weighs n_h + γ."""
        return -law[0]

    def new_weight(self, law, n, k):
        """Return (K − k)γ: that of all empty components."""
        return (self.components - k) * law[0]

    def stick(self, rng, law, h):
        """Draw ν_h ~ Beta(γ, γ(K − 1 − h))."""
        return finite_stick(rng, law[0], self.components, h, 0, 0)

    def log_stick_density(self, law, h, log_stick, log_rest):
        """Return the log density of ν_h in its logit."""
        return log_finite_stick(law[0], self.components, h, log_stick, log_rest)

    def stick_given(self, rng, law, h, size, beyond):
        """Draw ν_h ~ Beta(γ + n_h, γ(K − 1 − h) + n_{>h})."""
        return finite_stick(rng, law[0], self.components, h, size, beyond)

    def update_given_partition(self, rng, law, n, k, sizes):
        """Make a slice step on log γ given the sizes of the clusters."""
        return update_weight(self, rng, law[0], self.components, n, sizes)

    def update_given_labels(self, rng, law, n, sizes):
        """Make a slice step on log γ given the sizes at the sticks, whose order says nothing of γ."""
        return update_weight(self, rng, law[0], self.components, n, sizes)

    def update_given_sticks(self, rng, law, count, log_rest):
        """Return γ: it was redrawn with the sticks integrated out."""
        return law[0]

    def rest_sticks(self, law, k):
        """Return room for all components beyond the clusters, or for the most sticks."""
        return finite_rest_sticks(self.components, k)

    def rest_atoms(self, law, h):
        """Return the number of equal atoms that what is left beyond h sticks goes to."""
        return finite_rest_atoms(law[0], self.components, h)
