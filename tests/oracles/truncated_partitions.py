"""Exact law of the partition for normal components truncated to bounds, from a few noisy releases.

z = y + Laplace or Gaussian noise, y ~ N(μ, σ²) given that it lies in the bounds, μ ~ N(location, spread) and
σ² ~ InverseGamma(shape, rate) independently. g(z|μ, σ²) is a sum over nodes of y, the density of y normalised by the
same nodes; the integral over (μ, log σ²) is a trapezoid sum. No closed form and nothing of the library is used.
"""

import numpy as np
from scipy import special, stats

from oracles.normal_partitions import weigh_partitions

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
NOISE = {"laplace": stats.laplace, "gaussian": stats.norm}


def partition_posterior(z, noise, scale, concentration, bounds, location, spread, shape, rate, *, refine=1):
    """Return the posterior probabilities of the partitions, in the order of ``set_partitions(len(z))``.

    A release is a number, or a row (low, high) of the ends between which the noisy number lay.
    """
    low, high = np.transpose(z) if np.ndim(z) == 2 else (z, z)
    y, weight = nodes(np.clip([*low, *high], *bounds), bounds)
    law = NOISE[noise](y[:, None], scale)
    q = np.where(low == high, law.pdf(np.where(low == high, low, 0.0)), law.cdf(high) - law.cdf(low))
    reach = 9.0 * np.sqrt(spread)
    means = np.linspace(location - reach, location + reach, 160 * refine)
    # The tails of σ² below and above these ends hold less than 1e-9 of its prior mass.
    ends = np.log(rate / special.gammainccinv(shape, 1e-9)), np.log(rate / special.gammaincinv(shape, 1e-9))
    log_variances = np.linspace(*ends, 120 * refine)
    log_joint = np.array([slice_at(u, means, y, weight, q) for u in log_variances])
    log_prior = stats.invgamma.logpdf(np.exp(log_variances), shape, scale=rate) + log_variances
    log_joint += log_prior[:, None, None] + stats.norm.logpdf(means, location, np.sqrt(spread))[:, None]
    step = (means[1] - means[0]) * (log_variances[1] - log_variances[0])
    return weigh_partitions(special.logsumexp(log_joint, axis=(0, 1)) + np.log(step), len(z), concentration)


def nodes(z, bounds):
    """Return nodes and weights of y, with ends at the releases, where Laplace noise has a kink."""
    edges = np.unique([*np.linspace(*bounds, 8), *z])
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    return (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()


def slice_at(log_variance, means, y, weight, q):
    """Return Σ_i log g(z_i|μ, σ²) for every mean (rows) and every subset of the releases (columns), at one σ²."""
    log_f = -0.5 * (y - means[:, None]) ** 2 / np.exp(log_variance) + np.log(weight)
    log_g = np.log(special.softmax(log_f, axis=1) @ q)
    subsets = (np.arange(2 ** q.shape[1])[:, None] >> np.arange(q.shape[1])) & 1
    return log_g @ subsets.T
