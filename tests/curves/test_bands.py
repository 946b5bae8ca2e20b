"""Simultaneous bands: against a search by brute force, and over chunks."""

import numpy as np
import pytest

from privmix import PrivateMixture, mechanisms
from privmix.curves import density, mixture

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=2000, warmup=50, thin=1, chains=2, seed=1)


def curves(count, points, seed=1):
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(size=(count, points)).cumsum(axis=1))


def by_brute_force(values, level):
    """Try every pair of order statistics, from the narrowest that holds the pointwise band outwards."""
    count = len(values)
    ordered = np.sort(values, axis=0)
    for r in range(int(0.5 * (1.0 - level) * (count - 1)) + 1, 0, -1):
        low, high = ordered[r - 1], ordered[count - r]
        inside = np.mean(((values >= low) & (values <= high)).all(axis=1))
        if inside >= level - 1e-12:
            return low, high
    raise AssertionError("even the envelope of all curves is too narrow")


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("shape", [(400, 30), (101, 7), (37, 1)])
def test_simultaneous_band_is_the_narrowest_that_holds_enough_curves(level, shape):
    values = curves(*shape)
    low, high = by_brute_force(values, level)
    points = np.arange(shape[1])
    found = density.curve_bands(lambda some: values[:, some], points, shape[0], level)
    assert np.array_equal(found["simultaneous_lower"], low)
    assert np.array_equal(found["simultaneous_upper"], high)
    tail = 0.5 * (1.0 - level)
    pointwise = np.quantile(values, [tail, 1.0 - tail], axis=0)
    assert found["lower"] == pytest.approx(pointwise[0], rel=1e-12)
    assert found["upper"] == pytest.approx(pointwise[1], rel=1e-12)


def test_equal_values_are_inside():
    """A curve that is the same in all draws, such as a density of 0 outside the support, leaves the rest alone."""
    values = curves(200, 10)
    flat = np.concatenate([values, np.zeros((200, 5))], axis=1)
    alone = density.curve_bands(lambda some: values[:, some], np.arange(10), 200, 0.9)
    joined = density.curve_bands(lambda some: flat[:, some], np.arange(15), 200, 0.9)
    assert np.array_equal(joined["simultaneous_upper"][:10], alone["simultaneous_upper"])
    assert (joined["simultaneous_upper"][10:] == 0.0).all()


@pytest.mark.parametrize("held", [1, 100_000])
def test_parts_do_not_change_the_bands(posterior, monkeypatch, held):
    whole = posterior.density()
    monkeypatch.setattr(mixture, "NUMBERS_HELD", held)
    parts = posterior.density()
    for name in whole.data_vars:
        assert parts[name].values == pytest.approx(whole[name].values, rel=1e-12), name


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_share_of_drawn_densities_inside(posterior, level):
    band = posterior.density(level=level)
    draws = posterior.density_draws(band["y"].values)
    inside = ((draws >= band["simultaneous_lower"]) & (draws <= band["simultaneous_upper"])).all("y")
    assert level <= float(inside.mean()) <= level + 0.03
    assert (band["simultaneous_lower"] <= band["lower"]).all()
    assert (band["upper"] <= band["simultaneous_upper"]).all()


def test_at_one_point_both_bands_agree(posterior):
    band = posterior.density(1.0, level=0.8)
    draws = np.sort(posterior.density_draws(1.0).values.ravel())
    place = np.searchsorted(draws, band["lower"].item()) - np.searchsorted(draws, band["simultaneous_lower"].item())
    assert abs(int(place)) <= 1


@pytest.mark.parametrize("level", [True, "0.9", None])
def test_level_of_another_kind(posterior, level):
    with pytest.raises(ValueError, match=r"^level must be between 0 and 1; got"):
        posterior.density(level=level)


@pytest.mark.parametrize("interval", [None, (-2.0, 3.0)])
def test_mean_alone_is_that_of_the_bands(posterior, interval, monkeypatch):
    monkeypatch.setattr(mixture, "NUMBERS_HELD", 7 * 4000)  # 40 points in six parts
    kernel, draws, grid = posterior.model.kernel, posterior.arrays, np.linspace(-4.0, 5.0, 40)
    expected = density.density_bands(kernel, draws, grid, 0.9, interval)["mean"].values
    np.testing.assert_array_equal(density.density_mean(kernel, draws, grid, interval), expected)
    assert 0.0 < expected.max() < 1.0
