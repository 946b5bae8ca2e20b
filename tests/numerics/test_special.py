import math

import mpmath
import numpy as np
import pytest
from scipy import special

from numerics.compiled import compiled
from privmix import numerics
from privmix.numerics import log_add_exp, log_beta, normal_cdf

log_add_exp, log_beta, normal_cdf = compiled(log_add_exp, log_beta, normal_cdf)

SHAPES = [1e-8, 1e-3, 0.5, 1.0, 2.0, 7.3, 1e3, 1e5]


def test_every_export_is_tested():
    tested = {"log_add_exp", "log_beta", "normal_cdf"} | {
        "beta_logs",
        "binomial",
        "exponential",
        "gamma",
        "log_gamma_variate",
        "normal",
        "poisson",
        "uniform",
        "uniform_index",
    }
    assert set(numerics.__all__) == tested, "add a test of the new function to tests/numerics, then its name here"


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_log_beta(a, b):
    with mpmath.workdps(50):
        exact = float(mpmath.log(mpmath.beta(mpmath.mpf(a), mpmath.mpf(b))))
    # Three log gammas are subtracted: each is good to an ulp, and the largest is that of a + b.
    assert log_beta(a, b) == pytest.approx(exact, abs=4e-16 * (1.0 + abs(math.lgamma(a + b))), rel=1e-14)


@pytest.mark.parametrize("x", [-38.0, -20.0, -8.0, -1.0, -1e-9, 0.0, 0.3, 1.0, 5.0, 9.0])
def test_normal_cdf(x):
    with mpmath.workdps(50):
        exact = float(mpmath.ncdf(x))
    # The argument's last bit is worth x² ulps of the result.
    assert normal_cdf(x) == pytest.approx(exact, rel=4e-16 * (1.0 + x * x))
    assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1e-12)


def test_log_add_exp():
    values = [-math.inf, -1e4, -745.0, -1.0, 0.0, 1e-12, 3.0, 700.0, 1e4]
    for a in values:
        for b in values:
            assert log_add_exp(a, b) == pytest.approx(np.logaddexp(a, b), rel=1e-15)
