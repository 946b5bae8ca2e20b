"""The prior law of the number of clusters against enumeration of coins and plain integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from privmix.priors import DirichletProcess, Prior


def by_coins(alpha, n):
    """Return the law of a sum of independent coins: record i opens a cluster with probability α/(α + i)."""
    law = np.array([1.0])
    for i in range(n):
        p = alpha / (alpha + i)
        law = np.append(law * (1.0 - p), 0.0) + np.append(0.0, law * p)
    return law


@pytest.mark.parametrize(("alpha", "n"), [(1.0, 1), (1.0, 5), (0.2, 200), (3.0, 1000), (1e-6, 50), (40.0, 30)])
def test_law_is_that_of_coins(alpha, n):
    law, expected = DirichletProcess(alpha).cluster_law(n), by_coins(alpha, n)
    np.testing.assert_allclose(law, expected[: len(law)], atol=1e-11)
    assert law.sum() == pytest.approx(1.0)


def test_law_of_many_records_sums_to_one():
    law = DirichletProcess(1.0).cluster_law(1_000_000)
    assert law.sum() == pytest.approx(1.0)
    # E[K] = Σ 1/(1 + i), the harmonic number.
    assert law @ np.arange(len(law)) == pytest.approx(np.log(1e6) + np.euler_gamma, abs=1e-5)


def test_learned_concentration_is_integrated_out():
    law = DirichletProcess((2.0, 1.5)).cluster_law(12)
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    for k in (1, 3, 6):
        exact = integrate.quad(lambda a, k=k: by_coins(a, 12)[k] * gamma.pdf(a), 0.0, 30.0)[0]
        assert law[k] == pytest.approx(exact, abs=3e-3)


def test_other_priors_have_no_formula():
    assert Prior().cluster_law(12) is None
