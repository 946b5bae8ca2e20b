"""Predictive draws of records and releases, and the checks made of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from privmix import Posterior, PrivateMixture, kernels, mechanisms, samplers

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=100, warmup=50, thin=1, chains=2, seed=1)


@pytest.mark.parametrize("interval", [None, (-10.0, 10.0), (0.0, 2.0)])
def test_records_follow_the_mean_distribution(posterior, interval):
    plan = replace(posterior.plan, model=replace(posterior.model, restricted_to=interval))
    fit = Posterior(plan, posterior.arrays, posterior.ends, posterior.datatree)
    sample = fit.predictive(20_000, seed=1)
    y = sample["y"].values
    if interval is not None:
        assert ((y >= interval[0]) & (y <= interval[1])).all()
    assert stats.kstest(y, lambda x: fit.cdf(x)["mean"].values).pvalue > 1e-4
    noise = sample["z"].values - y
    assert stats.kstest(noise, stats.laplace(scale=4.0).cdf).pvalue > 1e-4


def test_seed_repeats_the_sample(posterior):
    assert posterior.predictive(50, seed=3).identical(posterior.predictive(50, seed=3))
    assert not posterior.predictive(50, seed=3).identical(posterior.predictive(50, seed=4))


def test_noise_by_record_comes_in_its_order():
    scale = np.tile([0.15, 50.0], 15)
    mechanism = mechanisms.Laplace(scale=scale, bounds=(-10.0, 10.0))
    fit = PrivateMixture(mechanism).sample(Z, samplers.Neal5(), draws=20, warmup=10, thin=1, chains=1, seed=1)
    sample = fit.predictive(45, seed=1)
    gap = np.abs(sample["z"] - sample["y"]).values
    assert gap.shape == (45,)
    assert gap[::2].max() < 2.0
    assert np.median(gap[1::2]) > 10.0


def test_rows_are_released_as_rows():
    mechanism = mechanisms.HaarWavelet(levels=1, epsilon=5.0, bounds=(-10.0, 10.0))
    z = mechanism.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)
    fit = PrivateMixture(mechanism).sample(z, samplers.Neal5(), draws=20, warmup=10, thin=1, chains=1, seed=1)
    assert fit.predictive(7, seed=1)["z"].shape == (7, 3)
    table = fit.predictive_check(replicates=50)
    assert list(table["statistic"].values) == ["mean", "sd", "distance"]


COUNTS = mechanisms.NoisyHistogram(300, 10, epsilon=2.0, bounds=(-10.0, 10.0))


@pytest.fixture(scope="module")
def whole():
    """A fit to one release of a whole data set."""
    z = COUNTS.privatize(np.random.default_rng(5).normal(1.0, 2.0, 300), seed=6)
    return PrivateMixture(COUNTS).sample(z, draws=200, warmup=200, thin=1, chains=2, seed=1)


def test_release_of_a_whole_data_set(whole):
    sample = whole.predictive(4, seed=1)
    assert sample["y"].shape == (4, 300)
    assert sample["z"].shape == (4, 10)
    assert np.abs(sample["z"].sum("z_0") - 300.0).max() < 30.0


def test_check_of_a_whole_release_tells_the_right_one(whole):
    right = whole.predictive_check(replicates=100)
    plan = replace(whole.plan, z=np.roll(whole.plan.z, 4))
    wrong = Posterior(plan, whole.arrays, whole.ends, whole.datatree).predictive_check(replicates=100)
    assert float(right["p_value"].sel(statistic="distance")) > 0.02
    assert float(wrong["p_value"].sel(statistic="distance")) < 0.02


def test_predictive_check_has_what_a_plot_needs(posterior):
    table = posterior.predictive_check(replicates=200, seed=2)
    assert table["observed"].sel(statistic="mean").item() == pytest.approx(Z.mean())
    assert table["observed"].sel(statistic="largest").item() == Z.max()
    assert table["replicated"].shape == (7, 200)
    assert table["replicated_share"].shape == (200, 20)
    values = table["replicated"].sel(statistic="sd").values
    assert table["share_above"].sel(statistic="sd").item() == pytest.approx(np.mean(values > Z.std()))
    width = (table["bin_upper"] - table["bin_lower"]).values
    assert 0.9 < float((table["observed_histogram"] * width).sum()) <= 1.0 + 1e-9
    assert table["replicated_histogram"].shape == (200, table.sizes["bin"])
    # Two-sided, so that both a small and a large mean are unusual.
    assert (table["p_value"] <= 1.0).all()
    assert (table["p_value"] > 0.0).all()


def test_p_values_are_not_small_under_the_model_and_small_beside_it():
    """Releases from the model itself, and the same with twice the noise that the mechanism states."""
    small, wrong = [], []
    for seed in range(8):
        y = np.random.default_rng(seed).normal(0.0, 2.0, 200)
        for scale, found in ((4.0, small), (8.0, wrong)):
            z = mechanisms.Laplace(scale=scale).privatize(y, seed=seed)
            kernel = kernels.Normal(precision_scale=1.0, shape=30.0, rate=90.0)
            fit = PrivateMixture(MECHANISM, kernel).sample(z, draws=100, warmup=100, thin=1, chains=1, seed=1)
            found.append(float(fit.predictive_check(replicates=100)["p_value"].min()))
    assert np.median(small) > 0.05
    assert np.median(wrong) < 0.02


def test_statistics_of_ones_own(posterior):
    table = posterior.predictive_check({"above 5": lambda z: np.mean(z > 5.0)}, replicates=50)
    assert table["observed"].item() == np.mean(Z > 5.0)
    assert list(table["statistic"].values) == ["above 5"]


def test_bad_input(posterior):
    for size in (0, -1, 2.5, True, None):
        with pytest.raises(ValueError, match=r"^size must be a whole number of at least 1; got"):
            posterior.predictive(size)
    for replicates in (5, 100.0, True):
        with pytest.raises(ValueError, match=r"^replicates must be a whole number of at least 20; got"):
            posterior.predictive_check(replicates=replicates)
    with pytest.raises(ValueError, match="statistics is empty"):
        posterior.predictive_check({})
    with pytest.raises(TypeError, match="the statistic 'a' must be a function of a release; got 3"):
        posterior.predictive_check({"a": 3})
    with pytest.raises(ValueError, match="must return one finite number; it gave"):
        posterior.predictive_check({"a": lambda z: z})
