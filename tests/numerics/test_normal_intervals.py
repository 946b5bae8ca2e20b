import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numerics.compiled import compiled
from numerics.quadrature import ALPHA
from privmix.numerics.normal_intervals import interval_moments, scaled_mass, scaled_tail, tail_draw, tail_mass

scaled_tail, tail_mass, scaled_mass, tail_draw, interval_moments = compiled(
    scaled_tail, tail_mass, scaled_mass, tail_draw, interval_moments
)

STARTS = [0.0, 1e-9, 0.1, 0.66, 0.68, 3.0, 40.0, 1e3, 1e6]
WIDTHS = [1e-9, 1e-3, 0.19, 0.21, 0.59, 0.61, 2.0, 8.4, 8.6, 50.0, 1e5]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def upper_tail(x):
    return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2


def exact_tail_mass(x, width):
    """∫_0^width e^{−xt − t²/2} dt/√2π: by quadrature where it is short, else a difference of tails."""
    x, width = mp.mpf(x), mp.mpf(width)
    with mp.workdps(90):
        fall = width * (x + width / 2)
        if fall < mp.mpf("1e-3"):
            return width / mp.sqrt(2 * mp.pi) * mp.quad(lambda u: mp.exp(-u * width * (x + u * width / 2)), [0, 1])
        scale = mp.exp(x * x / 2)
        return scale * upper_tail(x) - scale * upper_tail(x + width)


@pytest.mark.parametrize("x", [0.0, 0.3, 0.669999, 0.670001, 1.0, 5.0, 1e3, 1e8])
def test_scaled_tail(x):
    exact = mp.exp(mp.mpf(x) ** 2 / 2) * upper_tail(x) if x < 1e4 else 1 / (mp.mpf(x) * mp.sqrt(2 * mp.pi))
    assert scaled_tail(x) == pytest.approx(float(exact), rel=3e-16)


@pytest.mark.parametrize(("x", "width"), list(itertools.product(STARTS, WIDTHS)))
def test_tail_mass(x, width):
    assert tail_mass(x, width) == pytest.approx(float(exact_tail_mass(x, width)), rel=1e-14)


def test_no_width_has_no_mass():
    assert tail_mass(0.0, 0.0) == tail_mass(1e6, 0.0) == 0.0


@pytest.mark.parametrize(
    ("lower", "upper"), [(-0.1, 0.2), (-0.3, 0.31), (-1.0, 0.0), (-8.4, 0.1), (-1e4, 8.4), (-9.0, 9.0), (-1e-7, 1e-8)]
)
def test_mass_around_the_mean(lower, upper):
    exact = (mp.erf(mp.mpf(upper) / mp.sqrt(2)) - mp.erf(mp.mpf(lower) / mp.sqrt(2))) / 2
    assert scaled_mass(lower, upper, upper - lower) == pytest.approx(float(exact), rel=5e-16)


def test_scaled_mass_is_scaled_at_the_end_that_is_nearest():
    assert scaled_mass(2.0, 5.0, 3.0) == tail_mass(2.0, 3.0) == scaled_mass(-5.0, -2.0, 3.0)


@pytest.mark.parametrize(("x", "width"), [(0.0, 0.5), (0.1, 30.0), (0.3, 3.0), (1.0, 1.9), (1.0, 2.1), (50.0, 1.0)])
def test_tail_draw(x, width):
    rng = np.random.default_rng(1)
    t = np.array([tail_draw(rng, x, width) for _ in range(20_000)])
    assert ((t >= 0.0) & (t <= width)).all()
    law = stats.truncnorm(x, x + width)
    assert stats.kstest(t, lambda v: law.cdf(x + v)).pvalue > ALPHA


def exact_moments(peak, lower, upper):
    """Return mean and central moments of a normal around the peak, by the recursion of its truncated raw moments."""
    with mp.workdps(200):
        low, high = mp.mpf(lower) - mp.mpf(peak), mp.mpf(upper) - mp.mpf(peak)

        def bell(t):
            return mp.exp(-t * t / 2) / mp.sqrt(2 * mp.pi)

        near, far = (-high, -low) if high < 0 else (low, high)  # through the smaller tails
        raw = [upper_tail(near) - upper_tail(far), bell(low) - bell(high)]
        for k in (2, 3, 4):
            raw.append((k - 1) * raw[k - 2] + low ** (k - 1) * bell(low) - high ** (k - 1) * bell(high))
        _, first, second, third, fourth = (moment / raw[0] for moment in raw)
        central = second - first**2, third - 3 * first * second + 2 * first**3
        last = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        return [first + mp.mpf(peak), *central, last]


@pytest.mark.parametrize(
    ("peak", "lower", "upper"),
    [(0.0, -9.0, 9.0), (0.0, -0.1, 3.0), (0.0, -1e-4, 1e-4), (-5.0, 0.0, 5.0), (-1e6, 0.0, 4e-5)],
)
def test_moments(peak, lower, upper):
    out = np.zeros(4)
    interval_moments(peak, lower, upper, out)

    exact = exact_moments(peak, lower, upper)
    sd = float(mp.sqrt(exact[1]))
    for found, wanted, power in zip(out, exact, (1, 2, 3, 4), strict=True):
        assert found == pytest.approx(float(wanted), abs=1e-11 * sd**power, rel=1e-13)
    assert math.isclose(sd, math.sqrt(out[1]), rel_tol=1e-12)
