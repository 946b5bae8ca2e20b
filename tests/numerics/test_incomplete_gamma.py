import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from numerics.compiled import compiled
from numerics.quadrature import ALPHA
from privmix.numerics.incomplete_gamma import log_gamma_p, truncated_gamma
from privmix.numerics.special import log1p_minus, stirling_error

log_gamma_p, truncated_gamma, log1p_minus, stirling_error = compiled(
    log_gamma_p, truncated_gamma, log1p_minus, stirling_error
)

N = 20_000


@pytest.mark.parametrize("t", [-0.99999, -0.5, -0.39, -1e-3, -1e-12, 0.0, 1e-9, 0.1, 0.39, 0.41, 7.0, 1e6])
def test_log1p_minus(t):
    with mp.workdps(50):
        exact = float(mp.log1p(mp.mpf(t)) - mp.mpf(t))
    assert log1p_minus(t, 1.0 + t) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("a", [1e-6, 0.01, 0.5, 3.0, 15.9, 16.1, 200.0, 1e7])
def test_stirling_error(a):
    with mp.workdps(50):
        a_ = mp.mpf(a)
        exact = mp.loggamma(a_ + 1) - (a_ + 0.5) * mp.log(a_) + a_ - mp.log(2 * mp.pi) / 2
    assert stirling_error(a) == pytest.approx(float(exact), abs=2e-14)


def exact_log_p(a, x):
    a, x = mp.mpf(a), mp.mpf(x)
    term = total = mp.mpf(1)
    k = 0
    while term > mp.mpf(10) ** -45 * total:
        k += 1
        term *= x / (a + k)
        total += term
    return a * mp.log(x) - x - mp.loggamma(a + 1) + mp.log(total)


@pytest.mark.parametrize("a", [1e-3, 0.5, 1.0, 15.0, 17.0, 300.0, 5e3])
@pytest.mark.parametrize("ratio", [1e-12, 1e-3, 0.5, 0.97, 1.0, 1.02, 1.5])
def test_log_gamma_p(a, ratio):
    with mp.workdps(50):
        exact = float(exact_log_p(a, a * ratio))
    # log P(a, x) is a log x far below the bulk: relative error; absolute near 0.
    assert log_gamma_p(a, a * ratio) == pytest.approx(exact, rel=1e-13, abs=2e-14)
    found = math.exp(log_gamma_p(a, a * ratio))
    assert found == pytest.approx(special.gammainc(a, a * ratio), rel=1e-10, abs=1e-290)


def test_log_gamma_p_keeps_digits_at_large_shapes():
    with mp.workdps(50):
        exact = float(exact_log_p(1e6, 0.9e6))
    assert log_gamma_p(1e6, 0.9e6) == pytest.approx(exact, rel=1e-14)


def test_log_gamma_p_at_the_ends():
    assert log_gamma_p(2.0, 0.0) == -math.inf
    assert log_gamma_p(2.0, math.inf) == 0.0
    assert log_gamma_p(2.0, 1e4) == 0.0


@pytest.mark.parametrize(
    ("shape", "upper"),
    [
        (3.0, 1e-6),
        (3.0, 1.0),
        (3.0, 2.0),
        (3.0, 2.3),
        (3.0, 10.0),
        (3.0, math.inf),
        (0.3, 0.01),
        (0.3, 0.2),
        (1e4, 9e3),
        (1e4, 9940.0),
        (1e4, 9960.0),
        (1e6, 1e6 - 600.0),
        (1e6, 0.98e6),
    ],
)
def test_truncated_gamma(shape, upper):
    rng = np.random.default_rng(1)
    x = np.array([truncated_gamma(rng, shape, upper) for _ in range(N)])
    assert ((x > 0.0) & (x <= upper)).all()

    def cdf(t):
        return np.exp([log_gamma_p(shape, v) - log_gamma_p(shape, upper) for v in t])

    assert stats.kstest(x, cdf).pvalue > ALPHA
