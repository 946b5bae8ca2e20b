"""Clusters of new records: by a plain sum over components, separated clusters recovered, and g by Monte Carlo."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import integrate, stats

from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.clusters import predict as module
from privmix.posterior import Posterior
from privmix.samplers.base import Draws

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Gaussian(scale=0.5, bounds=(-10.0, 10.0))
TRUTH = np.repeat([0, 1, 2], [25, 20, 15])
Z = MECHANISM.privatize(np.array([-7.0, 0.0, 7.0])[TRUTH] + np.random.default_rng(1).normal(0, 0.3, 60), seed=1)
NEW = np.array([-7.0, 0.2, 6.8, 60.0, -3.5])


@pytest.fixture(scope="module", params=[samplers.Neal5(exact=True), samplers.Slice()], ids=["Neal5", "Slice"])
def posterior(request):
    return PrivateMixture(MECHANISM).sample(Z, request.param, draws=150, warmup=300, thin=1, chains=2, seed=1)


def by_hand(posterior, z, labels):
    """Return the probabilities by a plain sum over draws and components, with SciPy's normal density."""
    draws = posterior.datatree["posterior"].to_dataset()
    out = np.zeros((len(z), labels.max() + 2))
    for c in range(draws.sizes["chain"]):
        for d in range(draws.sizes["draw"]):
            one = draws.isel(chain=c, draw=d)
            allocation, weight = one["allocation"].values, one["weight"].values
            for h in np.flatnonzero(weight > 0.0):
                spread = np.sqrt(float(one["variance"][h]) + 0.25)
                mass = weight[h] * stats.norm.pdf(z, float(one["mean"][h]), spread)
                members = labels[allocation == h]
                if len(members) == 0:
                    out[:, -1] += mass
                for k in members:
                    out[:, k] += mass / len(members)
    return out / out.sum(axis=1, keepdims=True)


def test_probabilities_are_those_of_the_formula(posterior):
    estimate = posterior.clustering()
    found = posterior.predict_proba(NEW, estimate)
    assert found.dims == ("record", "cluster")
    assert found["cluster"].values.tolist() == [*range(estimate.n_clusters), -1]
    assert found.values == pytest.approx(by_hand(posterior, NEW, estimate.labels), abs=1e-9)
    assert found.sum("cluster").values == pytest.approx(np.ones(5), abs=1e-12)


def test_separated_clusters_are_recovered(posterior):
    estimate = posterior.clustering()
    assert estimate.labels.tolist() == TRUTH.tolist()
    assert posterior.predict(NEW[:4]).tolist() == [0, 1, 2, -1]
    probability = posterior.predict_proba(NEW)
    assert (probability.values[[0, 1, 2], [0, 1, 2]] > 0.9).all()
    assert probability.sel(cluster=-1).values[3] > 0.99


def test_given_labels_may_have_any_names(posterior):
    found = posterior.predict_proba(NEW, TRUTH)
    renamed = posterior.predict_proba(NEW, np.array([70, -3, 5])[TRUTH])
    assert np.array_equal(found, renamed)
    assert np.array_equal(found, posterior.predict_proba(NEW, posterior.clustering()))


def test_each_record_by_itself(posterior):
    together = posterior.predict_proba(NEW, TRUTH).values
    alone = np.concatenate([posterior.predict_proba([z], TRUTH).values for z in NEW])
    assert together == pytest.approx(alone, abs=1e-12)


def test_noise_of_the_new_records_counts(posterior):
    loud = mechanisms.Gaussian(scale=np.array([0.5, 40.0]), bounds=(-10.0, 10.0))
    found = posterior.predict_proba([-7.0, -7.0], TRUTH, mechanism=loud).values
    assert found[0] == pytest.approx(posterior.predict_proba([-7.0], TRUTH).values[0], abs=1e-12)
    assert found[0, 0] > 0.9
    assert found[1, :3] == pytest.approx(np.array([25, 20, 15]) / 60, abs=0.05)


