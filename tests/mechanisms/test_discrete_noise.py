"""Laws of discrete noise against arithmetic of 60 digits, over intervals far out, narrow and wide."""

import math
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpf

from privmix.jit import bind
from privmix.mechanisms.discrete_noise import (
    log_discrete_gaussian_between,
    log_discrete_gaussian_norm,
    log_discrete_laplace_between,
    log_discrete_laplace_norm,
)

INF = math.inf
SCALES = (0.2, 0.9, 3.0, 6.9, 7.3, 18.3, 100.0, 1e4)


def intervals(scale):
    """Return intervals around 0, on one side, far out, of one point, open to either side, and empty."""
    s = max(1.0, round(scale))
    ends = [
        (-INF, INF),
        (0.0, 0.0),
        (-3.0, 5.0),
        (1.0, INF),
        (-INF, -1.0),
        (-INF, 0.0),
        (s, s),
        (s, 3 * s),
        (3 * s, INF),
    ]
    far = [(9 * s, 9 * s + 4), (9 * s, INF), (-INF, -20 * s), (-2 * s, 60 * s), (-90.0, 40.0), (s * s + 70, INF)]
    return [*ends, *far, (35.0, 135.0), (-5 * s, -4 * s), (2.0, 1.0)]


def exact_gaussian(first, last, scale):
    """Return log of a sum of all terms that count, with 40 digits."""
    with mp.workdps(40):
        s2 = 2 * mpf(scale) ** 2
        nearest = min(max(0, first), last)
        reach = math.ceil(math.sqrt(nearest**2 + 200 * scale**2)) + 1
        low, high = int(max(first, -reach)), int(min(last, reach))
        total = mp.fsum(mp.exp(-(mpf(k) ** 2) / s2) for k in range(low, high + 1))
        return float(mp.log(total) - mp.log(mp.jtheta(3, 0, mp.exp(-1 / s2))))


def exact_laplace(first, last, scale):
    """Return log of a difference of distribution functions on the side where both are small, with 60 digits."""
    if first > 0:
        first, last = -last, -first
    with mp.workdps(60):
        r = mp.exp(-1 / mpf(scale))

        def below(k):
            return 1 - r ** (k + 1) / (1 + r) if k >= 0 else r ** (-k) / (1 + r)

        low = mpf(0) if first == -INF else below(mpf(first) - 1)
        high = mpf(1) if last == INF else below(mpf(last))
        return float(mp.log(high - low))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("compiled", [False, True])
def test_intervals_have_all_their_digits(scale, compiled):
    gaussian = bind(log_discrete_gaussian_between, {}, compiled=compiled)
    laplace = bind(log_discrete_laplace_between, {}, compiled=compiled)
    norm = log_discrete_gaussian_norm(scale)
    for first, last in intervals(scale):
        if first > last:
            assert gaussian(first, last, scale, norm) == laplace(first, last, scale) == -INF
            continue
        assert laplace(first, last, scale) == pytest.approx(exact_laplace(first, last, scale), rel=1e-12, abs=1e-12)
        if scale < 1e3:
            found, exact = gaussian(first, last, scale, norm), exact_gaussian(first, last, scale)
            assert found == pytest.approx(exact, rel=1e-12, abs=1e-12), (first, last)


def test_a_wide_gaussian_is_the_continuous_one():
    found = log_discrete_gaussian_between(1e6, 2e6, 1e6, log_discrete_gaussian_norm(1e6))
    with mp.workdps(30):
        exact = mp.log(mp.ncdf(mpf("2.0000005")) - mp.ncdf(mpf("0.9999995")))
    assert found == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_intervals_of_one_point_are_the_law_itself(scale):
    for k in (-7.0, 0.0, 1.0, 30.0):
        norm = log_discrete_gaussian_norm(scale)
        assert log_discrete_gaussian_between(k, k, scale, norm) == pytest.approx(-((k / scale) ** 2) / 2 - norm)
        law = -abs(k) / scale - log_discrete_laplace_norm(scale)
        assert log_discrete_laplace_between(k, k, scale) == pytest.approx(law, rel=1e-12)


def test_sums_over_all_intervals_are_one():
    for scale in SCALES[:6]:
        norm = log_discrete_gaussian_norm(scale)
        cuts = [-INF, *np.arange(-50.0, 51.0, 7.0), INF]
        total = sum(math.exp(log_discrete_gaussian_between(a, b - 1.0, scale, norm)) for a, b in pairwise(cuts))
        assert total == pytest.approx(1.0, abs=1e-13)
