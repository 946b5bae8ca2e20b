"""Densities and bands of a posterior."""

from itertools import pairwise

import numpy as np
import pytest

from kernels.examples import Exponential
from numerics.quadrature import NODES, WEIGHTS
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.curves import density as module
from privmix.curves import mixture

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)
# Fine near the data and coarse far out, where the heavy tails of the base measure reach.
WIDE = 0.5 * np.sinh(np.linspace(-11.0, 11.0, 20_001))


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=60, warmup=20, thin=1, chains=2, seed=1)


@pytest.fixture(scope="module")
def cut():
    model = PrivateMixture(MECHANISM, kernels.HierarchicalNormal(MECHANISM.bounds), restricted_to=MECHANISM.bounds)
    return model.sample(Z, draws=60, warmup=20, chains=2, seed=1)


def integral_over(posterior, lower, upper, panels=400):
    """Return the integral of the density of every draw over an interval."""
    edges = np.linspace(lower, upper, panels + 1)
    half = 0.5 * np.diff(edges)[0]
    points = (edges[:-1, None] + half * (1.0 + NODES)).ravel()
    return half * posterior.density_draws(points).values @ np.tile(WEIGHTS, panels)


def test_every_draw_integrates_to_one(posterior):
    totals = np.trapezoid(posterior.density_draws(WIDE).values, WIDE, axis=-1)
    assert totals.shape == (2, 60)
    assert totals == pytest.approx(np.ones((2, 60)), abs=1e-6)


def test_density_of_a_draw_is_its_mixture(posterior):
    draws = posterior.datatree["posterior"].to_dataset()
    grid = np.array([-3.0, 0.0, 4.5])
    weight, mean, variance = (draws[name].values[..., None] for name in ("weight", "mean", "variance"))
    parts = weight * np.exp(-0.5 * (grid - mean) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)
    assert posterior.density_draws(grid).values == pytest.approx(np.nansum(parts, axis=2), rel=1e-12)


def test_support_renormalises_and_cuts(cut, posterior):
    assert posterior.model.restricted_to is None
    assert cut.model.restricted_to == (-10.0, 10.0)
    assert integral_over(cut, -10.0, 10.0) == pytest.approx(np.ones((2, 60)), abs=1e-9)
    outside = [-1e3, -10.0 - 1e-9, 10.0 + 1e-9, 50.0]
    assert (cut.density_draws(outside).values == 0.0).all()
    band = cut.density(outside)
    assert all((band[name] == 0.0).all() for name in ("mean", "lower", "upper"))
    assert (posterior.density(outside)["mean"] > 0.0).any()
    # The ends themselves belong to the interval.
    assert (cut.density([-10.0, 10.0])["mean"] > 0.0).all()


def test_mass_of_an_interval(posterior):
    """By the distribution function where the kernel has one, else by quadrature."""
    stacked = posterior.arrays
    mass = module.mass_inside(kernels.Normal(), stacked, (-3.0, 4.0))
    assert mass == pytest.approx(integral_over(posterior, -3.0, 4.0), abs=1e-9)
    bare = Exponential()
    assert not hasattr(type(bare), "cdf")
    draws = stacked._replace(atom=np.abs(stacked.atom[..., :1]) % 3.0 + 0.5)
    exact = np.nansum(draws.weight * -np.expm1(-8.0 * draws.atom[..., 0]), axis=-1)
    assert module.mass_inside(bare, draws, (0.0, 8.0)) == pytest.approx(exact, abs=1e-4)


def test_mean_is_the_mean_of_the_draws(posterior):
    grid = np.linspace(-12.0, 12.0, 41)
    draws = posterior.density_draws(grid)
    assert draws.dims == ("chain", "draw", "y")
    band = posterior.density(grid, level=0.8)
    assert band["mean"].values == pytest.approx(draws.mean(("chain", "draw")).values, rel=1e-12)
    low, high = np.quantile(draws.values.reshape(-1, 41), [0.1, 0.9], axis=0)
    assert band["lower"].values == pytest.approx(low, rel=1e-12)
    assert band["upper"].values == pytest.approx(high, rel=1e-12)
    assert band.attrs["level"] == 0.8
    assert np.array_equal(band["y"], grid)


