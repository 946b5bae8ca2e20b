"""The grid of a density follows its spikes, and is left alone where there are none."""

import numpy as np
import pytest

import privmix
from privmix import mechanisms, samplers
from privmix.plots import plot_density

pytestmark = pytest.mark.xdist_group("fits")

UNIFORM = np.random.default_rng(1).uniform(0.0, 1.0, 100)
SPIKES = [(1000.0, np.full(150, 0.37)), (5000.0, np.full(150, 0.37)), (5000.0, np.zeros(150))]
SPIKES += [(1000.0, np.concatenate([np.full(100, 0.2), UNIFORM]))]


def fit(epsilon, y, bounds=(0.0, 1.0)):
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=bounds)
    z = mechanism.privatize(bounds[0] + (bounds[1] - bounds[0]) * y, seed=1)
    return privmix.default_model(mechanism).sample(z, samplers.Slice(), draws=100, warmup=200, thin=1, chains=2, seed=1)


@pytest.mark.parametrize(("epsilon", "y"), SPIKES)
def test_density_integrates_to_one_however_narrow(epsilon, y):
    posterior = fit(epsilon, y)
    density, plain = posterior.density(), posterior.density(posterior.default_grid())
    assert abs(np.trapezoid(plain["mean"], plain["y"]) - 1.0) > 0.2  # what the default grid alone says
    assert np.trapezoid(density["mean"], density["y"]) == pytest.approx(1.0, abs=0.01)
    grid = density["y"].values
    assert (np.diff(grid) > 0.0).all()
    assert set(posterior.default_grid()) <= set(grid)
    assert len(grid) < 1000
    assert np.array_equal(posterior.density_draws()["y"], grid)


def test_smooth_densities_keep_their_grid():
    posterior = fit(10.0, UNIFORM)
    assert np.array_equal(posterior.density()["y"], posterior.default_grid())


def test_spikes_are_followed_at_any_scale_and_drawn():
    posterior = fit(1000.0, np.full(150, 0.37), (-1e9, 1e9))
    density = posterior.density()
    assert np.trapezoid(density["mean"], density["y"]) == pytest.approx(1.0, abs=0.01)
    assert plot_density(posterior).lines[0].get_ydata().max() == density["mean"].max()
    # Points that are watched for convergence are where the mass is.
    watched = [float(name.split()[-1]) for name in posterior.summary().index if name.startswith("density at")]
    assert np.ptp(watched) < 1e8
