import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from numerics.compiled import compiled
from privmix.numerics.incomplete_beta import (
    beta_inc,
    beta_tails,
    log_beta_inc,
    log_beta_inc_inverse,
    log_beta_weight,
    logit_parts,
)

beta_inc, beta_tails, log_beta_inc, log_beta_inc_inverse, log_beta_weight, logit_parts = compiled(
    beta_inc, beta_tails, log_beta_inc, log_beta_inc_inverse, log_beta_weight, logit_parts
)

SHAPES = [1e-3, 0.05, 0.5, 1.0, 3.0, 40.0, 1e3, 1e4]
PAIRS = list(itertools.product(SHAPES, SHAPES))


def exact_tails(a, b, s):
    """Return (I_x, 1 − I_x) at logit x = s, each by its hypergeometric series on the side where it is small."""
    y = 1 / (1 + mp.exp(mp.mpf(s)))
    if s < math.log(a / b):
        low = mp.betainc(a, b, 0, 1 - y, regularized=True)
        return low, 1 - low
    high = mp.betainc(b, a, 0, y, regularized=True)
    return 1 - high, high


# mpmath takes a minute at the last pair.
@pytest.mark.parametrize(("a", "b"), [*PAIRS[:-1], pytest.param(*PAIRS[-1], marks=pytest.mark.long)])
def test_beta_inc(a, b):
    spread = 1.0 / math.sqrt(a) + 1.0 / math.sqrt(b)
    for s in [-30.0, -5.0, 0.0, 8.0, *(math.log(a / b) + min(spread, 10.0) * np.array([-3.0, -0.3, 0.1, 2.0]))]:
        x, y = logit_parts(s)
        with mp.workdps(50):
            low, high = exact_tails(a, b, float(s))
            log_low = float(mp.log(low))
        # x is rounded: at shapes of 1e4 its last bit is worth 1e4 ulps of x^a.
        slack = 1e-12 + 4e-16 * (a * y + b * x) + 2e-15 * abs(log_low)
        if low > 1e-290:
            assert beta_inc(a, b, x, y) == pytest.approx(float(low), rel=slack), s
            assert beta_tails(a, b, x, y) == pytest.approx((float(low), float(high)), rel=slack, abs=slack)
        assert log_beta_inc(a, b, x, y) == pytest.approx(log_low, rel=slack, abs=slack), s


def test_ends():
    assert beta_inc(2.0, 3.0, 0.0, 1.0) == 0.0
    assert beta_inc(2.0, 3.0, 1.0, 0.0) == 1.0
    assert beta_inc(2.0, 3.0, -math.inf, math.inf) == 0.0
    assert log_beta_inc(2.0, 3.0, 0.0, 1.0) == -math.inf
    assert log_beta_inc(2.0, 3.0, 1.0, 0.0) == 0.0


def test_against_scipy():
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = 10.0 ** rng.uniform(-1, 3, 2)
        x = rng.beta(a, b)
        assert beta_inc(a, b, x, 1.0 - x) == pytest.approx(special.betainc(a, b, x), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_log_beta_weight(a, b):
    for s in (-20.0, -1.0, 0.3, 15.0):
        x, y = logit_parts(s)
        with mp.workdps(50):
            rest = 1 / (1 + mp.exp(mp.mpf(s)))
            exact = a * mp.log(1 - rest) + b * mp.log(rest) - mp.log(mp.beta(a, b))
        assert log_beta_weight(a, b, x, y) == pytest.approx(float(exact), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_inverse(a, b):
    for target in (-2e3, -30.0, -2.0, -0.1):
        s = log_beta_inc_inverse(a, b, target, 800.0)
        x, y = logit_parts(s)
        if -700.0 < s < 700.0:
            assert log_beta_inc(a, b, x, y) == pytest.approx(target, rel=1e-10, abs=1e-10)


def test_inverse_far_below_where_x_underflows():
    """I_x(a, b) is x^a/(a B(a, b)) there, so log I falls by a for each unit of log x."""
    first, second = (log_beta_inc_inverse(0.01, 2.0, target, 0.0) for target in (-10.0, -12.0))
    assert first - second == pytest.approx(200.0, rel=1e-9)
    assert first < -700.0
