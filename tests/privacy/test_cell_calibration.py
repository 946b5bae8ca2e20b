"""Randomised response and the square wave: what a budget asks for, and what given parameters promise."""

import math
import re

import mpmath
import numpy as np
import pytest

from privmix.privacy import (
    randomized_response_epsilon,
    randomized_response_truth,
    square_wave_epsilon,
    square_wave_parameters,
)

EPSILONS = [1e-300, 1e-15, 1e-8, 1e-4, 0.01, 0.5, np.nextafter(1.0, 0.0), 1.0, 1.5, 5.0, 50.0, 300.0, 700.0]


def exact_square_wave(epsilon, half_width=None):
    """The formulas as printed, with digits to spare for their cancellation."""
    with mpmath.workdps(1500):
        e = mpmath.exp(mpmath.mpf(float(epsilon)))
        b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon)) if half_width is None else mpmath.mpf(half_width)
        return float(b), float(e / (2 * b * e + 1)), float(1 / (2 * b * e + 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_square_wave_matches_high_precision(epsilon):
    assert square_wave_parameters(epsilon) == pytest.approx(exact_square_wave(epsilon), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("half_width", [1e-3, 0.25, 1.0, 20.0])
def test_square_wave_of_chosen_width(epsilon, half_width):
    found = square_wave_parameters(epsilon, half_width)
    assert found == pytest.approx(exact_square_wave(epsilon, half_width), rel=1e-14, abs=0.0)
    assert 2.0 * half_width * found[1] + found[2] == pytest.approx(1.0, rel=1e-14)


def test_square_wave_covers_half_the_domain_without_privacy_budget():
    assert square_wave_parameters(1e-300) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("epsilon", EPSILONS[3:])
def test_square_wave_epsilon_inverts(epsilon):
    _, high, low = square_wave_parameters(epsilon)
    assert square_wave_epsilon(high, low) == pytest.approx(epsilon, rel=1e-11)


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


RANGE = "Randomised response with 4 cells was given truth={}, but needs 1/4 < truth < 1: at 1/4 nothing is released"
CELLS = "Randomised response was given cells={}, but needs a whole number of at least 2."
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
    (square_wave_parameters, (-1.0,), POSITIVE.format("epsilon=-1.0", "epsilon")),
    (square_wave_parameters, ("x",), POSITIVE.format("epsilon='x'", "epsilon")),
    (square_wave_parameters, (701,), "The square wave was given epsilon=701, but needs epsilon <= 700"),
    (square_wave_parameters, (1.0, 0.0), POSITIVE.format("half_width=0.0", "half_width")),
    (square_wave_epsilon, (1.0, 0.0), POSITIVE.format("low=0.0", "low")),
    (square_wave_epsilon, (1.0, 1.0), "The square wave was given high=1.0 and low=1.0, but needs low < high."),
]


@pytest.mark.parametrize(("function", "arguments", "message"), CASES)
def test_bad_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*arguments)
