"""Partition laws of the oracles: they sum to one, meet where they must, and are those of the library's priors."""

import numpy as np
import pytest

from oracles import partition_laws
from privmix import priors
from privmix.testing.partitions import log_crp, set_partitions

LAWS = {
    "Pitman–Yor": (lambda p: partition_laws.pitman_yor(p, 0.6, 0.5), priors.PitmanYor(0.6, 0.5)),
    "Dirichlet": (lambda p: partition_laws.finite(p, 3, 0.4), priors.Dirichlet(3, 0.4)),
    **{
        name: (
            lambda p, name=name: partition_laws.finite_mixture(p, name, 3.0, 0.7),
            priors.FiniteMixture(name, 3.0, 0.7),
        )
        for name in ("poisson", "geometric", "beta negative binomial")
    },
}


@pytest.mark.parametrize("name", LAWS)
def test_law_sums_to_one_and_gives_the_number_of_clusters(name):
    law, prior = LAWS[name]
    found = np.zeros(6)
    for partition in set_partitions(5):
        found[max(partition) + 1] += law(partition)
    assert found.sum() == pytest.approx(1.0, rel=1e-9)
    exact = prior.cluster_law(5)
    np.testing.assert_allclose(exact, found[: len(exact)], rtol=1e-8, atol=1e-12)


def test_without_discount_it_is_the_chinese_restaurant():
    for partition in set_partitions(5):
        assert partition_laws.pitman_yor(partition, 0.0, 1.3) == pytest.approx(np.exp(log_crp(partition, 1.3)))


def test_many_components_of_small_weight_are_a_dirichlet_process():
    for partition in set_partitions(4):
        assert partition_laws.finite(partition, 10**6, 2e-6) == pytest.approx(np.exp(log_crp(partition, 2.0)), rel=1e-4)


@pytest.mark.parametrize("kind", [lambda x: priors.PitmanYor(0.6, x), lambda x: priors.Dirichlet(3, x)])
def test_learned_number_is_integrated_out(kind):
    law = kind((4.0, 2.0)).cluster_law(5)
    for k in (1, 2, 3):
        exact = partition_laws.learned(lambda x, k=k: kind(x).cluster_law(5)[k], 4.0, 2.0)
        assert law[k] == pytest.approx(exact, abs=1e-6)
