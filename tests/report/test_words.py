"""Promises in plain words are bounds that hold: against the best test there is."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from privmix.mechanisms import Gaussian, Identity, Laplace, NoisyHistogram
from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.report.words import KINDS, describe_kind, describe_promise, guess_bound, percent_above


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_pure_bound_is_that_of_randomised_response(epsilon):
    """Which attains it: the truth is told with probability e^ε/(1 + e^ε), and guessing it is the best test."""
    assert guess_bound(PureDP(epsilon)) == pytest.approx(math.exp(epsilon) / (1.0 + math.exp(epsilon)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (4.0, 0.1)])
def test_approximate_bound_holds_for_gaussian_noise(epsilon, delta):
    mechanism = Gaussian(epsilon=epsilon, delta=delta, bounds=(0.0, 1.0))
    # The best test between two normals cuts half way: right with probability Φ(distance/(2 scale)).
    best = stats.norm.cdf(0.5 / mechanism.scale)
    assert best <= guess_bound(ApproxDP(epsilon, delta)) <= 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.2), (1.0, 0.01)])
def test_approximate_bound_is_attained(epsilon, delta):
    """By a mechanism that tells the truth openly with probability δ, and else as randomised response does."""
    best = delta + (1.0 - delta) * math.exp(epsilon) / (1.0 + math.exp(epsilon))
    assert guess_bound(ApproxDP(epsilon, delta)) == pytest.approx(best)


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.0, 10.0])
def test_concentrated_bound_holds_for_gaussian_noise(rho):
    best = stats.norm.cdf(0.5 / Gaussian(rho=rho, bounds=(0.0, 1.0)).scale)
    bound = guess_bound(ZCDP(rho))
    assert best <= bound <= 1.0
    assert bound - best < 0.15


def test_bounds_at_extremes():
    assert guess_bound(None) is None
    assert guess_bound(PureDP(1000.0)) == 1.0
    assert guess_bound(ApproxDP(2000.0, 0.5)) == 1.0
    assert guess_bound(ApproxDP(1.0, 1e-12)) == pytest.approx(guess_bound(PureDP(1.0)))


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
    assert describe_promise(fitted(Identity())).startswith("No guarantee is known")


def test_every_mechanism_of_the_library_is_described():
    from privmix import mechanisms

    own = {getattr(mechanisms, name) for name in mechanisms.__all__}
    bases = {mechanisms.LocalMechanism, mechanisms.GlobalMechanism, mechanisms.Mechanism, mechanisms.Histogram}
    assert {kind for kind in own if isinstance(kind, type)} - bases == set(KINDS)
    assert np.all([len(words) > 20 for words in KINDS.values()])


def test_unknown_mechanism_is_named():
    class Mine:
        is_global = False

    assert describe_kind(Mine()) == "each record was made by the mechanism Mine"
