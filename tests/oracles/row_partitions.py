"""Exact law of the partition of records of two columns: correlated normal components under Gaussian noise.

Given Σ the mean of a cluster is integrated out in closed form: its released entries, stacked, are jointly normal. Σ is
integrated by the trapezoid rule over the logs of its variances and the inverse hyperbolic tangent of its correlation,
with SciPy's inverse-Wishart density. Nothing of the library's kernels, mechanisms or samplers is used.
"""

import numpy as np
from scipy import special, stats

from oracles.normal_partitions import weigh_partitions


def covariance_grid(degrees, scale, points=33):
    """Return covariances on a grid, and the log prior mass of each."""
    logs = [np.log(scale[j, j] / (degrees + 1.0)) + np.linspace(-3.5, 7.0, points) for j in range(2)]
    first, second, tanh = np.meshgrid(*logs, np.linspace(-4.5, 4.5, points), indexing="ij")
    rho, product = np.tanh(tanh), np.exp(0.5 * (first + second))
    sigma = np.array([[np.exp(first), rho * product], [rho * product, np.exp(second)]]).reshape(2, 2, -1)
    jacobian = first + second + np.log(product * (1.0 - np.square(rho)))
    cell = (logs[0][1] - logs[0][0]) * (logs[1][1] - logs[1][0]) * (9.0 / (points - 1))
    log_mass = stats.invwishart(degrees, scale).logpdf(sigma) + jacobian.ravel() + np.log(cell)
    return np.moveaxis(sigma, 2, 0), log_mass


def log_marginal(z, noises, mean, precision_scale, sigma, log_mass):
    """Return the log density of the entries of a cluster's records that are there."""
    there = ~np.isnan(z).ravel()
    n, count = len(z), int(there.sum())
    if count == 0:
        return 0.0
    shared = np.kron(np.eye(n) + 1.0 / precision_scale, np.ones((2, 2)))
    whole = shared * np.tile(sigma, (1, n, n)) + special_block(noises)
    away = (z - mean).ravel()[there]
    root = np.linalg.cholesky(whole[:, there][:, :, there])
    white = np.linalg.solve(root, np.broadcast_to(away, (len(root), count))[..., None])[..., 0]
    height = -np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) - 0.5 * count * np.log(2.0 * np.pi)
    return special.logsumexp(log_mass + height - 0.5 * np.square(white).sum(axis=1))


def special_block(noises):
    """Return the noise covariances of records as one block-diagonal matrix."""
    out = np.zeros((2 * len(noises), 2 * len(noises)))
    for i, noise in enumerate(noises):
        out[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = noise
    return out


def partition_posterior(z, noises, base, concentration):
    """Return the posterior probability of each partition of released rows, NaN where an entry is missing.

    ``base`` is (mean, precision_scale, degrees, scale) of the normal–inverse-Wishart law.
    """
    mean, precision_scale, degrees, scale = base
    sigma, log_mass = covariance_grid(degrees, np.asarray(scale))
    found = np.zeros(2 ** len(z))
    for mask in range(1, 2 ** len(z)):
        members = [i for i in range(len(z)) if mask >> i & 1]
        found[mask] = log_marginal(z[members], [noises[i] for i in members], mean, precision_scale, sigma, log_mass)
    return weigh_partitions(found, len(z), concentration)
