"""Thinned posteriors: draws evenly spaced over each chain, and the rest as it was."""

from dataclasses import replace

import numpy as np
import pytest

import privmix
from privmix import Posterior, PrivateMixture, mechanisms, samplers

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=20.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 12), seed=1)
POINTS = [0.0, 1.0]


@pytest.fixture(scope="module")
def posterior():
    model = PrivateMixture(MECHANISM, restricted_to=MECHANISM.bounds)
    return model.sample(Z, samplers.Slice(), draws=30, warmup=10, thin=2, chains=2, seed=3)


@pytest.mark.parametrize(("most", "step"), [(59, 2), (30, 2), (29, 3), (20, 3), (10, 6), (3, 20), (2, 30)])
def test_draws_are_evenly_spaced_and_at_most_as_many_as_asked(posterior, most, step):
    few = posterior.thinned(most)
    assert few.chains == 2
    assert few.chains * few.draws <= most
    np.testing.assert_array_equal(few.n_clusters, posterior.n_clusters[:, step - 1 :: step])
    expected = posterior.density_draws(POINTS)[:, step - 1 :: step]
    np.testing.assert_array_equal(few.density_draws(POINTS), expected)
    assert few.model.restricted_to == posterior.model.restricted_to == (-10.0, 10.0)
    assert (few.model, few.sampler) == (posterior.model, posterior.sampler)


def test_thinned_draws_are_in_order_and_kept_once(posterior):
    few = posterior.thinned(20)
    assert all(array.flags.c_contiguous for array in few.arrays)
    assert np.shares_memory(few.datatree["posterior"]["weight"].values, few.arrays.weight)
    np.testing.assert_array_equal(few.datatree["posterior"]["draw"], np.arange(2, 30, 3))


def test_few_enough_draws_stay_as_they_are(posterior):
    assert posterior.thinned(60) is posterior
    assert posterior.thinned(1000) is posterior


def test_every_chain_keeps_a_draw(posterior):
    with pytest.raises(ValueError, match="most must be a whole number of at least 2; got 1"):
        posterior.thinned(1)
    with pytest.raises(ValueError, match=r"most must be a whole number of at least 2; got 2\.5"):
        posterior.thinned(2.5)


def test_a_thinned_posterior_is_saved_and_goes_on_at_its_own_spacing(posterior, tmp_path):
    few = posterior.thinned(20)
    few.save(tmp_path / "few.nc")
    again = privmix.load(tmp_path / "few.nc")
    assert again.datatree["posterior"].to_dataset().identical(few.datatree["posterior"].to_dataset())
    # Thinned by 3 from 2 sweeps a draw: what the whole chains would give from the same end, 6 sweeps a draw.
    wide = Posterior(replace(posterior.plan, thin=6), posterior.arrays, posterior.ends, posterior.datatree).resume(4)
    for longer in (few.resume(4), again.resume(4)):
        np.testing.assert_array_equal(longer.n_clusters[:, :10], posterior.n_clusters[:, 2::3])
        np.testing.assert_array_equal(longer.density_draws(POINTS)[:, 10:], wide.density_draws(POINTS)[:, 30:])
