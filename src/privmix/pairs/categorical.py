"""Named categories under any mechanism for each record: sums over the categories.

g(z|θ) = Σ_j θ_j q(z|j), and Y given z is category j with probability in proportion to the summand.
"""

from __future__ import annotations

import math

from privmix.kernels import Categorical, Kernel
from privmix.mechanisms import LocalMechanism, Mechanism
from privmix.mechanisms.slots import log_q
from privmix.numerics import uniform
from privmix.pairs.base import Convolution

# Cost of a category, in that of log g of the normal-Laplace pair.
COST_OF_A_CATEGORY = 0.3


def log_joint(mechanism, kernel, z, theta, j):
    """Return log θ_j q(z|j)."""
    return theta[len(kernel.weights) + j] + log_q(mechanism, z, float(j))


def log_g(mechanism, kernel, z, theta):
    """Return log Σ_j θ_j q(z|j)."""
    top, total = -math.inf, 0.0
    for j in range(len(kernel.weights)):
        value = log_joint(mechanism, kernel, z, theta, j)
        if value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -math.inf:
            total += math.exp(value - top)
    return top + math.log(total) if total > 0.0 else -math.inf


def sample(mechanism, kernel, rng, z, theta):
    """Draw the category of Y given z: on the way each is taken with probability its weight over the sum so far."""
    top, total, chosen = -math.inf, 0.0, 0
    for j in range(len(kernel.weights)):
        value = log_joint(mechanism, kernel, z, theta, j)
        if value > top:
            total *= math.exp(top - value)
            top = value
        if value > -math.inf:
            weight = math.exp(value - top)
            total += weight
            if uniform(rng) * total < weight:
                chosen = j
    return float(chosen)


def categorical_convolution(mechanism: Mechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a mechanism for each record with named categories; None for another kernel."""
    if not isinstance(kernel, Categorical) or not isinstance(mechanism, LocalMechanism):
        return None
    return Convolution("categories", log_g, sample, cost=COST_OF_A_CATEGORY * len(kernel.categories))
