"""Exact posteriors of a Dirichlet process mixture from the release of a histogram of a few records.

The model: y_i ~ f(·|θ_i), θ_i from a Dirichlet process of fixed concentration; the release depends on the counts of the
bins. Every way to put the records into bins is summed over, with E[∏ P(B_j|θ)^{n_j}] of each cluster by quadrature over
the base measure. Nothing here calls the library's samplers, kernels or mechanisms.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import special, stats

from privmix.testing.partitions import log_crp, set_partitions


def normal_masses(edges, mean, precision_scale, shape, rate, noise=0.0):
    """Return masses (nodes, bins) and weights (nodes,) over μ | σ² ~ N(mean, σ²/λ), σ² ~ IG(shape, rate).

    With `noise`, the standard deviation of Gaussian noise, those of noisy records.
    """
    log_variance = np.linspace(*np.log(stats.invgamma(shape, scale=rate).ppf([1e-13, 1 - 1e-13])), 400)
    variance = np.exp(log_variance)
    weight = stats.invgamma(shape, scale=rate).pdf(variance) * variance
    nodes, hermite = special.roots_hermitenorm(80)
    mu = mean + nodes[:, None] * np.sqrt(variance / precision_scale)
    tails = stats.norm.cdf((np.asarray(edges)[1:-1] - mu[..., None]) / np.sqrt(variance + noise**2)[:, None])
    weights = hermite[:, None] * weight
    return _masses(tails).reshape(-1, len(edges) - 1), (weights / weights.sum()).reshape(-1)


def beta_masses(edges, shape, rate):
    """Return the same for Beta(a, b) on the unit interval with a, b ~ Gamma(shape, rate)."""
    log_a = np.linspace(*np.log(stats.gamma(shape, scale=1 / rate).ppf([1e-13, 1 - 1e-13])), 300)
    a = np.exp(log_a)
    weight = stats.gamma(shape, scale=1 / rate).pdf(a) * a
    tails = special.betainc(a[:, None, None], a[None, :, None], np.asarray(edges)[1:-1])
    weights = weight[:, None] * weight
    return _masses(tails).reshape(-1, len(edges) - 1), (weights / weights.sum()).reshape(-1)


def _masses(tails):
    ends = np.zeros((*tails.shape[:-1], 1)), np.ones((*tails.shape[:-1], 1))
    return np.diff(np.concatenate([ends[0], tails, ends[1]], axis=-1), axis=-1)


def moments(n, masses, weights):
    """Return E[∏ P(B_j|θ)^{n_j}] for all counts of at most n records, by quadrature."""
    every = itertools.product(range(n + 1), repeat=masses.shape[1])
    return {c: float(weights @ np.prod(masses ** np.array(c), axis=1)) for c in every if sum(c) <= n}


def dirichlet_moments(n, weight):
    """Return E[∏ θ_j^{n_j}] for all counts of at most n records, where θ ~ Dirichlet(weight)."""
    weight = np.asarray(weight)

    def log_moment(counts):
        gained = special.gammaln(weight + counts) - special.gammaln(weight)
        return gained.sum() + special.gammaln(weight.sum()) - special.gammaln(weight.sum() + sum(counts))

    every = itertools.product(range(n + 1), repeat=len(weight))
    return {counts: float(np.exp(log_moment(counts))) for counts in every if sum(counts) <= n}


def partition_posterior(log_q, n, masses, weights, concentration):
    """Return the posterior of the partitions in the order of ``set_partitions(n)``; log_q(counts) is the release's."""
    return table_posterior(log_q, n, [moments(n, masses, weights)], concentration)


def table_posterior(log_q, n, columns, concentration):
    """Return the same from the counts of cells of several columns, which are independent inside a cluster.

    Cells are numbered with the last column fastest. Each column is given by its moments.
    """
    shape = [len(next(iter(column))) for column in columns]
    bins = int(np.prod(shape))

    def mean_of(counts):
        table = np.reshape(counts, shape)
        each = [table.sum(axis=tuple(k for k in range(len(shape)) if k != c)) for c in range(len(shape))]
        return float(np.prod([column[tuple(margin.tolist())] for column, margin in zip(columns, each, strict=True)]))

    mean, likelihood = {}, {}
    for counts in itertools.product(range(n + 1), repeat=bins):
        if 0 < sum(counts) <= n:
            mean[counts] = mean_of(counts)
        if sum(counts) == n:
            likelihood[counts] = np.exp(log_q(np.array(counts, dtype=float)))
    total = np.zeros(len(set_partitions(n)))
    for p, partition in enumerate(set_partitions(n)):
        for places in itertools.product(range(bins), repeat=n):
            value = likelihood[tuple(np.bincount(places, minlength=bins))]
            for cluster in set(partition):
                inside = [places[i] for i in range(n) if partition[i] == cluster]
                value *= mean[tuple(np.bincount(inside, minlength=bins))]
            total[p] += value
        total[p] *= np.exp(log_crp(partition, concentration))
    return total / total.sum()
