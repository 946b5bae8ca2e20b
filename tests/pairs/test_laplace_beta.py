import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from pairs.pairs import cdf_of, log_g_of, worst
from privmix.kernels import Beta
from privmix.mechanisms import Laplace


def log_outside(z, a, b, rate):
    """Return log g outside [0, 1] by Kummer's function at 50 digits."""
    if z >= 1:
        a, b, z = b, a, 1 - z
    return mp.log(rate / 2) + rate * z + mp.log(mp.hyp1f1(a, a + b, -rate))


def log_inside(z, a, b, rate):
    """Return log g inside [0, 1] by the series run upwards, where digits cancel: so with hundreds of them."""
    with mp.workdps(120 + int(3 * rate)):
        below, above = upward(a, b, mp.mpf(z), rate), upward(b, a, 1 - mp.mpf(z), rate)
        return float(mp.log(mp.mpf(rate) / 2) + mp.log(below + above))


def upward(a, b, x, rate):
    """Return ∫_0^x e^{−rate(x−y)} Beta(y|a, b) dy by J_{k+1} = ((a+k) J_k − w x^k)/(a+b+k)."""
    a, b = mp.mpf(a), mp.mpf(b)
    moment = mp.betainc(a, b, 0, x, regularized=True)
    edge = x**a * (1 - x) ** b / mp.beta(a, b)
    total, weight = mp.mpf(0), mp.mpf(1)
    for k in range(int(rate + 12 * math.sqrt(rate) + 40)):
        total += weight * moment
        moment = ((a + k) * moment - edge * x**k) / (a + b + k)
        weight *= mp.mpf(rate) / (k + 1)
    return mp.exp(-rate * x) * total


def log_inside_by_quadrature(z, a, b, rate):
    """Return log g inside [0, 1] by quadrature of q·f over logit y."""
    points = [z - 2.0**-k for k in range(40) if z > 2.0**-k] + [z + 2.0**-k for k in range(40) if z + 2.0**-k < 1]
    logits = sorted({math.log(p / (1 - p)) for p in [*points, *np.linspace(0.02, 0.98, 25), z]})
    ends = [-40.0 / a - 10.0, -20.0, *[s for s in logits if abs(s) < 20.0], 20.0, 40.0 / b + 10.0]

    def integrand(s):
        y = 1 / (1 + mp.exp(-s))
        return mp.exp(a * mp.log(y) - b * mp.log1p(mp.exp(s)) - rate * abs(z - y))

    with mp.workdps(20):
        total = mp.quad(integrand, sorted(ends), method="gauss-legendre", maxdegree=4)
        return float(mp.log(mp.mpf(rate) / 2) + mp.log(total) - mp.log(mp.beta(a, b)))


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


@pytest.mark.parametrize("rate", [1e-3, 1.0, 10.0, 50.0, pytest.param(1e3, marks=pytest.mark.long)])
def test_log_g_inside(rate):
    cases = list(itertools.product(SHAPES, [1e-9, 1e-3, 0.2, 0.5, 0.9, 1.0 - 1e-6]))
    exact = [log_inside(x, a, b, rate) for (a, b), x in cases]
    z, theta = np.array([case[1] for case in cases]), np.array([case[0] for case in cases])
    assert worst(log_g_of(Laplace(scale=1.0 / rate), Beta(), z, theta), exact) < 1e-11


@pytest.mark.parametrize(("shapes", "rate"), [((0.5, 0.7), 1.0), ((2.0, 5.0), 50.0), ((30.0, 10.0), 10.0)])
def test_log_g_inside_by_quadrature(shapes, rate):
    z = np.array([0.03, 0.6])
    exact = [log_inside_by_quadrature(x, *shapes, rate) for x in z]
    assert worst(log_g_of(Laplace(scale=1.0 / rate), Beta(), z, shapes), exact) < 1e-10


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
