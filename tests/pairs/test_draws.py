"""Draws of Y given z against the distribution function of q·f by quadrature; and no pair gives a number that is none.

Compared at p > 1e-4 in each setting, with fixed seeds.
"""

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import distribution_function
from pairs.pairs import draws_of, log_g_of
from privmix.kernels import Beta, HierarchicalNormal, Normal
from privmix.mechanisms import Gaussian, HaarWavelet, Laplace, RandomizedResponse, SquareWave

N = 100_000
NORMAL_SETTINGS = [
    (Laplace(scale=1.0), 0.3, (0.0, 1.0)),
    (Laplace(scale=1.0), 12.0, (0.0, 1.0)),
    (Laplace(scale=0.05), -2.0, (0.5, 4.0)),
    (Laplace(scale=20.0), 30.0, (1.0, 0.3)),
    (Laplace(scale=1e-3), 1.0, (0.0, 1.0)),
    (Gaussian(scale=0.5), 2.0, (0.0, 1.0)),
    (Gaussian(scale=5.0), -20.0, (1.0, 0.2)),
    (RandomizedResponse(cells=6, epsilon=1.0, bounds=(-2.0, 2.0)), 4.0, (0.3, 1.5)),
    (SquareWave(epsilon=2.0, bounds=(-2.0, 2.0)), 0.7, (-0.5, 0.8)),
]
BETA_SETTINGS = [
    (Laplace(scale=1.0), 0.3, (2.0, 3.0)),
    (Laplace(scale=0.02), 0.7, (2.0, 3.0)),
    (Laplace(scale=0.02), 0.95, (30.0, 40.0)),
    (Laplace(scale=0.02), -0.2, (0.5, 0.7)),
    (Laplace(scale=1e-3), 0.4, (1.0, 2.0)),
    (Laplace(scale=0.01), 1.4, (5.0, 60.0)),
    (Laplace(scale=0.1), 0.5, (0.4, 0.4)),
    (RandomizedResponse(cells=6, epsilon=1.0, bounds=(0.0, 1.0)), 5.0, (2.0, 3.0)),
    (RandomizedResponse(cells=4, epsilon=4.0, bounds=(0.0, 1.0)), 3.0, (60.0, 40.0)),
    (SquareWave(epsilon=3.0, bounds=(0.0, 1.0)), 0.2, (0.5, 0.4)),
    (SquareWave(epsilon=3.0, bounds=(0.0, 1.0)), 0.97, (30.0, 70.0)),
]


def pvalue(y, log_density, edges):
    cumulative = distribution_function(log_density, edges)
    total = cumulative(edges[-1])
    return stats.kstest(y, lambda x: cumulative(x) / total).pvalue


@pytest.mark.parametrize(("mechanism", "z", "theta"), NORMAL_SETTINGS)
def test_normal(mechanism, z, theta):
    y = draws_of(mechanism, Normal(), np.full(N, z), theta)
    sd = np.sqrt(theta[1])
    low, high = min(z, theta[0] - 12 * sd), max(z, theta[0] + 12 * sd)
    spread = np.std(y)
    near = np.linspace(np.median(y) - 15 * spread, np.median(y) + 15 * spread, 6001)
    edges = np.unique(np.concatenate([near, [z] if low <= z <= high else []]))

    def log_density(points):
        value = mechanism.logpdf(z, points) - 0.5 * (points - theta[0]) ** 2 / theta[1]
        return value - peak

    peak = 0.0
    peak = np.max(log_density(edges))
    assert pvalue(y, log_density, edges) > 1e-4


@pytest.mark.parametrize(
    ("mechanism", "kernel", "z", "theta"),
    [
        (Laplace(scale=1.0), Normal(), 0.3, (0.0, 1.0)),
        (Gaussian(scale=1.0), Normal(), 0.3, (0.0, 1.0)),
        (Laplace(scale=0.02), Beta(), 0.9, (30.0, 40.0)),
        (RandomizedResponse(cells=6, epsilon=1.0, bounds=(0.0, 1.0)), Beta(), 0.0, (2.0, 3.0)),
        (SquareWave(epsilon=2.0, bounds=(-2.0, 2.0)), Normal(), 1.7, (-0.5, 0.8)),
    ],
)
def test_compiled_code_equals_its_twin(mechanism, kernel, z, theta):
    z = np.full(30, z)
    slow = draws_of(mechanism, kernel, z, theta, compiled=False)
    assert draws_of(mechanism, kernel, z, theta) == pytest.approx(slow, rel=1e-11)
    assert log_g_of(mechanism, kernel, z, theta) == pytest.approx(
        log_g_of(mechanism, kernel, z, theta, compiled=False), rel=1e-12
    )


