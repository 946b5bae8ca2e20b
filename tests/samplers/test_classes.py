"""Fits of counts of several classes of records, each through a mechanism of its own: one likelihood of all tables."""

import numpy as np
import pytest

import privmix
from oracles.histogram_partitions import normal_masses
from privmix import PrivateMixture, kernels, priors
from privmix.curves.counts import chances_finder
from privmix.engine.chains import Plan, run_chain
from privmix.mechanisms import Counted, CountedClasses, Laplace, RandomizedResponse, SquareWave
from privmix.samplers import Binned
from privmix.testing.partitions import log_crp, set_partitions
from samplers.test_counts import one_draw

WIDE = (-10.0, 10.0)
NOISY = Counted(Laplace(epsilon=4.0, bounds=WIDE), 64)
RESPONSE = Counted(RandomizedResponse(cells=5, epsilon=2.0, bounds=WIDE))
WAVE = Counted(SquareWave(epsilon=2.0, bounds=WIDE), 40)


def test_chances_are_those_of_each_class_times_its_share():
    shares, draws = (0.5, 0.2, 0.3), one_draw([0.3, 0.7], [[-3.0, 1.5], [5.0, 4.0]])
    tables = (NOISY, RESPONSE, WAVE)
    found = chances_finder(privmix.default_model(CountedClasses(tables, shares)), draws)(np.array([0]))
    each = [chances_finder(privmix.default_model(table), draws)(np.array([0])) for table in tables]
    expected = np.concatenate([share * chances for share, chances in zip(shares, each, strict=True)])
    assert np.allclose(found, expected, rtol=1e-12)


# Probability of the right cell of four and of another one, by class.
RIGHT, OTHER = np.array([0.7, 0.4]), np.array([0.1, 0.2])
# Class and released cell of five records.
RECORDS = ((0, 0), (0, 2), (1, 0), (1, 3), (1, 3))
CELLS = 4


def law_of_clusters(right, other):
    """Return the exact probability of each number of clusters, by sums over partitions and quadrature."""
    masses, weights = normal_masses(np.linspace(*WIDE, CELLS + 1), 0.0, 0.1, 3.0, 3.0)
    g = np.column_stack([other[k] + (right[k] - other[k]) * masses[:, cell] for k, cell in RECORDS])
    law = np.zeros(len(RECORDS))
    for partition in set_partitions(len(RECORDS)):
        total = np.exp(log_crp(partition, 1.0))
        for cluster in set(partition):
            total *= weights @ np.prod(g[:, [label == cluster for label in partition]], axis=1)
        law[len(set(partition)) - 1] += total
    return law / law.sum()


@pytest.mark.long
def test_clusters_of_two_classes_follow_their_exact_law():
    responses = [RandomizedResponse(cells=CELLS, epsilon=ratio, bounds=WIDE) for ratio in np.log(RIGHT / OTHER)]
    mechanism = CountedClasses(tuple(Counted(response) for response in responses), (0.4, 0.6))
    counts = np.zeros((2, CELLS))
    np.add.at(counts, tuple(np.transpose(RECORDS)), 1.0)
    model = PrivateMixture(mechanism, kernels.Normal(0.0, 0.1, 3.0, 3.0), priors.DirichletProcess(1.0))
    plan = Plan(model, Binned(), counts.reshape(-1), 100_000, 200, 4, allocations=False)
    made = run_chain(plan, np.random.SeedSequence(1)).draws.n_clusters
    found = np.array([made == k for k in range(1, 6)], dtype=float)
    error = found.reshape(5, 200, -1).mean(axis=2).std(axis=1) / np.sqrt(200)
    gap = np.abs(found.mean(axis=1) - law_of_clusters(RIGHT, OTHER)) / np.maximum(error, 1e-5)
    assert gap.max() < 5.0
    # All records through the noise of the other class: far enough for the test to see.
    wrong = np.abs(found.mean(axis=1) - law_of_clusters(RIGHT[::-1], OTHER[::-1])) / np.maximum(error, 1e-5)
    assert wrong.max() > 8.0


def test_a_fit_of_classes_answers_like_any_other(tmp_path):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(6000) < 0.7, rng.normal(-4.0, 1.0, 6000), rng.normal(5.0, 0.8, 6000))
    release = privmix.Release(NOISY.privatize(y[:4000], seed=1), NOISY) + privmix.Release(
        RESPONSE.privatize(y[4000:], seed=2), RESPONSE
    )
    posterior = privmix.fit(release, sampler=Binned(), draws=150, warmup=300, thin=2, chains=2, seed=1)
    assert posterior.records == 6000
    assert abs(float(posterior.probability(-10.0, 0.0)["mean"]) - 0.7) < 0.08
    assert posterior.predictive(7, seed=1)["z"].shape == (7, 2)
    assert posterior.predictive_check(replicates=20, seed=1)["p_value"].min() > 0.0
    assert {finding.level for finding in posterior.check(replicates=20, seed=1)} <= {"good", "note", "warning"}
    posterior.save(tmp_path / "fit.nc")
    assert privmix.load(tmp_path / "fit.nc").model.mechanism == release.mechanism
    posterior.plot()
    posterior.report(tmp_path / "fit.html", informativeness=False)
    assert "class 1: " in (tmp_path / "fit.html").read_text()
    with pytest.raises(ValueError, match="which record is in which bin was not kept"):
        posterior.clustering()
