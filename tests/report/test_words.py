"""Promises in plain words are bounds that hold: against the best test there is."""

import math
from types import SimpleNamespace

import pytest
from scipy import stats

from privmix.mechanisms import Gaussian, Identity, Laplace, NoisyHistogram
from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.report.tables import mechanism_rows
from privmix.report.words import describe_promise, percent_above


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_pure_bound_is_that_of_randomized_response(epsilon):
    """Which attains it: the truth is told with probability e^ε/(1 + e^ε), and guessing it is the best test."""
    assert PureDP(epsilon).guess_bound() == pytest.approx(math.exp(epsilon) / (1.0 + math.exp(epsilon)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (4.0, 0.1)])
def test_approximate_bound_holds_for_gaussian_noise(epsilon, delta):
    mechanism = Gaussian(epsilon=epsilon, delta=delta, bounds=(0.0, 1.0))
    # The best test between two normals cuts half way: right with probability Φ(distance/(2 scale)).
    best = stats.norm.cdf(0.5 / mechanism.scale)
    assert best <= ApproxDP(epsilon, delta).guess_bound() <= 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.2), (1.0, 0.01)])
def test_approximate_bound_is_attained(epsilon, delta):
    """By a mechanism that tells the truth openly with probability δ, and else as randomized response does."""
    best = delta + (1.0 - delta) * math.exp(epsilon) / (1.0 + math.exp(epsilon))
    assert ApproxDP(epsilon, delta).guess_bound() == pytest.approx(best)


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.0, 10.0])
def test_concentrated_bound_holds_for_gaussian_noise(rho):
    best = stats.norm.cdf(0.5 / Gaussian(rho=rho, bounds=(0.0, 1.0)).scale)
    bound = ZCDP(rho).guess_bound()
    assert best <= bound <= 1.0
    assert bound - best < 0.15


def test_bounds_at_extremes():
    assert PureDP(1000.0).guess_bound() == 1.0
    assert ApproxDP(2000.0, 0.5).guess_bound() == 1.0
    assert ApproxDP(1.0, 1e-12).guess_bound() == pytest.approx(PureDP(1.0).guess_bound())


@pytest.mark.parametrize(
    ("share", "text"), [(0.5, "50%"), (0.731058, "73.11%"), (0.9999546, "99.9955%"), (1.0, "100%, or next to it")]
)
def test_percentages_are_rounded_up(share, text):
    assert percent_above(share) == text
    if text.endswith("%"):
        assert float(text[:-1]) / 100 >= share


def fitted(mechanism):
    return SimpleNamespace(model=SimpleNamespace(mechanism=mechanism))


def test_promises():
    local = describe_promise(fitted(Laplace(epsilon=1.0, bounds=(0, 9))))
    assert "knows everything else" in local
    assert "between 0 and 9" in local
    assert "at most 73.11%." in local
    assert "weak promise" not in local
    assert "weak promise" in describe_promise(fitted(Laplace(epsilon=10.0, bounds=(0, 9))))
    assert "knows all other records" in describe_promise(fitted(NoisyHistogram(9, 2, epsilon=1.0, bounds=(0, 1))))
    removed = NoisyHistogram(9, 2, epsilon=1.0, bounds=(0, 1), neighbours="add-remove")
    assert "that a person's record is in the data or not, both equally likely" in describe_promise(fitted(removed))
    assert mechanism_rows(removed, 9)[1][0] == "guarantee, one record added or removed"
    assert describe_promise(fitted(Identity())).startswith("No guarantee is known")