def test_bands_contain_each_other(posterior):
    bands = [posterior.density(level=level) for level in (0.01, 0.5, 0.9, 0.999)]
    for narrow, wide in pairwise(bands):
        assert (wide["lower"] <= narrow["lower"]).all()
        assert (narrow["lower"] <= narrow["upper"]).all()
        assert (narrow["upper"] <= wide["upper"]).all()
    assert (bands[-1]["upper"] > bands[0]["upper"]).any()
    extremes = posterior.density_draws(bands[0]["y"]).values.reshape(-1, 200)
    assert (bands[-1]["lower"] >= extremes.min(axis=0)).all()
    assert (bands[-1]["upper"] <= extremes.max(axis=0)).all()


def test_parts_do_not_change_the_answer(posterior, monkeypatch):
    whole = posterior.density()
    monkeypatch.setattr(mixture, "NUMBERS_HELD", 1)
    parts = posterior.density()
    for name in ("mean", "lower", "upper"):
        assert parts[name].values == pytest.approx(whole[name].values, rel=1e-13)


def test_default_grid_covers_the_bounds(posterior):
    grid = posterior.default_grid()
    assert len(grid) == 200
    assert (np.diff(grid) > 0.0).all()
    assert -10.0 <= grid[0] < -9.8
    assert 9.8 < grid[-1] <= 10.0


@pytest.mark.parametrize("z", [[1.0], [1.0, 1.0, 1.0]])
def test_default_grid_has_distinct_points_when_all_records_are_equal(z):
    model = PrivateMixture(mechanisms.Identity())
    posterior = model.sample(z, samplers.Slice(), draws=10, warmup=5, thin=1, chains=1, seed=1)
    grid = posterior.default_grid()
    assert (np.diff(grid) > 0.0).all()
    assert grid[0] < 1.0 < grid[-1]


def test_one_point_is_a_grid(posterior):
    assert posterior.density(1.5)["mean"].shape == (1,)
    assert posterior.density_draws(1.5).shape == (2, 60, 1)


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        ([np.nan, 1.0], ValueError, "the grid has values that are NaN or infinite"),
        ([np.inf], ValueError, "the grid has values that are NaN or infinite"),
        (["a"], TypeError, r"the grid must be numbers; got \['a'\]"),
        ([], ValueError, r"the grid must be a sequence of numbers; got an array of shape \(0,\)"),
        ([[1.0, 2.0]], ValueError, r"the grid must be a sequence of numbers; got an array of shape \(1, 2\)"),
    ],
)
def test_bad_grid(posterior, grid, error, message):
    with pytest.raises(error, match=message):
        posterior.density(grid)
    with pytest.raises(error, match=message):
        posterior.density_draws(grid)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, np.nan])
def test_bad_level(posterior, level):
    with pytest.raises(ValueError, match=rf"^level must be between 0 and 1; got {level!r}\.$"):
        posterior.density(level=level)


def test_weights_sum_to_one_and_pad_with_nothing(posterior):
    draws = posterior.datatree["posterior"].to_dataset()
    components = posterior.datatree["sample_stats"]["n_components"].values
    assert draws["weight"].sum("component").values == pytest.approx(np.ones((2, 60)), abs=1e-12)
    unused = np.arange(draws.sizes["component"]) >= components[..., None]
    assert (draws["weight"].values[unused] == 0.0).all()
    assert np.isnan(draws["mean"].values[unused]).all()
    assert np.isfinite(draws["mean"].values[~unused]).all()
    assert (draws["allocation"].max("record").values + 1 == draws["n_clusters"].values).all()


def test_many_components_are_kept():
    """More components than the first room of 32: the draws are widened and nothing is lost."""
    model = PrivateMixture(MECHANISM, prior=priors.DirichletProcess(30.0))
    posterior = model.sample(Z, draws=5, warmup=5, thin=1, chains=1, seed=1)
    weight = posterior.datatree["posterior"]["weight"]
    assert weight.sizes["component"] > 32
    assert weight.sum("component").values == pytest.approx(np.ones((1, 5)), abs=1e-12)
