"""Exact posteriors of a Dirichlet process mixture of normals from a few noisy releases.

The model: z_i = y_i + noise, y_i ~ N(μ_i, σ²_i), (μ_i, σ²_i) from a Dirichlet process with base measure
μ | σ² ~ N(mean, σ²/precision_scale), σ² ~ InverseGamma(shape, rate) and a fixed concentration. The base
measure is on the kernel's own σ², for either noise, and is not truncated.

Nothing here calls the library's samplers, kernels or mechanisms: g(z | μ, σ²) is written out below, every
integral over (μ, σ²) is a trapezoid sum over (μ, log σ²), and the sum over partitions is complete. For fixed
σ² the integrand is log-concave in μ with curvature at least that of the prior, so its mode is in the hull of
the prior mean and the releases and its tails beyond are lighter than the prior's; both facts size the grid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special, stats

from privmix.testing.partitions import log_crp, set_partitions

# Steps in units of the narrowest normal feature, span in prior deviations, and prior mass of σ² left out.
# A trapezoid step of 0.7 standard deviations leaves exp(−2π²/0.7²) = 3e-18.
MU_STEP = 0.7
LOG_VARIANCE_STEP = 0.5
SPAN = 9.0
TAIL = 1e-18


class Base(NamedTuple):
    mean: float
    precision_scale: float
    shape: float
    rate: float


class Clusters(NamedTuple):
    """For every subset of the releases, numbered by its bit mask."""

    log_marginal: np.ndarray  # (2^n,)
    predictive: np.ndarray  # (2^n, points): the density of a new Y of the cluster


def partition_posterior(z, noise, scale, concentration, mean, precision_scale, shape, rate, *, refine=1):
    """Return the posterior probabilities of the partitions, in the order of ``set_partitions(len(z))``.

    ``noise`` is "laplace" or "gaussian" and ``scale`` its scale or standard deviation. ``refine`` = 2 halves
    the steps of the quadrature and widens its range, to check convergence.
    """
    base = Base(mean, precision_scale, shape, rate)
    clusters = integrate_clusters(np.asarray(z, float), noise, scale, base, np.empty(0), refine)
    return weigh_partitions(clusters.log_marginal, len(z), concentration)


def density_mean(points, z, noise, scale, concentration, mean, precision_scale, shape, rate, *, refine=1):
    """Return E[f(y) | z] at the points, f the mixture density of the private data Y.

    The mean over partitions of α/(α+n) · prior predictive + Σ_h n_h/(α+n) · predictive of cluster h.
    """
    base, n = Base(mean, precision_scale, shape, rate), len(z)
    clusters = integrate_clusters(np.asarray(z, float), noise, scale, base, np.asarray(points, float), refine)
    density = concentration * clusters.predictive[0]
    probabilities = weigh_partitions(clusters.log_marginal, n, concentration)
    for partition, probability in zip(set_partitions(n), probabilities, strict=True):
        for block in blocks(partition):
            density = density + probability * block.bit_count() * clusters.predictive[block]
    return density / (concentration + n)


def weigh_partitions(log_marginal, n, concentration):
    """Return p(partition | z) ∝ p(partition) ∏ of the marginals of its clusters.

    The prior is that of a Chinese restaurant of this concentration, or a function from partitions to probabilities.
    """
    if not callable(concentration):
        log_prior = [log_crp(p, concentration) for p in set_partitions(n)]
    else:
        with np.errstate(divide="ignore"):
            log_prior = np.log([concentration(p) for p in set_partitions(n)])
    log_weight = [a + log_marginal[blocks(p)].sum() for a, p in zip(log_prior, set_partitions(n), strict=True)]
    return special.softmax(log_weight)


def blocks(partition):
    """Return the bit masks of the clusters of a partition."""
    masks = [0] * (max(partition) + 1)
    for record, label in enumerate(partition):
        masks[label] |= 1 << record
    return masks


def integrate_clusters(z, noise, scale, base, points, refine=1):
    """Return ∫∫ ∏_i g(z_i | μ, σ²) NIG(dμ, dσ²) and the predictive of Y, for every subset of z."""
    log_variances = log_variance_grid(z, base, refine)
    slices = [slice_at(u, z, noise, scale, base, points, refine) for u in log_variances]
    log_mass = np.array([mass for mass, _ in slices])
    step = log_variances[1] - log_variances[0]
    weights = special.softmax(log_mass, axis=0)
    predictive = sum(w[:, None] * density for w, (_, density) in zip(weights, slices, strict=True))
    return Clusters(special.logsumexp(log_mass, axis=0) + np.log(step), predictive)


def slice_at(log_variance, z, noise, scale, base, points, refine):
    """Return the inner integral over μ, and the mean of N(y | μ, σ²) under it, for every subset at one σ²."""
    sd = np.exp(log_variance / 2)
    mu, step = mu_grid(sd, z, base, refine)
    subsets = (np.arange(2 ** len(z))[:, None] >> np.arange(len(z))) & 1
    log_joint = subsets @ log_release_density(z[:, None], mu, sd, noise, scale)
    log_joint += stats.norm.logpdf(mu, base.mean, sd / np.sqrt(base.precision_scale))
    log_mass = special.logsumexp(log_joint, axis=1, keepdims=True)
    density = np.exp(log_joint - log_mass) @ stats.norm.pdf(points, mu[:, None], sd)
    # The density of log σ² is that of σ² times σ².
    log_prior = stats.invgamma.logpdf(sd**2, base.shape, scale=base.rate) + log_variance
    return log_mass[:, 0] + np.log(step) + log_prior, density


def mu_grid(sd, z, base, refine):
    """Return nodes and step over the hull of prior mean and releases, and SPAN prior deviations more."""
    reach = SPAN * np.sqrt(refine) * sd / np.sqrt(base.precision_scale)
    low, high = min(z.min(), base.mean) - reach, max(z.max(), base.mean) + reach
    # n releases, one new Y and the prior: the narrowest product of normals on the grid.
    step = MU_STEP / refine * sd / np.sqrt(len(z) + 1 + base.precision_scale)
    return np.linspace(low, high, int(np.ceil((high - low) / step)) + 1, retstep=True)


def log_variance_grid(z, base, refine):
    """Return nodes of log σ²; at most n/2 is added to the shape, and the squared deviations to the rate."""
    full_shape = base.shape + len(z) / 2
    spread = base.rate + np.sum((z - base.mean) ** 2)
    low = np.log(base.rate / special.gammainccinv(full_shape, TAIL**refine))
    high = np.log(spread / special.gammaincinv(base.shape, TAIL**refine))
    step = min(0.15, LOG_VARIANCE_STEP / np.sqrt(full_shape)) / refine
    return np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)


def log_release_density(z, mu, sd, noise, scale):
    """Return log g(z | μ, σ²), the density of a release given its cluster."""
    if noise == "gaussian":
        return stats.norm.logpdf(z, mu, np.hypot(sd, scale))
    if noise == "laplace":
        return log_normal_laplace(z, mu, sd, scale)
    raise ValueError(f'noise = {noise!r} was given; the oracle knows "laplace" and "gaussian".')


def log_normal_laplace(z, mu, sd, scale):
    """Return the log density of N(μ, σ²) plus Laplace noise: one half from either side of z."""
    d, ratio = (z - mu) / sd, sd / scale
    return np.logaddexp(_log_side(d, ratio), _log_side(-d, ratio)) - np.log(2 * scale)


def _log_side(d, ratio):
    """Return log[exp(r²/2 − r d) Φ(d − r)]; for d < r by erfcx, since there the factors nearly cancel."""
    gap = ratio - d
    scaled = -0.5 * d**2 + np.log(0.5 * special.erfcx(np.maximum(gap, 0) / np.sqrt(2)))
    return np.where(gap > 0, scaled, 0.5 * ratio**2 - ratio * d + special.log_ndtr(-gap))