def test_records_with_noise_of_their_own_need_the_mechanism(posterior):
    mechanism = mechanisms.Gaussian(scale=np.full(60, 0.5), bounds=(-10.0, 10.0))
    plan = replace(posterior.plan, model=PrivateMixture(mechanism))
    varying = Posterior(plan, posterior.arrays, posterior.ends, posterior.datatree)
    with pytest.raises(ValueError, match=r"one scale for each record that was fitted.*mechanism=…"):
        varying.predict(Z, TRUTH)
    with pytest.raises(TypeError, match=r"must be the mechanism that released the new records; got 3\."):
        varying.predict(Z, TRUTH, mechanism=3)
    found = varying.predict_proba(NEW, TRUTH, mechanism=MECHANISM)
    assert np.array_equal(found, posterior.predict_proba(NEW, TRUTH))


def test_monte_carlo_agrees_with_the_closed_form(posterior, monkeypatch):
    exact = posterior.predict_proba(NEW[[0, 1, 2, 4]], TRUTH).values
    sampled = {module.propose: module.propose_records, module.log_released: module.monte_carlo}
    monkeypatch.setattr(module, "released_hooks", lambda model: sampled)
    found = posterior.predict_proba(NEW[[0, 1, 2, 4]], TRUTH, seed=1).values
    assert found[:3] == pytest.approx(exact[:3], abs=0.02)
    assert found[3] == pytest.approx(exact[3], abs=0.1)
    assert np.array_equal(found, posterior.predict_proba(NEW[[0, 1, 2, 4]], TRUTH, seed=1).values)
    assert not np.array_equal(found, posterior.predict_proba(NEW[[0, 1, 2, 4]], TRUTH, seed=2).values)


def test_a_pair_without_g_agrees_with_quadrature():
    """Three draws of two occupied components and an empty one, repeated so that Monte Carlo averages out."""
    model = PrivateMixture(mechanisms.Gaussian(scale=0.2, bounds=(0.0, 1.0)), kernels.Beta())
    assert model.convolution is None
    weight, shapes = np.array([0.5, 0.3, 0.2]), np.array([[2.0, 8.0], [9.0, 3.0], [1.5, 1.5]])
    labels, z, repeats = np.array([0, 0, 1, 0, 1]), np.array([0.2, 0.7, 1.1]), 400
    allocation = np.array([0, 0, 0, 1, 1], np.int32)
    draws = Draws(
        n_clusters=np.full((1, repeats), 2),
        concentration=np.ones((1, repeats)),
        hyper=np.zeros((1, repeats, 0)),
        components=np.full((1, repeats), 3),
        weight=np.broadcast_to(weight, (1, repeats, 3)),
        atom=np.broadcast_to(shapes, (1, repeats, 3, 2)),
        allocation=np.broadcast_to(allocation, (1, repeats, 5)),
        statistic=np.zeros((1, repeats, 1)),
    )
    found = module.membership(model, draws, draws.allocation[0].copy(), labels, z, None, 1)
    share = np.array([[2 / 3, 1 / 3, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])

    def g(at, a, b):
        return integrate.quad(lambda y: stats.norm.pdf(at, y, 0.2) * stats.beta.pdf(y, a, b), 0.0, 1.0)[0]

    wanted = np.array([[w * g(at, *shape) for w, shape in zip(weight, shapes, strict=True)] for at in z]) @ share
    assert found.values == pytest.approx(wanted / wanted.sum(axis=1, keepdims=True), abs=0.01)


@dataclass(frozen=True)
class Shown(mechanisms.Identity):
    """Identity for which no convolution is found."""


def test_revealed_records_use_the_kernel(monkeypatch):
    model = PrivateMixture(Shown())
    posterior = model.sample(Z, samplers.Slice(), draws=50, warmup=50, thin=1, chains=1, seed=1)
    wanted = posterior.predict_proba(NEW, TRUTH).values
    monkeypatch.setattr(PrivateMixture, "convolution", None)
    assert posterior.predict_proba(NEW, TRUTH).values == pytest.approx(wanted, abs=1e-12)


def test_impossible_records_are_refused():
    model = PrivateMixture(mechanisms.Identity(), kernels.Beta())
    module.check_possible(np.array([[0.3], [1.0]]), model)
    with pytest.raises(ValueError, match=r"^record 1 of z \(of 2 such\) has density zero in every draw"):
        module.check_possible(np.array([[1.0], [0.0], [np.nan]]), model)
