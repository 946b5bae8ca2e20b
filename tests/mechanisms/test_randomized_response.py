"""Randomized response: examples for the contract, and its calibration against high precision."""

import math
import re

import mpmath
import pytest

from privmix.mechanisms import RandomizedResponse
from privmix.mechanisms.randomized_response import randomized_response_epsilon, randomized_response_truth

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    RandomizedResponse(cells=5, epsilon=2.0, bounds=BOUNDS),
    RandomizedResponse(cells=2, truth=0.6, bounds=BOUNDS),
    RandomizedResponse(cells=3, rho=0.2, bounds=BOUNDS, staggered=True),
]


@pytest.mark.parametrize("cells", [2, 3, 64, 10**6])
@pytest.mark.parametrize("epsilon", [1e-15, 1e-4, 0.5, 5.0, 50.0, 1e4])
def test_truth_matches_high_precision(cells, epsilon):
    with mpmath.workdps(50):
        e = mpmath.exp(mpmath.mpf(epsilon))
        assert randomized_response_truth(cells, epsilon) == pytest.approx(float(e / (e + cells - 1)), rel=1e-14)


@pytest.mark.parametrize("cells", [2, 3, 64])
@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 5.0, 20.0])
def test_randomized_response_epsilon_inverts(cells, epsilon):
    # p is rounded to 1e-16, which a lie of probability 1e-9 feels as 1e-7.
    truth = randomized_response_truth(cells, epsilon)
    assert randomized_response_epsilon(cells, truth) == pytest.approx(epsilon, rel=1e-7)


@pytest.mark.parametrize(("cells", "truth"), [(2, 0.75), (4, 0.26), (10, 0.9999)])
def test_randomized_response_epsilon_is_the_log_ratio(cells, truth):
    assert randomized_response_epsilon(cells, truth) == pytest.approx(
        math.log(truth) - math.log((1.0 - truth) / (cells - 1)), rel=1e-12
    )


RANGE = "Randomized response with 4 cells was given truth={}, but needs 1/4 < truth < 1: at 1/4 nothing is released"
CELLS = "RandomizedResponse: cells must be a whole number of at least 2; got {}."
POSITIVE = "The noise was to be calibrated with {}, but needs {} > 0 and finite. Give a positive number."
CASES = [
    (randomized_response_truth, (1, 1.0), CELLS.format("1")),
    (randomized_response_truth, (2.5, 1.0), CELLS.format("2.5")),
    (randomized_response_truth, ("a", 1.0), CELLS.format("'a'")),
    (randomized_response_truth, (4, 0.0), POSITIVE.format("epsilon=0.0", "epsilon")),
    (randomized_response_truth, (4, math.inf), POSITIVE.format("epsilon=inf", "epsilon")),
    (randomized_response_truth, (4, [1.0]), "calibrated with epsilon=[1.0], but needs one number for all records"),
    (randomized_response_epsilon, (1, 0.5), CELLS.format("1")),
    (randomized_response_epsilon, (4, 0.25), RANGE.format("0.25")),
    (randomized_response_epsilon, (4, 0.1), RANGE.format("0.1")),
    (randomized_response_epsilon, (4, 1.0), RANGE.format("1.0")),
    (randomized_response_epsilon, (4, -1.0), POSITIVE.format("truth=-1.0", "truth")),
]


@pytest.mark.parametrize(("function", "arguments", "message"), CASES)
def test_bad_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*arguments)
