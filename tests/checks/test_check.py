"""Checks in words: each finding appears when it should, and not otherwise."""

import math
from dataclasses import replace

import numpy as np
import pytest

from privmix import Posterior, PrivateMixture, kernels, mechanisms, samplers
from privmix.checks.check import acceptance_bound

pytestmark = pytest.mark.xdist_group("fits")

UNIT = (0.0, 1.0)
LAPLACE = mechanisms.Laplace(epsilon=2.0, bounds=UNIT)


def beta_fit(mechanism=LAPLACE, kernel=None, y=None, **run):
    y = np.random.default_rng(1).beta(2.0, 3.0, 60) if y is None else y
    model = PrivateMixture(mechanism, kernel or kernels.Beta())
    options = {"draws": 1500, "warmup": 300, "thin": 4, "chains": 2, "seed": 1} | run
    return model.sample(mechanism.privatize(y, seed=1), samplers.Neal5(), **options)


@pytest.fixture(scope="module")
def good():
    return beta_fit()


def titles(posterior, level):
    return [finding.title for finding in posterior.check(replicates=200) if finding.level == level]


def test_a_good_fit_has_no_warning(good):
    assert titles(good, "warning") == []
    assert set(titles(good, "good")) == {"chains", "acceptance", "fit to the release"}


def test_short_single_and_interrupted_runs():
    posterior = beta_fit(draws=20, warmup=5, thin=1, chains=1)
    posterior.datatree.attrs["complete"] = 0
    found = {finding.title: finding for finding in posterior.check(replicates=50)}
    assert found["interrupted"].level == found["short chains"].level == found["chains"].level == "warning"
    assert found["one chain"].level == "note"
    assert "20 draws a chain" in found["short chains"].text
    assert "resume" in found["interrupted"].advice
    assert str(found["interrupted"]).startswith("warning: interrupted: the run was stopped; 1 chains of 20 draws")


def test_chains_that_differ(good):
    tree = good.datatree.copy(deep=True)
    tree["posterior"]["n_clusters"].values[0] += 5
    apart = Posterior(good.plan, good.arrays, good.ends, tree)
    finding = apart.check(replicates=50)[0]
    assert (finding.level, finding.title) == ("warning", "chains")
    assert "(of n_clusters)" in finding.text


def test_bound_holds_for_pure_privacy_and_a_kernel_inside_the_bounds(good):
    assert acceptance_bound(good) == pytest.approx(math.exp(-2.0))
    assert good.acceptance > acceptance_bound(good)

    def with_parts(**parts):
        return Posterior(replace(good.plan, model=replace(good.model, **parts)), good.arrays, good.ends, good.datatree)

    assert acceptance_bound(with_parts(kernel=kernels.Normal())) is None
    assert acceptance_bound(with_parts(kernel=kernels.Beta(bounds=(0.0, 2.0)))) is None
    assert acceptance_bound(with_parts(mechanism=mechanisms.Gaussian(scale=1.0, bounds=UNIT))) is None
    assert acceptance_bound(with_parts(mechanism=mechanisms.Laplace(scale=1.0))) is None


def with_acceptance(posterior, rate, **plan):
    tree = posterior.datatree.copy(deep=True)
    tree["sample_stats"]["acceptance"].values[:] = rate
    return Posterior(replace(posterior.plan, **plan), posterior.arrays, posterior.ends, tree)


def test_low_acceptance(good):
    below = with_acceptance(good, 0.05).check(replicates=50)[0]
    assert (below.level, below.title) == ("warning", "acceptance")
    assert "below the bound e^−ε = 13.53%" in below.text
    model = replace(good.model, mechanism=mechanisms.Laplace(epsilon=20.0, bounds=UNIT))
    low = [f for f in with_acceptance(good, 0.005, model=model).check(replicates=50) if f.title == "acceptance"]
    assert low[0].level == "warning"
    assert "only 0.50% of proposed records" in low[0].text
    # Steps on labels have no such rate.
    exact = with_acceptance(good, 0.005, sampler=samplers.Neal8())
    assert "acceptance" not in [finding.title for finding in exact.check(replicates=50)]


def test_mass_outside_the_bounds():
    kernel = kernels.Normal(mean=0.5, precision_scale=1.0, shape=3.0, rate=1.0)
    posterior = beta_fit(kernel=kernel, draws=200)
    found = {finding.title: finding for finding in posterior.check(replicates=50)}
    assert found["mass outside the bounds"].level == "note"
    assert "Beta" in found["mass outside the bounds"].advice
    plan = replace(posterior.plan, model=replace(posterior.model, restricted_to=UNIT))
    restricted = Posterior(plan, posterior.arrays, posterior.ends, posterior.datatree)
    cut = {finding.title: finding for finding in restricted.check(replicates=50)}
    assert "renormalised" in cut["mass outside the bounds"].text


def test_records_that_were_clipped(good):
    y = np.where(np.random.default_rng(3).random(300) < 0.4, 1.0, np.random.default_rng(4).beta(2.0, 3.0, 300))
    posterior = beta_fit(mechanisms.Laplace(epsilon=200.0, bounds=UNIT), y=y, draws=300)
    found = [finding for finding in posterior.check(replicates=50) if finding.title == "crowded bound"]
    assert len(found) == 1
    assert "at the upper bound 1" in found[0].text
    assert "crowded bound" not in titles(good, "note")


def test_a_model_that_cannot_make_the_release():
    """Noise three times as large as stated, in a model that has no room for it."""
    y = np.random.default_rng(1).beta(2.0, 3.0, 200)
    z = mechanisms.Laplace(scale=1.5, bounds=UNIT).privatize(y, seed=1)
    posterior = PrivateMixture(LAPLACE, kernels.Beta()).sample(
        z, samplers.Neal5(), draws=300, warmup=1000, thin=1, chains=2, seed=1
    )
    finding = next(f for f in posterior.check(replicates=1000) if f.title == "fit to the release")
    assert finding.level == "warning"
    assert "noise" in finding.advice
