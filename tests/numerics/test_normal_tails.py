import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numerics.compiled import compiled
from numerics.quadrature import ALPHA
from privmix.numerics.normal_tails import (
    erfcx,
    exp_square,
    normal_between,
    normal_excess,
    normal_mass,
)

erfcx, normal_between, normal_excess, normal_mass, exp_square = compiled(
    erfcx, normal_between, normal_excess, normal_mass, exp_square
)

N = 20_000


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("x", [-20.0, -5.1, -0.3, 0.0, 1e-8, 0.7, 3.0, 7.77, 11.99, 12.01, 24.9, 30.0, 1e3, 1e8, 1e150])
def test_erfcx(x):
    exact = mp.exp(mp.mpf(x) ** 2) * mp.erfc(mp.mpf(x)) if x < 1e4 else 1 / (mp.mpf(x) * mp.sqrt(mp.pi))
    assert erfcx(x) == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("x", [0.0, 1e-5, 0.3, 5.123456789, 26.2, -17.3])
def test_exp_square(x):
    assert exp_square(x) == pytest.approx(float(mp.exp(mp.mpf(x) ** 2)), rel=1e-15)


def test_normal_mass():
    for a in [-37.0, -30.0, -8.0, -2.0, -0.4, 0.0, 0.3, 5.0, 36.0]:
        for width in [1e-9, 1e-5, 0.03, 0.5, 0.99, 1.01, 3.0, 50.0]:
            b = a + width
            ends = (-mp.mpf(b), -mp.mpf(a)) if a > 0 else (mp.mpf(a), mp.mpf(b))
            exact = float(mp.ncdf(ends[1]) - mp.ncdf(ends[0]))
            # The last bit of an end is worth x² ulps.
            assert normal_mass(a, b) == pytest.approx(exact, rel=2e-15 * (1.0 + a * a)), (a, b)


def test_normal_mass_of_half_lines():
    assert normal_mass(-math.inf, math.inf) == 1.0
    assert (
        normal_mass(-math.inf, -20.0) == normal_mass(20.0, math.inf) == pytest.approx(stats.norm.cdf(-20.0), rel=1e-13)
    )


ENDS = [
    (-math.inf, math.inf),
    (-math.inf, -9.0),
    (-math.inf, 1.0),
    (-math.inf, 0.2),
    (30.0, math.inf),
    (0.6, math.inf),
    (0.3, math.inf),
    (0.3, 1.0),
    (-0.2, 0.9),
    (-5.0, 7.0),
    (-0.4, 6.0),
    (3.0, 3.01),
    (-8.0, -3.0),
    (-1.0, -0.2),
    (-0.7, -0.5),
    (40.0, 41.0),
]


def truncated_cdf(x, a, b):
    """Φ restricted to [a, b], from the end where it is small."""
    if a > 0:
        a, b, x = -b, -a, -x
        return 1.0 - truncated_cdf(x, a, b)
    low = stats.norm.logcdf(a)
    top = stats.norm.logcdf(b)
    return (np.exp(stats.norm.logcdf(x) - top) - np.exp(low - top)) / -np.expm1(low - top)


@pytest.mark.parametrize(("a", "b"), ENDS)
def test_normal_between(a, b):
    rng = np.random.default_rng(1)
    x = np.array([normal_between(rng, a, b) for _ in range(N)])
    assert ((x >= a) & (x <= b)).all()
    assert stats.kstest(x, truncated_cdf, args=(a, b)).pvalue > ALPHA


def test_normal_excess_keeps_its_digits_far_out():
    """At a = 1e9 the excess is exponential of rate a: a + excess would round to a."""
    rng = np.random.default_rng(2)
    t = np.array([normal_excess(rng, 1e9, math.inf) for _ in range(N)])
    assert stats.kstest(t * 1e9, "expon").pvalue > ALPHA
