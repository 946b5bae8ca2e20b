"""What mixtures of finitely many components share: K weights from a symmetric Dirichlet law of weight γ each.

Sticks are broken in the order of the components, ν_h ~ Beta(γ, γ(K − 1 − h)), h = 0, …, K − 1, and the last is 1.
"""

from __future__ import annotations

import math

from privmix.numerics import beta_logs
from privmix.numerics.steps import make_slice_step
from privmix.priors.concentration import MOST_STEPS_OUT, WIDTH, exponential_of, log_hyperprior
from privmix.priors.rest import MOST_STICKS, equal_atoms


def finite_stick(rng, weight, components, h, size, beyond):
    """Draw ν_h ~ Beta(γ + n_h, γ(K − 1 − h) + n_{>h}); the last is 1."""
    if h >= components - 1:
        return 0.0, -math.inf
    return beta_logs(rng, weight + size, weight * (components - 1 - h) + beyond)


def log_finite_stick(weight, components, h, log_stick, log_rest):
    """Return log of ν^γ·(1 − ν)^(γ(K − 1 − h)): the density of the stick in its logit."""
    return weight * log_stick + weight * (components - 1 - h) * log_rest


def finite_rest_sticks(components, k):
    """Return room for all components beyond the first k, or for the most sticks."""
    return min(components - k, MOST_STICKS) + 1


def finite_rest_atoms(weight, components, h):
    """Return M = ((K − h)γ + 1)/(γ + 1): the weights of the K − h components beyond h sticks are Dirichlet(γ, …, γ)."""
    return equal_atoms((weight + 1.0) / ((components - h) * weight + 1.0))


def log_given_components(about, log_weight):
    """Return the log of p(γ)·γ·Γ(Kγ)/Γ(Kγ + n)·∏ Γ(γ + n_h)/Γ(γ) over the occupied components."""
    prior, components, n, sizes = about
    weight = math.exp(log_weight)
    total = log_hyperprior(prior, log_weight) + math.lgamma(components * weight) - math.lgamma(components * weight + n)
    for h in range(len(sizes)):
        if sizes[h] > 0:
            total += math.lgamma(weight + sizes[h]) - math.lgamma(weight)
    return total


slice_weight = make_slice_step(log_given_components, most_steps=MOST_STEPS_OUT)


def update_weight(prior, rng, weight, components, n, sizes):
    """Make a slice step on log γ given K and the sizes of the clusters; a fixed one stays."""
    if prior.shape == 0.0:
        return weight
    return exponential_of(slice_weight((prior, components, n, sizes), rng, math.log(weight), WIDTH))
