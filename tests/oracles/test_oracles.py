"""The oracles against brute force, adaptive quadrature, closed forms and plain Monte Carlo."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

from privmix.testing.partitions import (
    canonical,
    cluster_count_pmf,
    expected_clusters,
    log_crp,
    partition_index,
    set_partitions,
)

from . import truncated_partitions
from .normal_partitions import (
    Base,
    density_mean,
    integrate_clusters,
    log_release_density,
    partition_posterior,
    weigh_partitions,
)

Z = np.array([-1.3, -0.4, 0.9, 4.2])
CONCENTRATION = 0.8
BASE = Base(mean=0.3, precision_scale=0.1, shape=3.0, rate=3.0)
NOISES = [("laplace", 1.0), ("gaussian", 1.2)]
PRIOR_SCALE = np.sqrt(BASE.rate / BASE.shape * (1 + 1 / BASE.precision_scale))
PRIOR_PREDICTIVE = stats.t(2 * BASE.shape, BASE.mean, PRIOR_SCALE)


# --- partitions


@pytest.mark.parametrize(("n", "bell"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_set_partitions_are_all_different_and_canonical(n, bell):
    partitions = set_partitions(n)
    assert len(set(partitions)) == len(partitions) == bell
    assert all(canonical(p) == p for p in partitions)
    assert partitions == sorted(partitions)


def test_canonical_numbers_labels_by_first_appearance():
    assert canonical([7, -2, 7, 0, -2]) == (0, 1, 0, 2, 1)
    assert canonical(np.array([3, 3, 3])) == (0, 0, 0)


def test_partition_index_agrees_with_canonical_on_arbitrary_labels():
    labels = np.random.default_rng(1).integers(-3, 40, size=(3000, 5)) // 9
    expected = [set_partitions(5).index(canonical(row)) for row in labels]
    np.testing.assert_array_equal(partition_index(labels, 5), expected)
    assert len(set(expected)) == 52


def test_partition_index_refuses_rows_of_another_length():
    with pytest.raises(ValueError, match=r"shape \(2, 3\); one row of 4 labels"):
        partition_index(np.zeros((2, 3), int), 4)


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 1.0, 7.0, 1e6])
def test_partition_law_sums_to_one_with_the_rising_factorial_over_records(alpha):
    assert sum(np.exp(log_crp(p, alpha)) for p in set_partitions(5)) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 7.0])
def test_partition_law_does_not_sum_to_one_with_the_rising_factorial_over_clusters(alpha):
    def printed(partition):
        sizes = np.bincount(partition)
        return alpha ** len(sizes) / special.poch(alpha, len(sizes)) * special.factorial(sizes - 1).prod()

    assert sum(printed(p) for p in set_partitions(5)) > 2


def test_partition_law_is_that_of_sequential_seating():
    for partition in set_partitions(5):
        probability = 1.0
        for i in range(1, 5):
            seated = partition[:i].count(partition[i])
            probability *= (seated or 1.7) / (1.7 + i)
        assert np.exp(log_crp(partition, 1.7)) == pytest.approx(probability, rel=1e-12)


@pytest.mark.parametrize("concentration", [0.0, -1.0, np.inf, np.nan, (1.0, 0.0), (-2.0, 1.0)])
def test_concentration_must_be_positive(concentration):
    with pytest.raises(ValueError, match="must be a positive, finite number"):
        cluster_count_pmf(4, concentration)


# --- the number of clusters


@pytest.mark.parametrize("alpha", [0.05, 1.0, 6.0])
def test_cluster_count_is_the_sum_over_partitions(alpha):
    brute = np.zeros(6)
    for partition in set_partitions(5):
        brute[len(set(partition))] += np.exp(log_crp(partition, alpha))
    np.testing.assert_allclose(cluster_count_pmf(5, alpha), brute, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 40, 200, 1000])
@pytest.mark.parametrize("concentration", [1e-3, 1.0, 50.0, (2.0, 4.0), (1, 1), (0.05, 0.1), (400.0, 40.0)])
def test_cluster_count_sums_to_one_with_the_expected_mean(n, concentration):
    pmf = cluster_count_pmf(n, concentration)
    assert pmf.shape == (n + 1,)
    assert pmf.sum() == pytest.approx(1, rel=1e-10)
    assert np.arange(n + 1) @ pmf == pytest.approx(expected_clusters(n, concentration), rel=1e-10)


def test_cluster_count_is_the_law_of_independent_new_tables():
    pmf, alpha = np.array([0.0, 1.0]), 2.5
    for i in range(1, 300):
        pmf = np.convolve(pmf, [i / (alpha + i), alpha / (alpha + i)])
    np.testing.assert_allclose(cluster_count_pmf(300, alpha), pmf, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("n", [1, 3, 200])
def test_expected_clusters_in_closed_form(n):
    alpha = 1.3
    closed = alpha * (special.digamma(alpha + n) - special.digamma(alpha))
    assert expected_clusters(n, alpha) == pytest.approx(closed, rel=1e-12)


def test_hyperprior_average_for_two_records_in_closed_form():
    # E[1/(1 + α)] for α ~ Exponential(1) is e·E₁(1).
    apart = 1 - np.e * special.exp1(1.0)
    np.testing.assert_allclose(cluster_count_pmf(2, (1.0, 1.0)), [0, 1 - apart, apart], rtol=1e-11)
    assert expected_clusters(2, (1.0, 1.0)) == pytest.approx(1 + apart, rel=1e-11)


def test_hyperprior_average_agrees_with_adaptive_quadrature():
    prior = stats.gamma(2.0, scale=1 / 4.0)
    average = cluster_count_pmf(30, (2.0, 4.0))
    for k in (1, 3, 7):
        exact, _ = integrate.quad(lambda a, k=k: prior.pdf(a) * cluster_count_pmf(30, a)[k], 0, 15)
        assert average[k] == pytest.approx(exact, rel=1e-9)


# --- the density of a release


@pytest.mark.parametrize("sd", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("scale", [0.02, 0.7, 20.0])
@pytest.mark.parametrize("z", [-9.0, 0.2, 3.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_release_density_is_the_convolution(noise, z, scale, sd):
    mu, peak = 0.3, log_release_density(z, 0.3, sd, noise, scale)
    constant = peak + math.log(sd * math.sqrt(2 * math.pi))
    constant += math.log(2 * scale if noise == "laplace" else scale * math.sqrt(2 * math.pi))

    def relative(y):  # plain math, since scipy's laws are slow at single points
        error = abs(z - y) / scale
        exponent = error if noise == "laplace" else error**2 / 2
        return math.exp(-exponent - ((y - mu) / sd) ** 2 / 2 - constant)

    modes = [(z * sd**2 + mu * scale**2) / (sd**2 + scale**2), mu + sd**2 / scale, mu - sd**2 / scale]
    width = 40 * min(sd, scale)
    edges = np.array([z, mu, *modes])[:, None] + width * np.linspace(-1, 1, 41)
    edges = np.unique(edges.round(6))  # no interval of a few roundings, which quad reports
    total = sum(integrate.quad(relative, a, b, epsabs=1e-13)[0] for a, b in pairwise(edges))
    assert total == pytest.approx(1, rel=1e-9)


def test_unknown_noise_is_refused():
    with pytest.raises(ValueError, match="the oracle knows"):
        log_release_density(0.0, 0.0, 1.0, "cauchy", 1.0)


# --- the posterior of the partition and the density


@pytest.mark.parametrize("scale_factor", [0.05, 1.0, 30.0])
@pytest.mark.parametrize(("noise", "scale"), NOISES)
@pytest.mark.parametrize("base", [BASE, Base(-8.0, 2.0, 1.0, 0.1), Base(0.0, 0.01, 12.0, 30.0)])
def test_quadrature_has_converged(noise, scale, scale_factor, base):
    points = np.array([-6.0, 0.0, 2.0])
    scale = scale * scale_factor
    coarse, fine = (integrate_clusters(Z, noise, scale, base, points, refine) for refine in (1, 2))
    np.testing.assert_allclose(coarse.log_marginal, fine.log_marginal, rtol=0, atol=1e-10)
    np.testing.assert_allclose(coarse.predictive, fine.predictive, rtol=1e-9)


def test_prior_marginal_and_predictive_in_closed_form():
    points = np.linspace(-15, 15, 7)
    clusters = integrate_clusters(Z, "laplace", 0.7, BASE, points)
    assert clusters.log_marginal[0] == pytest.approx(0, abs=1e-11)
    np.testing.assert_allclose(clusters.predictive[0], PRIOR_PREDICTIVE.pdf(points), rtol=1e-10)


@pytest.mark.parametrize(("noise", "scale"), [("laplace", 1e-6), ("gaussian", 1e-6)])
def test_without_noise_the_marginals_are_the_conjugate_ones(noise, scale):
    clusters = integrate_clusters(Z, noise, scale, BASE, np.empty(0))
    for subset in range(1, 2 ** len(Z)):
        y = Z[[i for i in range(len(Z)) if subset >> i & 1]]
        covariance = BASE.rate / BASE.shape * (np.eye(len(y)) + 1 / BASE.precision_scale)
        law = stats.multivariate_t(np.full(len(y), BASE.mean), covariance, df=2 * BASE.shape)
        assert clusters.log_marginal[subset] == pytest.approx(law.logpdf(y), abs=1e-9)


def simulate(noise, scale, points, draws=2_000_000):
    """Draw partitions, atoms and Y from the prior and weigh them by q(z | y): no g and no quadrature."""
    rng, n = np.random.default_rng(20240607), len(Z)
    labels = np.zeros((draws, n), dtype=np.int64)
    for i in range(1, n):
        seat = rng.random(draws) * (CONCENTRATION + i)
        copied = labels[np.arange(draws), np.minimum(seat, i - 1).astype(int)]
        labels[:, i] = np.where(seat < i, copied, i)
    variance = BASE.rate / rng.standard_gamma(BASE.shape, size=(draws, n))
    mu = BASE.mean + np.sqrt(variance / BASE.precision_scale) * rng.standard_normal((draws, n))
    mu, variance = (np.take_along_axis(atoms, labels, axis=1) for atoms in (mu, variance))
    y = mu + np.sqrt(variance) * rng.standard_normal((draws, n))
    law = {"laplace": stats.laplace, "gaussian": stats.norm}[noise]
    weight = law.pdf(Z, y, scale).prod(axis=1)
    kernel = [stats.norm.pdf(point, mu, np.sqrt(variance)).sum(axis=1) for point in points]
    return labels, weight, kernel


def assert_weighted_mean(weight, values, expected):
    """Check a ratio estimate within five of its delta-method standard errors, and that it has bite."""
    error = np.sqrt(np.sum((weight * (values - expected)) ** 2)) / weight.sum()
    assert error < 0.005
    assert abs(np.average(values, weights=weight) - expected) < 5 * error


@pytest.mark.parametrize(("noise", "scale"), NOISES)
def test_posterior_agrees_with_draws_from_the_prior(noise, scale):
    points = np.array([-1.0, 1.0, 4.0])
    labels, weight, kernel = simulate(noise, scale, points)
    index = partition_index(labels, len(Z))
    exact = partition_posterior(Z, noise, scale, CONCENTRATION, *BASE)
    for position, probability in enumerate(exact):
        assert_weighted_mean(weight, index == position, probability)
    exact = density_mean(points, Z, noise, scale, CONCENTRATION, *BASE)
    for point, values, density in zip(points, kernel, exact, strict=True):
        predictive = CONCENTRATION * PRIOR_PREDICTIVE.pdf(point) + values
        assert_weighted_mean(weight, predictive / (CONCENTRATION + len(Z)), density)


@pytest.mark.parametrize(("noise", "scale"), NOISES)
def test_posterior_of_five_releases_is_symmetric_in_the_records(noise, scale):
    z, order = np.append(Z, 1.1), [3, 0, 4, 2, 1]
    plain = partition_posterior(z, noise, scale, CONCENTRATION, *BASE)
    permuted = partition_posterior(z[order], noise, scale, CONCENTRATION, *BASE)
    index = partition_index(np.array(set_partitions(5))[:, order], 5)
    np.testing.assert_allclose(permuted[index], plain, rtol=1e-9)
    assert plain.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_infinite_noise_leaves_the_prior(noise):
    points = np.linspace(-12, 12, 9)
    crp = [np.exp(log_crp(p, CONCENTRATION)) for p in set_partitions(len(Z))]
    np.testing.assert_allclose(partition_posterior(Z, noise, 1e7, CONCENTRATION, *BASE), crp, rtol=1e-5)
    density = density_mean(points, Z, noise, 1e7, CONCENTRATION, *BASE)
    np.testing.assert_allclose(density, PRIOR_PREDICTIVE.pdf(points), rtol=1e-5)


@pytest.mark.parametrize(("noise", "scale"), NOISES)
def test_density_integrates_to_one(noise, scale):
    # Uniform in asinh: dense at the clusters, and out to 1490, beyond which the prior predictive has 1e-14.
    t = np.linspace(-8, 8, 401)
    density = density_mean(np.sinh(t), Z, noise, scale, CONCENTRATION, *BASE)
    assert integrate.trapezoid(density * np.cosh(t), t) == pytest.approx(1, rel=1e-8)


# --- truncated components


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_truncated_partitions_do_not_depend_on_the_grid(noise):
    about = (np.array([-0.1, 0.15, 1.2]), noise, 0.2, CONCENTRATION, (0.0, 1.0), 0.0, 0.25, 2.0, 0.2)
    coarse, fine = (truncated_partitions.partition_posterior(*about, refine=refine) for refine in (1, 2))
    assert coarse == pytest.approx(fine, abs=1e-6)


def test_truncated_partitions_in_wide_bounds_are_those_of_normals():
    """With means at one place and one variance, both have the same components, and g is known."""
    z = np.array([-0.4, 0.2, 1.5])
    about = ("gaussian", 0.5, CONCENTRATION, (-12.0, 12.0), 0.3, 1.0, 400.0, 400.0)
    found = truncated_partitions.partition_posterior(z, *about)
    marginal = np.zeros(8)
    for mask in range(1, 8):
        members = z[[i for i in range(3) if mask >> i & 1]]
        covariance = 1.25 * np.eye(len(members)) + np.ones((len(members), len(members)))
        marginal[mask] = stats.multivariate_normal(np.full(len(members), 0.3), covariance).logpdf(members)
    exact = weigh_partitions(marginal, 3, CONCENTRATION)
    assert found == pytest.approx(exact, abs=2e-3)
