"""The square wave: examples for the contract, and its calibration against high precision."""

import math
import re

import mpmath
import numpy as np
import pytest

from privmix.mechanisms import SquareWave
from privmix.mechanisms.square_wave import square_wave_parameters

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    SquareWave(epsilon=2.0, bounds=BOUNDS),
    SquareWave(epsilon=2.0, bounds=BOUNDS, half_width=0.1),
    SquareWave(rho=0.3, bounds=BOUNDS, half_width=0.8),
]


def jumps(wave, y):
    """Return where the density of an output jumps, the ends of its range among them."""
    return np.array([*wave.release_range, y - wave.reach, y + wave.reach])


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
def test_square_wave_densities_have_the_ratio(epsilon):
    _, high, low = square_wave_parameters(epsilon)
    assert math.log1p((high - low) / low) == pytest.approx(epsilon, rel=1e-11)


POSITIVE = "The noise was to be calibrated with {}, but needs {} > 0 and finite. Give a positive number."
CASES = [
    (square_wave_parameters, (-1.0,), POSITIVE.format("epsilon=-1.0", "epsilon")),
    (square_wave_parameters, ("x",), POSITIVE.format("epsilon='x'", "epsilon")),
    (square_wave_parameters, (701,), "The square wave was given epsilon=701, but needs epsilon <= 700"),
    (square_wave_parameters, (1.0, 0.0), POSITIVE.format("half_width=0.0", "half_width")),
]


@pytest.mark.parametrize(("function", "arguments", "message"), CASES)
def test_bad_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*arguments)
