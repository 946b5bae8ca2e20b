"""Draws of the mixing measure from the prior, against the closed forms of the Dirichlet process."""

import numpy as np
import pytest
from scipy import stats

from privmix import PrivateMixture, kernels, mechanisms, priors
from privmix.curves.prior import prior_draws, prior_mean_density

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))


@pytest.mark.parametrize("concentration", [0.5, 1.0, 20.0])
def test_weights_are_those_of_a_dirichlet_process(concentration):
    """Σ w² has mean 1/(1 + α): the probability that two records share an atom."""
    model = PrivateMixture(MECHANISM, prior=priors.DirichletProcess(concentration))
    draws = prior_draws(model, 4000, np.random.default_rng(1), remainder=1e-6)
    assert draws.weight.sum(axis=2) == pytest.approx(np.ones((1, 4000)), abs=1e-12)
    together = (draws.weight[0] ** 2).sum(axis=1)
    error = together.std() / np.sqrt(4000)
    assert abs(together.mean() - 1.0 / (1.0 + concentration)) < 4.5 * error
    first = draws.weight[0, :, 0]
    assert abs(first.mean() - 1.0 / (1.0 + concentration)) < 4.5 * first.std() / np.sqrt(4000)


def test_room_grows_and_the_draw_does_not_depend_on_it():
    model = PrivateMixture(MECHANISM, prior=priors.DirichletProcess(30.0))
    small, large = (prior_draws(model, 5, np.random.default_rng(1), room=room) for room in (2, 1024))
    assert np.array_equal(small.weight, large.weight)
    assert np.array_equal(small.atom, large.atom, equal_nan=True)
    assert small.components.min() > 100


def test_mean_density_of_the_normal_inverse_gamma_is_a_t():
    kernel = kernels.Normal(mean=1.0, precision_scale=0.5, shape=3.0, rate=2.0)
    grid = np.linspace(-5.0, 7.0, 13)
    found = prior_mean_density(PrivateMixture(MECHANISM, kernel), grid, np.random.default_rng(1), 200_000)
    exact = stats.t(6.0, 1.0, np.sqrt(2.0 / 3.0 * 3.0)).pdf(grid)
    assert found == pytest.approx(exact, rel=0.05)


def test_mean_density_with_hyperparameters_and_a_restriction():
    """Against plain simulation: hyperparameters, sticks and atoms by NumPy, each density cut and renormalised."""
    rng, alpha, count = np.random.default_rng(2), 1.0, 1000
    grid, edges = np.array([-6.0, 0.0, 4.0]), np.array([-10.0, 10.0])
    values = np.empty((count, 3))
    for d in range(count):
        location, spread = rng.normal(0.0, 5.0), 25.0 / rng.gamma(2.0)
        rate = rng.gamma(2.0) / (2.0 / 3.0)
        nu = rng.beta(1.0, alpha, 30)
        weight = nu * np.concatenate([[1.0], np.cumprod(1.0 - nu)[:-1]])
        parts = stats.norm(rng.normal(location, np.sqrt(spread), 30), np.sqrt(rate / rng.gamma(3.0, size=30)))
        mass = weight @ np.diff(parts.cdf(edges[:, None]), axis=0)[0]
        values[d] = weight @ parts.pdf(grid[:, None]).T / mass if mass > 1e-3 else np.nan
    kernel, prior = kernels.HierarchicalNormal(MECHANISM.bounds), priors.DirichletProcess(alpha)
    model = PrivateMixture(MECHANISM, kernel, prior, restricted_to=MECHANISM.bounds)
    found = prior_mean_density(model, grid, np.random.default_rng(3), 20_000)
    error = np.nanstd(values, axis=0) / np.sqrt(count)
    assert (np.abs(found - np.nanmean(values, axis=0)) < 5.0 * error).all()
