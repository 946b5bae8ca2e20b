"""The Pitman–Yor process, with a fixed discount and a concentration that is fixed or has a gamma hyperprior.

Pitman, J. and Yor, M. (1997). The two-parameter Poisson–Dirichlet distribution derived from a stable subordinator.
Annals of Probability 25.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from privmix.numerics import beta_logs
from privmix.numerics.steps import make_slice_step
from privmix.parts import given
from privmix.parts.checks import check_number
from privmix.priors.base import Prior
from privmix.priors.concentration import (
    MOST_STEPS_OUT,
    WIDTH,
    draw_learned,
    exponential_of,
    log_hyperprior,
    nodes,
    store_learned,
)
from privmix.priors.gibbs_type import cluster_law, is_too_large
from privmix.priors.rest import MOST_STICKS, equal_atoms

# Discount beyond which samplers do not keep the labels of sticks.
LARGEST_DISCOUNT_OF_STICKS = 0.4


@dataclass(frozen=True)
class PitmanYor(Prior):
    """Pitman–Yor process over the kernel's base measure: many small clusters beside a few large ones.

    The number of clusters of n records grows as n^discount, where that of a Dirichlet process grows as log n. An old
    cluster weighs n_h − d in the urn, a new one α + kd; the sticks are ν_h ~ Beta(1 − d, α + (h + 1)d), h = 0, 1, ….

    Parameters
    ----------
    discount
        The discount d, from 0 (a Dirichlet process) to below 1.
    concentration
        A number α above −discount, or a pair (shape, rate) that puts a Gamma hyperprior on it.
    """

    discount: float = 0.25
    concentration: float | tuple[float, float] = given(1.0)
    fixed: float = field(init=False, repr=False)
    shape: float = field(init=False, repr=False)
    rate: float = field(init=False, repr=False)

    heavy_tailed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "discount")
        if not 0.0 <= self.discount < 1.0:
            raise ValueError(f"PitmanYor: discount must be at least 0 and below 1; got {self.discount!r}.")
        object.__setattr__(self, "discount", float(self.discount))
        store_learned(self, "concentration", above=-self.discount)

    @property
    def has_far_labels(self) -> bool:
        """Whether d is above .4: P(label > h) falls as h^−(1 − d)/d, and from .5 on a label has no mean."""
        return self.discount > LARGEST_DISCOUNT_OF_STICKS

    def cluster_law(self, n: int) -> np.ndarray | None:
        """Return the probability of 0, 1, 2, … clusters among n records; None beyond 5,000 records."""
        if is_too_large(n, n):
            return None
        alphas, weights = nodes(self)
        # With the sizes aside, k clusters have (α + d)…(α + (k−1)d) / (α + 1)…(α + n−1).
        steps = alphas[:, None] + self.discount * np.arange(1, n)
        opened = np.cumsum(np.log(steps), axis=1) if n > 1 else np.zeros((len(alphas), 0))
        opened = np.concatenate([np.zeros((len(alphas), 1)), opened], axis=1)
        seated = np.log(alphas[:, None] + np.arange(1, n)).sum(axis=1, keepdims=True)
        return cluster_law(n, self.discount, opened - seated, weights)

    def draw_concentration(self, rng):
        """Draw α ~ Gamma(shape, rate), or return the fixed one."""
        return draw_learned(rng, self.fixed, self.shape, self.rate)

    def reduction(self, law):
        """Return d: an old cluster weighs n_h − d."""
        return self.discount

    def new_weight(self, law, n, k):
        """Return α + kd; the first record opens a cluster whatever its weight, which must be positive."""
        return law[0] + k * self.discount if k > 0 else 1.0

    def stick(self, rng, law, h):
        """Draw ν_h ~ Beta(1 − d, α + (h + 1)d)."""
        return beta_logs(rng, 1.0 - self.discount, law[0] + (h + 1) * self.discount)

    def log_stick_density(self, law, h, log_stick, log_rest):
        """Return log of ν^(1 − d)·(1 − ν)^(α + (h + 1)d): the density of the stick in its logit.

        Its constant differs between sticks, but not between two values of one.
        """
        return (1.0 - self.discount) * log_stick + (law[0] + (h + 1) * self.discount) * log_rest

    def stick_given(self, rng, law, h, size, beyond):
        """Draw ν_h ~ Beta(1 − d + n_h, α + (h + 1)d + n_{>h})."""
        return beta_logs(rng, 1.0 - self.discount + size, law[0] + (h + 1) * self.discount + beyond)

    def update_given_partition(self, rng, law, n, k, sizes):
        """Make a slice step on log α given that n records form k clusters: the law of their sizes does not hold α."""
        if self.shape == 0.0:
            return law[0]
        return exponential_of(slice_given_partition((self, n, k), rng, math.log(law[0]), WIDTH))

    def update_given_sticks(self, rng, law, count, log_rest):
        """Make a slice step on log α given the first sticks, of which Σ log(1 − ν_h) tells all that they say of α."""
        if self.shape == 0.0:
            return law[0]
        return exponential_of(slice_given_sticks((self, count, log_rest), rng, math.log(law[0]), WIDTH))

    def rest_sticks(self, law, k):
        """Return the most sticks that a draw of P has beyond its clusters."""
        return MOST_STICKS

    def rest_atoms(self, law, h):
        """Return M = (1 + α + hd)/(1 − d): beyond h sticks lies a Pitman–Yor process of concentration α + hd."""
        return equal_atoms((1.0 - self.discount) / (1.0 + law[0] + h * self.discount))


def target_given_partition(about, log_alpha):
    """Return the log of p(α)·α·(α + d)…(α + (k−1)d)/((α + 1)…(α + n−1))."""
    prior, n, k = about
    alpha = math.exp(log_alpha)
    total = log_hyperprior(prior, log_alpha) + math.lgamma(alpha + 1.0) - math.lgamma(alpha + n)
    for j in range(1, k):
        total += math.log(alpha + j * prior.discount)
    return total


def target_given_sticks(about, log_alpha):
    """Return the log of p(α)·α·∏ Γ(α + hd + 1)/Γ(α + (h + 1)d)·(1 − ν_h)^α over h = 0, …, H − 1."""
    prior, count, log_rest = about
    alpha = math.exp(log_alpha)
    total = log_hyperprior(prior, log_alpha) + alpha * log_rest
    for h in range(count):
        total += math.lgamma(alpha + h * prior.discount + 1.0) - math.lgamma(alpha + (h + 1) * prior.discount)
    return total


slice_given_partition = make_slice_step(target_given_partition, most_steps=MOST_STEPS_OUT)
slice_given_sticks = make_slice_step(target_given_sticks, most_steps=MOST_STEPS_OUT)
