"""Normal components of several columns under noise: g(z|θ) and Y given z against SciPy, entries missing too."""

import numpy as np
import pytest
from scipy import stats

from kernels.examples import row_of
from numerics.quadrature import ALPHA
from privmix.jit import bind
from privmix.kernels import MultivariateNormal
from privmix.mechanisms import Each, Gaussian, Identity, VectorGaussian
from privmix.mechanisms.slots import at_record
from privmix.pairs import find
from privmix.pairs.slots import draw_given_at, log_g

pytestmark = pytest.mark.xdist_group("rows")

NAMES = ("a", "b", "c")
KERNEL = MultivariateNormal(NAMES)
MEAN, SIGMA = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0.9, -0.3], [0.9, 1.0, 0.2], [-0.3, 0.2, 0.7]])
THETA = row_of(KERNEL, [*MEAN, *SIGMA[np.tril_indices(3)]])
Z = np.random.default_rng(1).standard_normal((40, 3)) * 2.0
GAPS = np.where(np.random.default_rng(2).random((40, 3)) < 0.4, np.nan, Z)
GAPS[7] = np.nan
TILTED = [np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.5], [0.0, 0.5, 0.4]]) * (1.0 + i) for i in range(40)]
NOISES = {
    "one": (VectorGaussian(NAMES, scale=0.7), GAPS, [0.49 * np.eye(3)] * 40),
    "by column": (VectorGaussian(NAMES, scale=[0.5, 1.0, 2.0]), GAPS, [np.diag([0.25, 1.0, 4.0])] * 40),
    "by mechanism": (
        Each({name: Gaussian(scale=scale) for name, scale in zip(NAMES, (0.5, 1.0, 2.0), strict=True)}),
        GAPS,
        [np.diag([0.25, 1.0, 4.0])] * 40,
    ),
    "by record": (
        VectorGaussian(NAMES, scale=np.full((40, 3), [0.5, 1.0, 2.0]) * np.arange(1.0, 41.0)[:, None]),
        GAPS,
        [np.diag([0.25, 1.0, 4.0]) * k**2 for k in range(1, 41)],
    ),
    "covariances": (VectorGaussian(NAMES, scale=np.array(TILTED)), Z, TILTED),
}


def log_g_each(mechanism, kernel, z, theta, out):
    """Fill log g of each record, all under one atom."""
    for i in range(len(out)):
        out[i] = log_g(at_record(mechanism, i), kernel, z[i], theta)


def draw_each(mechanism, kernel, rng, z, theta, which, out):
    """Fill draws of Y given one record's release."""
    for i in range(len(out)):
        draw_given_at(at_record(mechanism, which), kernel, rng, z[which], theta, out, i)


def compiled(function, mechanism):
    hooks = {**KERNEL.hooks(), **mechanism.hooks(), **find(mechanism, KERNEL).hooks()}
    return bind(function, hooks, owner="test")


def log_g_of(mechanism, z):
    out = np.empty(len(z))
    compiled(log_g_each, mechanism)(mechanism.numbers(), KERNEL.numbers(), z, THETA.copy(), out)
    return out


def exact_log_g(z, noise):
    there = ~np.isnan(z)
    if not there.any():
        return 0.0
    return stats.multivariate_normal(MEAN[there], (SIGMA + noise)[np.ix_(there, there)]).logpdf(z[there])


@pytest.mark.parametrize("name", NOISES)
def test_density_of_a_release_is_that_of_the_entries_that_are_there(name):
    mechanism, z, noises = NOISES[name]
    exact = [exact_log_g(row, noise) for row, noise in zip(z, noises, strict=True)]
    assert log_g_of(mechanism, z) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["by column", "by mechanism", "covariances"])
def test_record_given_its_release_follows_its_law(name):
    mechanism, z, noises = NOISES[name]
    for which in (3,) if name == "covariances" else (0, 1, 7):
        there, out = ~np.isnan(z[which]), np.zeros((40_000, 3))
        run, rng = compiled(draw_each, mechanism), np.random.default_rng(1)
        run(mechanism.numbers(), KERNEL.numbers(), rng, z, THETA.copy(), which, out)
        gain = SIGMA[:, there] @ np.linalg.inv((SIGMA + noises[which])[np.ix_(there, there)])
        mean = MEAN + gain @ (z[which] - MEAN)[there]
        sigma = SIGMA - gain @ SIGMA[there]
        for direction in [*np.eye(3), [1.0, -1.0, 2.0], [2.0, 1.0, 1.0]]:
            law = stats.norm(mean @ direction, np.sqrt(direction @ sigma @ direction))
            assert stats.kstest(out @ direction, law.cdf).pvalue > ALPHA


def test_records_without_noise_are_their_release():
    mechanism = Each({name: Identity() for name in NAMES})
    assert log_g_of(mechanism, Z) == pytest.approx(stats.multivariate_normal(MEAN, SIGMA).logpdf(Z), rel=1e-12)
    out = np.zeros((2, 3))
    run = compiled(draw_each, mechanism)
    run(mechanism.numbers(), KERNEL.numbers(), np.random.default_rng(1), Z, THETA.copy(), 4, out)
    assert np.array_equal(out, Z[[4, 4]])
