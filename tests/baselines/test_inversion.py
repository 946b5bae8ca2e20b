"""Inversion against the inverse of the matrix, the published formula, unbiasedness, and the projection's optimality."""

import numpy as np
import pytest
from scipy import optimize, stats

from privmix.baselines import Inversion
from privmix.baselines.inversion import nearest_probabilities
from privmix.mechanisms import Laplace, RandomizedResponse, SubsetSelection, UnaryEncoding

BOUNDS = (-3.0, 5.0)
RAW = Inversion(projected=False)
SERVED = {
    "response": RandomizedResponse(5, epsilon=1.0, bounds=BOUNDS),
    "optimised": UnaryEncoding(5, epsilon=1.0, bounds=BOUNDS),
    "symmetric": UnaryEncoding(5, epsilon=1.0, bounds=BOUNDS, probabilities="symmetric"),
    "design": SubsetSelection(7, epsilon=1.0, bounds=BOUNDS, size=3),
    "subsets": SubsetSelection(5, epsilon=1.0, bounds=BOUNDS, size=2),
}


def test_answers_are_put_through_the_inverse_of_their_matrix():
    mechanism = SERVED["response"]
    z = np.repeat(np.arange(5.0), [7, 0, 11, 3, 9])
    truth, lie = np.e / (np.e + 4.0), 1.0 / (np.e + 4.0)
    matrix = np.full((5, 5), lie) + (truth - lie) * np.eye(5)
    assert RAW.fit(z, mechanism).mass == pytest.approx(np.linalg.solve(matrix, np.array([7, 0, 11, 3, 9]) / 30.0))


def test_bits_follow_the_published_formula():
    """Optimised unary encoding: p = 1/2, q = 1/(e^ε + 1), (c_k/n − q)/(p − q)."""
    z = np.random.default_rng(1).integers(0, 2, (9, 5)).astype(float)
    q = 1.0 / (np.e + 1.0)
    assert RAW.fit(z, SERVED["optimised"]).mass == pytest.approx((z.sum(axis=0) / 9.0 - q) / (0.5 - q))


@pytest.mark.parametrize("name", SERVED)
def test_shares_are_unbiased(name):
    """The mean of 400 estimates against the true mass of each cell, in units of its standard error; α = 1e-6."""
    mechanism, rng, law = SERVED[name], np.random.default_rng(1), stats.truncnorm(-4.0, 4.0, loc=1.0)
    found = np.array(
        [RAW.fit(mechanism.privatize(law.rvs(50, random_state=rng), seed=rng), mechanism).mass for _ in range(400)]
    )
    wanted = np.diff(law.cdf(np.linspace(*BOUNDS, mechanism.cells + 1)))
    scores = (found.mean(axis=0) - wanted) / (found.std(axis=0, ddof=1) / 20.0)
    assert np.abs(scores).max() < stats.norm.isf(1e-6 / 2 / len(wanted))


@pytest.mark.parametrize("mass", [[0.5, 0.4, -0.2, 0.1], [2.0, -1.0, -1.0, 0.5], [0.1, 0.2, 0.3, 0.4], [-1.0] * 4])
def test_projection_is_the_nearest_point_of_the_simplex(mass):
    mass = np.array(mass)
    best = optimize.minimize(
        lambda p: np.sum((p - mass) ** 2),
        np.full(4, 0.25),
        bounds=[(0.0, 1.0)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0},
        options={"ftol": 1e-14},
    )
    found = nearest_probabilities(mass)
    assert found == pytest.approx(best.x, abs=1e-6)
    assert found.sum() == pytest.approx(1.0, rel=1e-12)


def test_estimates_are_projected_and_joined_by_lines_where_asked():
    mechanism = SERVED["response"]
    z = np.repeat(np.arange(5.0), [7, 0, 11, 3, 9])
    raw, fitted = RAW.fit(z, mechanism), Inversion().fit(z, mechanism)
    assert raw.mass.min() < 0.0
    assert fitted.mass == pytest.approx(nearest_probabilities(raw.mass))
    middles = np.linspace(*BOUNDS, 11)[1::2]
    lines = Inversion(joined=True).fit(z, mechanism)
    assert lines.density(middles) == pytest.approx(fitted.density(middles))
    assert lines.density(0.5 * (middles[1:] + middles[:-1])) == pytest.approx(
        0.5 * (fitted.density(middles)[1:] + fitted.density(middles)[:-1])
    )
    assert lines.density([-3.1, 5.1]).tolist() == [0.0, 0.0]


def test_other_mechanisms_and_options_are_refused():
    with pytest.raises(ValueError, match=r"Inversion counts the cells that records name.*; the release was made by La"):
        Inversion().fit([0.1, 0.2], Laplace(epsilon=1.0, bounds=BOUNDS))
    two = RandomizedResponse(5, epsilon=1.0, bounds=BOUNDS, staggered=True)
    with pytest.raises(ValueError, match="the cells of one grid, and there are two: use staggered=False, or EMS"):
        Inversion().fit([0.0, 1.0], two)
    with pytest.raises(ValueError, match="Inversion: joined must be True or False; got 1"):
        Inversion(joined=1)
