"""Skeleton of a prior: a Dirichlet process whose concentration is one of two numbers, equally likely beforehand.

Copy it, then change what is marked CHANGE. Run it to test the result: with a sampler on partitions and one on sticks.
"""

import math
from dataclasses import dataclass

from privmix import PrivateMixture, mechanisms, samplers
from privmix.numerics import beta_logs, uniform
from privmix.priors import Prior
from privmix.testing import check_sampler


def choose(rng, low, high, log_odds):
    """Return `high` with the given log odds, else `low`."""
    return high if uniform(rng) * (1.0 + math.exp(-log_odds)) < 1.0 else low


def log_ascent(concentration, n):
    """Return log of α(α + 1)…(α + n − 1), the rising factorial."""
    return math.lgamma(concentration + n) - math.lgamma(concentration)


@dataclass(frozen=True)
class EitherConcentration(Prior):
    """Dirichlet process of concentration `low` or `high`, each with probability ½."""

    # CHANGE: the numbers that the user sets.
    low: float = 0.5
    high: float = 2.0

    # CHANGE: the hyperprior, and its two updates. A state that holds sticks must not use the rule for partitions.
    def draw_concentration(self, rng):
        return choose(rng, self.low, self.high, 0.0)

    def update_given_partition(self, rng, law, n, k, sizes):
        # P(k clusters in a given partition of n records|α) ∝ α^k / (α(α + 1)…(α + n − 1))
        log_odds = k * math.log(self.high / self.low) - log_ascent(self.high, n) + log_ascent(self.low, n)
        return choose(rng, self.low, self.high, log_odds)

    def update_given_sticks(self, rng, law, count, log_rest):
        # The density of the sticks is α^H ∏ (1 − ν_h)^(α − 1); log_rest is Σ log(1 − ν_h).
        return choose(
            rng, self.low, self.high, count * math.log(self.high / self.low) + (self.high - self.low) * log_rest
        )

    # CHANGE, for a law other than the Dirichlet process: the urn's weight of a new cluster, where an old one weighs its
    # size less `reduction`, and the law of a stick: from the prior, its density in the logit, and given the records at
    # it and beyond. `law` is the row that a chain keeps of the prior, the concentration first.
    def new_weight(self, law, n, k):
        return law[0]

    def stick(self, rng, law, h):
        return beta_logs(rng, 1.0, law[0])

    def log_stick_density(self, law, h, log_stick, log_rest):
        return log_stick + law[0] * log_rest

    def stick_given(self, rng, law, h, size, beyond):
        return beta_logs(rng, 1.0 + size, law[0] + beyond)


if __name__ == "__main__":
    model = PrivateMixture(mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0)), prior=EitherConcentration())
    print(check_sampler(model, samplers.Neal5()))
    print(check_sampler(model, samplers.Slice()))
