"""Exact law of the partition when the base measure is a truncated Normal-Inverse-Gamma on the released scale.

z | μ, τ² ~ N(μ, τ²), μ | τ² ~ N(m, τ²/λ), τ² ~ InverseGamma(a, b) truncated to τ² ≥ η². Given τ² a cluster's records
are jointly normal; τ² is integrated numerically by SciPy. Nothing of the library is used.
"""

import numpy as np
from scipy import integrate, stats

from privmix.testing.partitions import log_crp, set_partitions


def cluster_marginal(z, noise, mean, precision_scale, shape, rate):
    """Density of a cluster's records."""
    prior = stats.invgamma(shape, scale=rate)
    kept = prior.sf(noise**2)
    covariance = np.eye(len(z)) + np.ones((len(z), len(z))) / precision_scale

    def integrand(log_variance):
        variance = np.exp(log_variance)
        joint = stats.multivariate_normal(np.full(len(z), mean), variance * covariance).pdf(z)
        return joint * prior.pdf(variance) / kept * variance

    low = np.log(noise**2)
    return integrate.quad(
        integrand, low, low + 40.0, epsabs=0.0, epsrel=1e-9, limit=500, points=[low + 2.0, low + 6.0]
    )[0]


def partition_posterior(z, noise, concentration, *base):
    """Posterior probability of each partition, in the order of set_partitions."""
    weights = []
    for partition in set_partitions(len(z)):
        labels = np.array(partition)
        marginals = [cluster_marginal(z[labels == h], noise, *base) for h in range(labels.max() + 1)]
        weights.append(np.exp(log_crp(partition, concentration)) * np.prod(marginals))
    return np.array(weights) / np.sum(weights)