@pytest.mark.parametrize(("mechanism", "z", "theta"), BETA_SETTINGS)
def test_beta(mechanism, z, theta):
    y = draws_of(mechanism, Beta(), np.full(N, z), theta)
    assert ((y >= 0.0) & (y <= 1.0)).all()
    # On the logit scale the density is bounded whatever the shapes.
    s = np.log(y) - np.log1p(-y)
    edges = np.concatenate([np.linspace(-25.0, 25.0, 5001), np.linspace(s.min(), s.max(), 5001)])
    if 0.0 < z < 1.0:
        edges = np.append(edges, np.log(z / (1.0 - z)))
    edges = np.unique(edges)

    def log_density(s):
        x = 1.0 / (1.0 + np.exp(-s))
        return mechanism.logpdf(z, x) - theta[0] * np.log1p(np.exp(-s)) - theta[1] * np.log1p(np.exp(s)) - peak

    peak = 0.0
    peak = np.max(log_density(edges))
    assert pvalue(s, log_density, edges) > 1e-4


def random_normals(rng, n):
    variance = 10.0 ** rng.uniform(-12, 12, n)
    mean = rng.standard_normal(n) * 10.0 ** rng.uniform(-6, 6, n)
    z = np.where(rng.random(n) < 0.5, mean, 0.0) + rng.standard_normal(n) * 10.0 ** rng.uniform(-9, 9, n)
    return z, np.column_stack([mean, variance])


def random_betas(rng, n):
    z = np.where(rng.random(n) < 0.5, rng.random(n), rng.standard_normal(n) * 10.0 ** rng.uniform(-6, 4, n))
    return z, 10.0 ** rng.uniform(-3, 3.5, (n, 2))


@pytest.mark.parametrize("make", [Laplace, Gaussian])
@pytest.mark.parametrize("kernel", [Normal(), HierarchicalNormal()])
def test_normal_is_finite_everywhere(make, kernel):
    rng = np.random.default_rng(5)
    n = 1_000_000
    mechanism = make(scale=10.0 ** rng.uniform(-6, 6, n))
    z, theta = random_normals(rng, n)
    assert np.isfinite(log_g_of(mechanism, kernel, z, theta)).all()
    assert np.isfinite(draws_of(mechanism, kernel, z, theta)).all()


@pytest.mark.parametrize(
    ("log_rate", "n"), [((-4, 2), 100_000), pytest.param((-4, 3), 1_000_000, marks=pytest.mark.long)]
)
def test_laplace_beta_is_finite_everywhere(log_rate, n):
    rng = np.random.default_rng(6)
    mechanism = Laplace(scale=10.0 ** -rng.uniform(*log_rate, n))
    z, shapes = random_betas(rng, n)
    assert np.isfinite(log_g_of(mechanism, Beta(), z, shapes)).all()
    few = Laplace(scale=mechanism.scale[: n // 20])
    y = draws_of(few, Beta(), z[: n // 20], shapes[: n // 20])
    assert ((y >= 0.0) & (y <= 1.0)).all()


@pytest.mark.parametrize(
    ("kernel", "n"),
    [(Normal(), 1_000_000), (Beta(), 100_000), pytest.param(Beta(), 1_000_000, marks=pytest.mark.long)],
)
def test_haar_is_finite_everywhere(kernel, n):
    rng = np.random.default_rng(7)
    mechanism = HaarWavelet(levels=2, scale=0.01)
    theta = random_normals(rng, n)[1] if isinstance(kernel, Normal) else random_betas(rng, n)[1]
    z = mechanism.encode(mechanism.perturb(rng, rng.random(n)))
    assert np.isfinite(log_g_of(mechanism, kernel, z, theta)).all()
    assert np.isfinite(draws_of(mechanism, kernel, z, theta)).all()
