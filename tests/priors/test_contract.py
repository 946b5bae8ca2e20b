"""What any prior promises: urn, sticks, mixing measure and law of the number of clusters are those of one law."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from priors.examples import ALL, EXAMPLES, hook, law_of
from privmix.parts import part_from_dict, part_to_dict
from privmix.priors import FiniteMixture, Prior, slots
from privmix.testing.partitions import set_partitions
from samplers.cases import rest_long

# Its weights are a sum of many terms, record by record.
SLOW = FiniteMixture("beta negative binomial", 3.0, 1.0)
QUICK = [prior for prior in ALL if prior != SLOW]
FIXED = [prior for prior in ALL if getattr(prior, "shape", 0.0) == 0.0]
N = 1000


def urn_weights(prior, law, sizes):
    """Return the urn's weights of old clusters of these sizes, and of a new one."""
    old = [size - hook(prior, slots.reduction, law) for size in sizes]
    return old, prior.new_weight(law, sum(sizes), len(sizes))


def urn_probability(prior, law, labels):
    """Return the probability that records which come in this order fall together as their labels say."""
    probability, sizes, seen = 1.0, [], []
    for label in labels:
        old, new = urn_weights(prior, law, sizes)
        if label in seen:
            probability *= old[seen.index(label)] / (sum(old) + new)
            sizes[seen.index(label)] += 1
        else:
            probability *= new / (sum(old) + new)
            seen.append(label)
            sizes.append(1)
    return probability


def test_every_example_is_another():
    assert all(EXAMPLES.values())
    assert len(set(ALL)) == len(ALL)


@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_is_a_part(prior):
    assert isinstance(prior, Prior)
    again = part_from_dict(json.loads(json.dumps(part_to_dict(prior))))
    for other in (again, pickle.loads(pickle.dumps(prior))):
        assert other == prior
        assert hash(other) == hash(prior)
    assert prior.most_clusters(3) <= 3


@pytest.mark.parametrize("prior", rest_long(QUICK, ALL), ids=repr)
def test_urn_does_not_know_the_order_of_records(prior):
    law = law_of(prior, 4, np.random.default_rng(1))
    total = 0.0
    for labels in set_partitions(4):
        first, *others = (urn_probability(prior, law, order) for order in sorted(set(itertools.permutations(labels))))
        assert others == pytest.approx([first] * len(others), rel=1e-9)
        total += first
    assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("prior", FIXED, ids=repr)
def test_law_of_the_number_of_clusters_is_that_of_the_urn(prior):
    """The weights of a Gibbs-type urn add up to a number of n and k alone, so that K is a Markov chain."""
    n, rng = 12, np.random.default_rng(1)
    law = law_of(prior, n, rng)
    found = np.zeros(n + 1)
    found[1] = 1.0
    for i in range(1, n):
        before, found = found, np.zeros(n + 1)
        for k in np.flatnonzero(before):
            old, new = urn_weights(prior, law, [1] * (k - 1) + [i - k + 1])
            found[k] += before[k] * sum(old) / (sum(old) + new)
            if new > 0.0:
                found[k + 1] += before[k] * new / (sum(old) + new)
    exact = prior.cluster_law(n)
    assert exact[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(exact, found[: len(exact)], atol=1e-10)


@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_law_of_the_number_of_clusters_is_a_law(prior):
    law = prior.cluster_law(40)
    assert law.sum() == pytest.approx(1.0, abs=1e-8)
    assert len(law) <= 41
    assert prior.cluster_law(1)[1] == pytest.approx(1.0, abs=1e-8)


def weights_from_sticks(prior, law, rng, room=400):
    """Return the weights of the first sticks."""
    weights, log_left = [], 0.0
    for h in range(room):
        log_stick, log_rest = prior.stick(rng, law, h)
        weights.append(math.exp(log_left + log_stick))
        log_left += log_rest
        if log_left < -20.0:
            break
    return np.array(weights)


@pytest.mark.parametrize("prior", rest_long([p for p in QUICK if p in FIXED], FIXED), ids=repr)
def test_sticks_and_urn_put_two_and_three_records_together_alike(prior):
    rng = np.random.default_rng(1)
    powers = []
    for _ in range(N):
        weights = weights_from_sticks(prior, law_of(prior, 3, rng), rng)
        powers.append([np.sum(weights**2), np.sum(weights**3)])
    law = law_of(prior, 3, rng)
    exact = [urn_probability(prior, law, [0] * n) for n in (2, 3)]
    error = np.std(powers, axis=0) / math.sqrt(N)
    assert (np.abs(np.mean(powers, axis=0) - exact) < 4.5 * error).all()


@pytest.mark.parametrize("h", [0, 2])
@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_sticks_given_records_follow_from_their_density(prior, h):
    """p(ν|records) ∝ p(ν) ν^size (1 − ν)^beyond, p(ν) from its density in the logit."""
    rng = np.random.default_rng(1)
    law = law_of(prior, 12, rng)
    for size, beyond in ((0, 0), (3, 7)):
        given = [prior.stick_given(rng, law, h, size, beyond) for _ in range(N)]
        assert np.exp(given).sum(axis=1) == pytest.approx(np.ones(N), rel=1e-9)
        if np.isinf(given).any():  # the last of a finite mixture
            continue
        logit = np.linspace(-120.0, 120.0, 40_001)
        log_stick, log_rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        density = prior.log_stick_density(law, h, log_stick, log_rest) + size * log_stick + beyond * log_rest
        mass = np.cumsum(np.exp(density - density.max()))
        found = np.subtract(*np.transpose(given))
        assert stats.kstest(found, lambda x, m=mass: np.interp(x, logit, m / m[-1])).pvalue > ALPHA  # noqa: B023


@pytest.mark.parametrize("prior", FIXED, ids=repr)
def test_mixing_measure_given_a_partition_predicts_as_the_urn(prior):
    """E[w_h|partition] is the urn's chance of cluster h: the rest, drawn anew, has the weight that the urn gives it."""
    rng = np.random.default_rng(1)
    for sizes in ([5, 1, 2], [3]):
        n, k = sum(sizes), len(sizes)
        old, new = urn_weights(prior, law_of(prior, n + 1, rng), sizes)
        law, shares = law_of(prior, n + 1, rng), []
        for _ in range(N):
            hook(prior, slots.update_unseen, rng, law, n, k)
            shares.append(sum(old) / (sum(old) + hook(prior, slots.rest_weight, law, n, k)))
        error = np.std(shares) / math.sqrt(N) + 1e-12
        assert abs(np.mean(shares) - sum(old) / (sum(old) + new)) < 4.5 * error


@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_equal_atoms_have_the_variance_of_the_rest(prior):
    """Σ w² of the rest beyond h sticks is 1/M in the mean, unless all of it goes to one atom or M is capped."""
    rng = np.random.default_rng(1)
    law = law_of(prior, 3, rng)
    law[0] = max(law[0], 0.3)
    h = 2
    atoms = hook(prior, slots.rest_atoms, law, h)
    if not 1 < atoms < 100:
        return
    squares = []
    for _ in range(500):
        log_left, total = 0.0, 0.0
        for j in range(h, h + 300):
            log_stick, log_rest = prior.stick(rng, law, j)
            total += math.exp(2.0 * (log_left + log_stick))
            log_left += log_rest
        squares.append(total)
    # M is a whole number: half a unit of rounding, and the noise of the mean.
    low, high = 1.0 / (atoms + 0.5), 1.0 / (atoms - 0.5)
    error = 4.5 * np.std(squares) / math.sqrt(len(squares)) + 1e-3
    assert low - error < np.mean(squares) < high + error
