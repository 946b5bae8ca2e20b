"""Laplace noise on truncated normals: g and its distribution function against 60 digits, the law of Y given z."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import distribution_function
from pairs.pairs import cdf_of, draws_of, log_g_of, worst
from pairs.truncated import BOUNDS, DIGITS, hard_cases, laplace_parts
from privmix.kernels import HierarchicalNormal, TruncatedNormal
from privmix.mechanisms import Laplace

KERNEL = TruncatedNormal(BOUNDS)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize("n", [800, pytest.param(40_000, marks=pytest.mark.long)])
def test_log_g(n):
    z, theta, scale = hard_cases(n, 1)
    exact = [mp.log(sum(laplace_parts(z[i], *theta[i], scale[i])[:2])) for i in range(n)]
    assert worst(log_g_of(Laplace(scale=scale), KERNEL, z, theta), exact) < 1e-13


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_cdf(n):
    z, theta, scale = hard_cases(n, 2)
    found = cdf_of(Laplace(scale=scale), KERNEL, z, theta)
    for i in range(n):
        below, above, inside = laplace_parts(z[i], *theta[i], scale[i])
        exact = inside + mp.mpf(float(scale[i])) * (above - below)
        assert abs(found[i] - float(exact)) < 1e-14
        if z[i] < BOUNDS[0] and exact > 1e-290:
            # The exponent is rounded.
            assert abs(found[i] / float(exact) - 1.0) < 1e-13 * max(1.0, abs(float(mp.log(exact))))


def test_far_from_the_bounds_it_is_the_normal():
    mechanism, theta = Laplace(scale=0.3), (0.7, 0.02)
    z = np.linspace(-3.0, 5.0, 101)
    wide = log_g_of(mechanism, HierarchicalNormal(BOUNDS), z, theta)
    assert log_g_of(mechanism, KERNEL, z, theta) == pytest.approx(wide, rel=1e-13)


def test_no_jump_where_the_bounds_come_into_reach():
    """At σ about .19 the shorter form gives way to the longer one."""
    variance = np.linspace(0.188, 0.19, 2001) ** 2
    theta = np.column_stack([np.full(2001, 0.8), variance])
    for z in (-4.0, 0.9, 3.0):
        values = log_g_of(Laplace(scale=1.5), KERNEL, np.full(2001, z), theta)
        assert np.abs(np.diff(values, 2)).max() < 1e-8


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_finite_everywhere(n):
    z, theta, scale = hard_cases(n, 3, span=6.0)
    mechanism = Laplace(scale=scale)
    assert np.isfinite(log_g_of(mechanism, KERNEL, z, theta)).all()
    cdf = cdf_of(mechanism, KERNEL, z, theta)
    assert ((cdf >= -1e-15) & (cdf <= 1.0 + 1e-15)).all()
    y = draws_of(mechanism, KERNEL, z, theta)
    assert ((y >= BOUNDS[0]) & (y <= BOUNDS[1])).all()


SETTINGS = [
    # z below, inside and above; μ inside, at an end and outside; the mode of each half inside it, before and beyond it
    (1.0, 0.3, (0.0, 1.0)),
    (1.0, -4.0, (0.0, 1.0)),
    (0.1, 2.9, (2.9, 0.25)),
    (0.5, 1.0, (-1.0, 1.0)),
    (0.02, 1.0, (-1.0, 1.0)),
    (5.0, 2.0, (-4.0, 1.0)),
    (0.3, 2.0, (-4.0, 1.0)),
    (0.3, 2.5, (40.0, 30.0)),
    (0.2, 0.5, (1.0, 1e4)),
    (8.0, 7.0, (1.5, 1e3)),
    (1.0, 1.0, (0.5, 0.01)),
    (0.01, 2.2, (-3.0, 0.3)),
]


@pytest.mark.parametrize(("scale", "z", "theta"), SETTINGS)
def test_records_given_the_release(scale, z, theta):
    y = draws_of(Laplace(scale=scale), KERNEL, np.full(50_000, z), theta)
    edges = np.unique(np.concatenate([np.linspace(*BOUNDS, 4001), np.quantile(y, np.linspace(0, 1, 2001)), [z]]))
    edges = edges[(edges >= BOUNDS[0]) & (edges <= BOUNDS[1])]

    def log_density(points):
        return -np.abs(z - points) / scale - 0.5 * (points - theta[0]) ** 2 / theta[1] - peak

    peak = 0.0
    peak = np.max(log_density(edges))
    cumulative = distribution_function(log_density, edges)
    assert stats.kstest(y, lambda x: cumulative(x) / cumulative(BOUNDS[1])).pvalue > 1e-4
