"""The piecewise mechanism: examples for the contract, and its density as Wang et al. (2019) print it."""

import math
import re

import numpy as np
import pytest

from mechanisms.test_square_wave import jumps as jumps
from privmix.mechanisms import Piecewise, SquareWave

BOUNDS = (-3.0, 5.0)
EXAMPLES = [Piecewise(epsilon=2.0, bounds=BOUNDS), Piecewise(rho=0.1, bounds=BOUNDS)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_density_is_that_of_the_paper_after_rescaling(epsilon):
    """Equation (5) of the paper: t in [−1, 1] gives t* in [−C, C]; on the scale of t it is t* / ((C + 1)/2)."""
    half = math.exp(0.5 * epsilon)
    c = (half + 1.0) / (half - 1.0)
    high = (math.exp(epsilon) - half) / (2.0 * half + 2.0)
    mechanism = Piecewise(epsilon=epsilon, bounds=(-1.0, 1.0))
    factor = 0.5 * (c + 1.0)
    assert mechanism.release_range == pytest.approx((-c / factor, c / factor))
    for t in (-1.0, -0.3, 0.0, 0.8, 1.0):
        theirs = np.linspace(-0.999 * c, 0.999 * c, 1001)
        left = factor * t - 0.5 * (c - 1.0)
        density = np.where((theirs >= left) & (theirs <= left + c - 1.0), high, high * math.exp(-epsilon))
        assert np.exp(mechanism.logpdf(theirs / factor, t)) == pytest.approx(density * factor, rel=1e-12)


def test_it_is_a_square_wave():
    one = Piecewise(epsilon=1.5, bounds=BOUNDS)
    other = SquareWave(epsilon=1.5, bounds=BOUNDS, half_width=0.5 * math.exp(-0.75))
    z = np.linspace(*one.release_range, 50)
    assert np.array_equal(one.logpdf(z, 0.4), other.logpdf(z, 0.4))
    assert np.array_equal(one.privatize(np.zeros(9), seed=1), other.privatize(np.zeros(9), seed=1))
    assert one.zcdp() == other.zcdp()


def test_its_width_is_not_to_be_given():
    with pytest.raises(ValueError, match=re.escape("Piecewise was given half_width=0.2, but its half-width follows")):
        Piecewise(epsilon=1.0, bounds=BOUNDS, half_width=0.2)
    with pytest.raises(ValueError, match=r"^Piecewise needs epsilon=, the ratio of its two densities being e\^ε; got"):
        Piecewise(bounds=BOUNDS)
