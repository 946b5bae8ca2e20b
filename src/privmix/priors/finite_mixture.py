"""Mixtures of finite mixtures: finitely many components, their number unknown.

Miller, J. W. and Harrison, M. T. (2018). Mixture models with a prior on the number of components. Journal of the
American Statistical Association 113. With V_n(k) = Σ_K p(K) K!/(K − k)!·Γ(Kγ)/Γ(Kγ + n), the urn gives weight n_h + γ
to an old cluster and γ V_{n+1}(k + 1)/V_{n+1}(k) to a new one, n the number of other records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from privmix.numerics import log_beta, uniform
from privmix.parts import given
from privmix.parts.checks import check_number
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

#: laws of the number of components K, or rather of K − 1
LAWS = ("poisson", "geometric", "beta negative binomial")
# Shape a of the beta law behind the beta negative binomial: P(K) falls as K^−(a + 1), K − 1 has the mean b/(a − 1).
TAIL = 4.0
# Entries of the law beside the concentration, which is γ: K; the n whose new weights follow, or −1 while there are none
COMPONENTS, RECORDS, TABLE = 1, 2, 3
# Sums over K end where what is left is this share of them, or after so many terms.
NEGLIGIBLE, MOST_TERMS = 1e-10, 100_000


@dataclass(frozen=True)
class FiniteMixture(Prior):
    """A random number K of components whose weights are Dirichlet(γ, …, γ) given K.

    Unlike under a Dirichlet process the number of clusters settles as records come in. What draws report as the
    concentration is γ.

    Parameters
    ----------
    components
        Law of K − 1: "poisson", "geometric" or "beta negative binomial", the last with a tail as K^−5.
    expected
        Expected number of components, above 1.
    weight
        The weight γ of each, a positive number, or a pair (shape, rate) that puts a Gamma hyperprior on it.
    """

    components: str = given("geometric", choices=LAWS)
    expected: float = 10.0
    weight: float | tuple[float, float] = given(1.0)
    kind: int = field(init=False, repr=False)
    fixed: float = field(init=False, repr=False)
    shape: float = field(init=False, repr=False)
    rate: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.components not in LAWS:
            names = ", ".join(map(repr, LAWS))
            raise ValueError(f"FiniteMixture: components must be one of {names}; got {self.components!r}.")
        check_number(self, "expected")
        if not self.expected > 1.0:
            raise ValueError(
                f"FiniteMixture: expected must be above 1, for there is a component; got {self.expected!r}."
            )
        object.__setattr__(self, "expected", float(self.expected))
        object.__setattr__(self, "kind", LAWS.index(self.components))
        store_learned(self, "weight")

    def law_size(self, n: int) -> int:
        """Return γ, K, the n of the table, and the weights of a new cluster beside 0, 1, … others."""
        return TABLE + n

    def check_law(self, n: int, k: int, law: np.ndarray) -> str:
        """Return what is wrong with the row of a chain with k clusters of n records that a file held, or ""."""
        table = law[TABLE:]
        if law[COMPONENTS] != np.floor(law[COMPONENTS]) or not k <= law[COMPONENTS] <= n + MOST_TERMS:
            return "the number of components is none"
        return "" if ((table == -1.0) | (table >= 0.0)).all() else "the weight of a new cluster is negative"

    def cluster_law(self, n: int) -> np.ndarray | None:
        """Return the probability of 0, 1, 2, … clusters among n records, or None where it would take too long."""
        weights, shares = nodes(self)
        if is_too_large(n, n, len(weights)):
            return None
        every = np.arange(1, n + int(40.0 * self.expected) + 4000)
        log_p = np.array([log_components(self, K) for K in every.tolist()])
        log_v = np.empty((len(weights), n))
        for row, weight in enumerate(weights):
            log_share = log_p + special.gammaln(every * weight) - special.gammaln(every * weight + n)
            for k in range(1, n + 1):
                K = every[k - 1 :]
                chosen = special.gammaln(K + 1) - special.gammaln(K - k + 1)
                log_v[row, k - 1] = k * np.log(weight) + special.logsumexp(log_share[k - 1 :] + chosen)
        return cluster_law(n, -weights, log_v, shares)

    def draw_concentration(self, rng):
        """Draw γ ~ Gamma(shape, rate), or return the fixed one."""
        return draw_learned(rng, self.fixed, self.shape, self.rate)

    def draw_unseen(self, rng, law):
        """Draw K from its prior; no weight of a new cluster is known yet."""
        law[COMPONENTS] = draw_components(self, rng, law[0], 0, 0, 1)
        law[RECORDS] = -1.0

    def reduction(self, law):
        """Return −γ: an old cluster weighs n_h + γ."""
        return -law[0]

    def new_weight(self, law, n, k):
        """Return γ V_{n+1}(k + 1)/V_{n+1}(k), from a table that is filled as it is asked for."""
        if law[RECORDS] != n:
            law[RECORDS] = n
            for c in range(TABLE, len(law)):
                law[c] = -1.0
        if law[TABLE + k] < 0.0:
            log_ratio = log_sum(self, law[0], n + 1, k + 1, k + 1) - log_sum(self, law[0], n + 1, k, max(k, 1))
            law[TABLE + k] = law[0] * math.exp(log_ratio)
        return law[TABLE + k]

    def rest_weight(self, law, n, k):
        """Return (K − k)γ: that of all empty components."""
        return (law[COMPONENTS] - k) * law[0]

    def stick(self, rng, law, h):
        """Draw ν_h ~ Beta(γ, γ(K − 1 − h))."""
        return finite_stick(rng, law[0], law[COMPONENTS], h, 0, 0)

    def log_stick_density(self, law, h, log_stick, log_rest):
        """Return the log density of ν_h in its logit."""
        return log_finite_stick(law[0], law[COMPONENTS], h, log_stick, log_rest)

    def stick_given(self, rng, law, h, size, beyond):
        """Draw ν_h ~ Beta(γ + n_h, γ(K − 1 − h) + n_{>h})."""
        return finite_stick(rng, law[0], law[COMPONENTS], h, size, beyond)

    def update_given_partition(self, rng, law, n, k, sizes):
        """Draw K given the partition, then make a slice step on log γ given K and the sizes; a fixed γ stays."""
        if self.shape == 0.0:
            return law[0]
        law[COMPONENTS] = draw_components(self, rng, law[0], n, k, k)
        law[RECORDS] = -1.0
        return update_weight(self, rng, law[0], law[COMPONENTS], n, sizes)

    def update_unseen(self, rng, law, n, k):
        """Draw K given the partition."""
        law[COMPONENTS] = draw_components(self, rng, law[0], n, k, k)

    def update_given_labels(self, rng, law, n, sizes):
        """Draw K given the labels, of which the largest is known and taken, then γ given K and the sizes."""
        law[COMPONENTS] = draw_components(self, rng, law[0], n, 0, len(sizes))
        return update_weight(self, rng, law[0], law[COMPONENTS], n, sizes)

    def update_given_sticks(self, rng, law, count, log_rest):
        """Return γ: it was redrawn with the sticks integrated out."""
        return law[0]

    def rest_sticks(self, law, k):
        """Return room for all components beyond the clusters, or for the most sticks."""
        return finite_rest_sticks(int(law[COMPONENTS]), k)

    def rest_atoms(self, law, h):
        """Return the number of equal atoms that what is left beyond h sticks goes to."""
        return finite_rest_atoms(law[0], law[COMPONENTS], h)


def log_components(prior, components):
    """Return log P(K), K ≥ 1."""
    beyond, mean = components - 1.0, prior.expected - 1.0  # of K − 1
    if prior.kind == 0:
        return beyond * math.log(mean) - mean - math.lgamma(beyond + 1.0)
    if prior.kind == 1:
        return beyond * math.log(mean / prior.expected) - math.log(prior.expected)
    rest = (TAIL - 1.0) * mean
    return log_beta(TAIL + 1.0, rest + beyond) - log_beta(TAIL, rest)


def log_term(prior, weight, n, k, components):
    """Return log of P(K)·K!/(K − k)!·Γ(Kγ)/Γ(Kγ + n)."""
    chosen = math.lgamma(components + 1.0) - math.lgamma(components - k + 1.0)
    share = math.lgamma(components * weight) - math.lgamma(components * weight + n)
    return log_components(prior, components) + chosen + share


def log_sum(prior, weight, n, k, least):
    """Return the log of the sum of these terms over K ≥ least; with least = k it is log V_n(k).

    The terms fall from the mean of K on, at the slowest as a power of K: what is left is then at most K times the last.
    """
    components = float(least)
    top = log_term(prior, weight, n, k, components)
    total, term = 1.0, top
    while components < prior.expected or components * math.exp(term - top) > NEGLIGIBLE * total:
        components += 1.0
        term = log_term(prior, weight, n, k, components)
        if term > top:
            total *= math.exp(top - term)
            top = term
        total += math.exp(term - top)
        if components > least + MOST_TERMS:
            break
    return top + math.log(total)


def draw_components(prior, rng, weight, n, k, least):
    """Draw K ≥ least with these terms as weights: given k clusters of n records, or labels below `least` (k = 0)."""
    log_total = log_sum(prior, weight, n, k, least)
    components = float(least)
    left = uniform(rng) - math.exp(log_term(prior, weight, n, k, components) - log_total)
    while left > 0.0 and components < least + MOST_TERMS:
        components += 1.0
        left -= math.exp(log_term(prior, weight, n, k, components) - log_total)
    return components
