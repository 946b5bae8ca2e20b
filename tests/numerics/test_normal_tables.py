"""Tables of the normal's tail against many digits: at random places, at the ends of pieces and beside them."""

import mpmath as mp
import numpy as np
import pytest

from privmix.numerics.normal_tables import PIECES, REACH, log_scaled_cdf, tail_from_table

ENDS = np.arange(-REACH, REACH, 1.0 / PIECES)
PLACES = np.concatenate([ENDS, np.nextafter(ENDS[1:], -np.inf), np.random.default_rng(1).uniform(-REACH, REACH, 1000)])


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def test_tail():
    inside = PLACES[PLACES >= 0.0]
    assert max(abs(float(tail_from_table(float(u)) - mp.ncdf(-u))) for u in inside) < 2e-16


def test_log_of_the_distribution_function():
    exact = [mp.log(mp.ncdf(u)) + min(mp.mpf(u), 0) ** 2 / 2 for u in PLACES]
    assert max(abs(float(log_scaled_cdf(float(u)) - e)) for u, e in zip(PLACES, exact, strict=True)) < 2e-15
