"""Exact law of the partition of records of two columns: a number with Laplace noise, and a category by response.

Columns are independent given the partition, so that a cluster's marginal is the product of its columns', each over the
records that reported it. That of the number is by `normal_partitions`; that of the category is a sum over all
assignments of categories, of their Dirichlet-multinomial probability times that of the responses. Nothing of the
library's kernels, mechanisms or samplers is used.
"""

from itertools import product

import numpy as np
from scipy.special import gammaln

from oracles.normal_partitions import Base, integrate_clusters, weigh_partitions


def log_response(released, weights, truth):
    """Return the log probability of a cluster's responses; the category is released with probability `truth`."""
    k, total = len(weights), 0.0
    for categories in product(range(k), repeat=len(released)):
        counts = np.bincount(categories, minlength=k)
        log_prior = gammaln(weights.sum()) - gammaln(weights.sum() + len(released))
        log_prior += (gammaln(weights + counts) - gammaln(weights)).sum()
        hit = np.array(categories, dtype=int) == np.array(released, dtype=int)
        total += np.exp(log_prior) * np.prod(np.where(hit, truth, (1.0 - truth) / (k - 1)))
    return np.log(total)


def partition_posterior(z, scale, base, weights, truth, concentration):
    """Return the posterior probability of each partition; z has rows (number, category), NaN where one is missing."""
    there, n = ~np.isnan(z), len(z)
    numbers = integrate_clusters(np.where(there[:, 0], z[:, 0], 0.0), "laplace", scale, Base(*base), np.empty(0))
    bits = 1 << np.arange(n)
    log_marginal = np.empty(2**n)
    for mask in range(2**n):
        members = (mask & bits) > 0
        # A record that did not report a column plays no part in that column's integral.
        number = numbers.log_marginal[int(bits[members & there[:, 0]].sum())]
        log_marginal[mask] = number + log_response(z[members & there[:, 1], 1], weights, truth)
    return weigh_partitions(log_marginal, n, concentration)
