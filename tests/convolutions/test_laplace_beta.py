import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from convolutions.pairs import cdf_of, log_g_of, worst
from privmix.kernels import Beta
from privmix.mechanisms import Laplace


def log_outside(z, a, b, rate):
    """Return log g outside [0, 1] by Kummer's function at 50 digits."""
    if z >= 1:
        a, b, z = b, a, 1 - z
    return mp.log(rate / 2) + rate * z + mp.log(mp.hyp1f1(a, a + b, -rate))


def log_inside(z, a, b, rate):
    """Return log g inside by quadrature over s = logit y on panels that are fine near z and near the bulk."""
    cut = mp.log(z / (1 - z))
    a, b, rate = mp.mpf(a), mp.mpf(b), mp.mpf(rate)

    def integrand(s):
        y = 1 / (1 + mp.exp(-s))
        return mp.exp(a * mp.log(y) - b * mp.log1p(mp.exp(s)) - rate * abs(z - y))

    points = panels(float(cut), float(a), float(b), float(rate))
    total = mp.quad(integrand, points, method="gauss-legendre", maxdegree=4)
    return mp.log(rate / 2) + mp.log(total) - mp.log(mp.beta(a, b))


def panels(cut, a, b, rate):
    """Return edges from where e^{as} is 1e-17 to where e^{−bs} is, with ever finer ones towards the cut."""
    reach = [-min(40.0 / a, 5e3) + min(math.log(a / b), 0.0) - 10.0, min(40.0 / b, 5e3) + max(math.log(a / b), 0.0) + 10]
    edges = {min(reach[0], cut - 10.0), max(reach[1], cut + 10.0), cut}
    for k in range(-10, 12):
        edges |= {cut + 2.0**k * 0.7, cut - 2.0**k * 0.7}
    spread = 1.0 / math.sqrt(a) + 1.0 / math.sqrt(b)
    edges |= {math.log(a / b) + spread * t for t in np.linspace(-8.0, 8.0, 17)}
    for y in np.linspace(0.05, 0.95, 7):  # where e^{κy} bends
        edges.add(math.log(y / (1.0 - y)))
    low, high = min(reach[0], cut - 10.0), max(reach[1], cut + 10.0)
    return sorted(e for e in edges if low <= e <= high)


SHAPES = [(0.05, 0.05), (0.05, 3.0), (1.0, 1.0), (2.0, 5.0), (40.0, 0.3), (500.0, 20.0), (500.0, 500.0)]
RATES = [1e-3, 1.0, 10.0, 50.0, 1e3]


@pytest.mark.parametrize("rate", [1e-4, *RATES, 1e4])
def test_log_g_outside(rate):
    cases = list(itertools.product(SHAPES, [-1e3, -3.0, -1e-9, 0.0, 1.0, 1.5, 50.0]))
    z = np.array([case[1] for case in cases])
    shapes = np.array([case[0] for case in cases])
    with mp.workdps(50):
        exact = [log_outside(mp.mpf(x), mp.mpf(a), mp.mpf(b), mp.mpf(rate)) for (a, b), x in cases]
    assert worst(log_g_of(Laplace(scale=1.0 / rate), Beta(), z, shapes), exact) < 1e-11


def check_inside(shapes, rates, points, tolerance=1e-8):
    for rate in rates:
        cases = list(itertools.product(shapes, points))
        z = np.array([case[1] for case in cases])
        theta = np.array([case[0] for case in cases])
        with mp.workdps(25):
            exact = [log_inside(mp.mpf(x), a, b, rate) for (a, b), x in cases]
        assert worst(log_g_of(Laplace(scale=1.0 / rate), Beta(), z, theta), exact) < tolerance


def test_log_g_inside():
    check_inside(SHAPES[::2], [1.0, 50.0], [1e-3, 0.6])


@pytest.mark.long
def test_log_g_inside_everywhere():
    check_inside(SHAPES, RATES, [1e-9, 1e-3, 0.2, 0.5, 0.9, 1.0 - 1e-6])


@pytest.mark.parametrize("rate", [1e-3, 1.0, 50.0, 1e3])
def test_log_g_is_smooth_at_the_ends(rate):
    """Inside and outside use different series; g is continuous across both ends where the shapes are not small."""
    shapes = np.array([[2.0, 5.0], [500.0, 20.0], [1.0, 1.0]])
    for end in (0.0, 1.0):
        inside = log_g_of(Laplace(scale=1.0 / rate), Beta(), np.full(3, abs(end - 1e-13)), shapes)
        outside = log_g_of(Laplace(scale=1.0 / rate), Beta(), np.full(3, end), shapes)
        assert inside == pytest.approx(outside, rel=1e-9)


def test_bounds_are_a_change_of_units():
    shapes, z = np.array([0.7, 3.0]), np.linspace(-0.5, 1.5, 11)
    unit = log_g_of(Laplace(scale=0.2), Beta(), z, shapes)
    wide = log_g_of(Laplace(scale=2.0), Beta(bounds=(-3.0, 7.0)), -3.0 + 10.0 * z, shapes)
    assert wide == pytest.approx(unit - math.log(10.0), abs=1e-12)


@pytest.mark.parametrize("shapes", [(0.3, 2.0), (2.0, 5.0), (60.0, 40.0)])
@pytest.mark.parametrize("rate", [1.0, 30.0])
def test_cdf_is_the_integral_of_g(shapes, rate):
    mechanism = Laplace(scale=1.0 / rate)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for low, high in [(-2.0, -1.0), (-0.5, 0.0), (0.2, 0.4), (0.4, 0.7), (1.0, 1.3)]:
        z = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        mass = 0.5 * (high - low) * (np.exp(log_g_of(mechanism, Beta(), z, shapes)) @ weights)
        ends = cdf_of(mechanism, Beta(), [low, high], shapes)
        assert ends[1] - ends[0] == pytest.approx(mass, rel=1e-9, abs=1e-13)
    assert cdf_of(mechanism, Beta(), [60.0], shapes)[0] == pytest.approx(1.0, abs=1e-13)
