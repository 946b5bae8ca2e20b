"""Measures and targets against independent answers."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

import privmix
from privmix import mechanisms
from privmix.studies.defaults import TARGETS as SHAPES
from privmix.studies.donors import BOUNDS, COUNTS, EDGES, HISTOGRAM, MECHANISMS, empirical_base, synthetic_donors
from privmix.studies.laplace import KERNEL, prior_density
from privmix.studies.shared.fits import coverage
from privmix.studies.shared.measures import (
    adjusted_rand_index,
    clusters_ess,
    hellinger,
    l1_error,
    log_score,
    spread_draws,
)
from privmix.studies.shared.targets import RIPPLE, THREE_BETAS, THREE_NORMALS

TARGETS = {"betas": THREE_BETAS, "donors": HISTOGRAM, **{name: one.use for name, one in SHAPES.items()}}
# Where a density jumps or has a narrow peak, quadrature needs to be told.
BREAKS = {"donors": EDGES, "inflated": [0.1], "half-uniform": [-8.0, -2.0], "claw": [-1.0, -0.5, 0.0, 0.5, 1.0]}


def pair_counting(first, second):
    """Return the adjusted Rand index by going through all pairs of records."""
    pairs = list(itertools.combinations(range(len(first)), 2))
    a = np.array([first[i] == first[j] for i, j in pairs], float)
    b = np.array([second[i] == second[j] for i, j in pairs], float)
    expected = a.sum() * b.sum() / len(pairs)
    return ((a * b).sum() - expected) / (0.5 * (a.sum() + b.sum()) - expected)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_rand_index_counts_pairs(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 4, 30), rng.integers(-3, 3, 30)
    second[:15] = first[:15]
    assert adjusted_rand_index(first, second) == pytest.approx(pair_counting(first, second), abs=1e-12)
    assert adjusted_rand_index(first, (first + 7) % 5) == pytest.approx(1.0)


def test_adjusted_rand_index_of_trivial_partitions():
    one, singletons = np.zeros(6), np.arange(6)
    assert adjusted_rand_index(one, one) == 1.0
    assert adjusted_rand_index(singletons, singletons) == 1.0
    assert adjusted_rand_index(one, singletons) == 0.0


def test_hellinger_of_two_normals():
    grid = np.linspace(-30.0, 30.0, 4001)
    first, second = stats.norm(0.0, 1.0), stats.norm(1.0, 2.0)
    exact = np.sqrt(1.0 - np.sqrt(2.0 * 1.0 * 2.0 / 5.0) * np.exp(-1.0 / 20.0))
    assert hellinger(first.pdf(grid), second.pdf(grid), grid) == pytest.approx(exact, abs=1e-9)
    assert hellinger(first.pdf(grid), first.pdf(grid), grid) == pytest.approx(0.0, abs=1e-6)


def test_log_score_of_a_normal_is_its_entropy_and_of_another_less_by_their_divergence():
    first, second, grid = stats.norm(0.0, 1.0), stats.norm(1.0, 2.0), np.linspace(-12.0, 12.0, 4001)
    divergence = np.log(2.0) + (1.0 + 1.0) / 8.0 - 0.5
    assert log_score(first.pdf(grid), first.pdf(grid)) == pytest.approx(-first.entropy(), abs=1e-9)
    assert log_score(second.pdf(grid), first.pdf(grid)) == pytest.approx(-first.entropy() - divergence, abs=1e-9)
    assert np.isfinite(log_score(np.zeros(4001), first.pdf(grid)))


def test_the_ripple_is_a_cosine_on_a_flat_density():
    grid = RIPPLE.grid(1000)
    np.testing.assert_allclose(RIPPLE.density(grid), 0.1 * (1.0 - 0.5 * np.cos(0.8 * np.pi * grid)), rtol=1e-9)


def test_l1_error_of_the_uniform_density_is_the_published_one():
    grid = THREE_NORMALS.grid(1000)
    assert l1_error(np.ones(1000), THREE_NORMALS.density(grid), grid) == pytest.approx(0.837, abs=5e-4)


@pytest.mark.parametrize("name", TARGETS)
def test_targets_integrate_to_one_and_are_drawn_from(name):
    target = TARGETS[name]
    points = [*target.bounds, *BREAKS.get(name, [-5.0, 0.07, 0.5, 0.93])]
    cuts = sorted(point for point in points if target.bounds[0] <= point <= target.bounds[1])
    inside = [integrate.quad(lambda y: target.density(np.array([y]))[0], a, b)[0] for a, b in itertools.pairwise(cuts)]
    assert sum(inside) == pytest.approx(1.0, abs=1e-6)
    y, label = target.draw(np.random.default_rng(3), 4000)
    assert target.bounds[0] <= y.min() <= y.max() <= target.bounds[1]
    grid = np.linspace(*target.bounds, 20_001)
    steps = np.concatenate([[0.0], np.cumsum(target.density(0.5 * (grid[1:] + grid[:-1])) * np.diff(grid))])
    assert stats.kstest(y, lambda x: np.interp(x, grid, steps / steps[-1])).pvalue > 1e-6
    inside = np.array([one.cdf(target.bounds[1]) - one.cdf(target.bounds[0]) for one in target.components])
    shares = inside * (target.weights or 1.0)
    counts = np.bincount(label, minlength=len(shares))
    assert np.abs(counts - 4000 * shares / shares.sum()).max() < 5.0 * np.sqrt(1000)


def test_prior_mean_density_is_that_of_draws_from_the_base_measure():
    variance = stats.invgamma(KERNEL.shape, scale=KERNEL.rate).rvs(200_000, random_state=1)
    total = variance * (1.0 + 1.0 / KERNEL.precision_scale)
    for y in (-6.0, 0.0, 3.0):
        values = stats.norm(KERNEL.mean, np.sqrt(total)).pdf(y)
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - prior_density(np.array([y]))[0]) < 5.0 * error


def test_synthetic_donors_have_the_published_histogram_and_budget():
    y = synthetic_donors(np.random.default_rng(1))
    np.testing.assert_array_equal(np.histogram(y, EDGES)[0], COUNTS)
    assert COUNTS.sum() == len(y) == 100
    for name in ("laplace", "gaussian"):
        mechanism = MECHANISMS[name].use(rho=17.8, bounds=BOUNDS)
        assert mechanism.scale == pytest.approx(3.11 / np.sqrt(2 * 17.8))


def test_empirical_base_measure_has_the_moments_that_the_paper_asks_for():
    z = np.random.default_rng(1).normal(5.0, 1.3, 100)
    base = empirical_base(z)
    law = stats.invgamma(base["shape"], scale=base["rate"])
    assert law.mean() == pytest.approx(0.5 * np.var(z, ddof=1))
    assert law.var() == pytest.approx(0.5)
    assert base["mean"] == pytest.approx(z.mean())


def test_fewer_draws_are_evenly_spaced_and_keep_the_rest():
    mechanism = mechanisms.Laplace(epsilon=20.0, bounds=(-10.0, 10.0))
    z = mechanism.privatize(THREE_NORMALS.draw(np.random.default_rng(1), 30)[0], seed=2)
    # The combination that the cells of `mechanisms` and `accuracy` use too: compiled once.
    posterior = privmix.fit(z, mechanism, draws=90, warmup=50, chains=2, seed=3)
    few = spread_draws(posterior, 50)
    np.testing.assert_array_equal(few.n_clusters, posterior.n_clusters[:, 3::4])
    assert few.model == posterior.model
    assert spread_draws(posterior, 180) is posterior
    assert 0.0 < clusters_ess(posterior) < 2000.0
    grid = THREE_NORMALS.grid(50)
    all_draws = posterior.density_draws(grid)[:, 3::4].values.reshape(-1, 50)
    np.testing.assert_allclose(few.density(grid)["mean"], all_draws.mean(axis=0))


def test_coverage_weighs_points_by_the_true_mass():
    grid = THREE_NORMALS.grid(400)
    truth = THREE_NORMALS.density(grid)
    band = {"lower": np.where(grid < 0.0, 0.0, 9.0), "upper": np.full(400, 9.0)}
    band = {name: type("Array", (), {"values": values}) for name, values in band.items()}
    assert coverage(band, THREE_NORMALS, grid) == pytest.approx(0.5, abs=1e-6)
    assert truth.max() < 9.0
