import math
from dataclasses import dataclass
from typing import ClassVar

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from pairs.pairs import draws_of, log_g_of, masses_of, worst
from privmix.kernels import Beta, HierarchicalNormal, Kernel, Normal
from privmix.mechanisms import HaarWavelet, LocalMechanism, RandomizedResponse, SquareWave, SubsetSelection
from privmix.pairs import find


@dataclass(frozen=True)
class Steps(LocalMechanism):
    """log q rises by `height` from each of `count` cells to the next, around z."""

    height: float = 1.0
    count: int = 8
    bounds: tuple[float, float] = (0.0, 1.0)

    def log_q(self, z, y):
        x = (y - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        return -self.height * abs(z - min(max(int(self.count * x), 0), self.count - 1))

    def cell_count(self, z):
        return self.count

    def cell_edge(self, z, j):
        return self.bounds[0] + (self.bounds[1] - self.bounds[0]) * j / self.count

    def cell_log_q(self, z, j):
        return -self.height * abs(z - j)


@dataclass(frozen=True)
class Logistic(Kernel):
    """A kernel with a distribution function and no other of the optional hooks."""

    parameters: ClassVar[tuple[str, ...]] = ("location",)

    def log_f(self, y, theta):
        return -(y - theta[0]) - 2.0 * math.log1p(math.exp(-(y - theta[0])))

    def sample(self, rng, theta):
        u = rng.random()
        return theta[0] + math.log(u / (1.0 - u))

    def base(self, rng, theta):
        theta[0] = rng.standard_normal()

    def log_base(self, theta):
        return -0.5 * theta[0] * theta[0]

    def cdf(self, y, theta):
        return 1.0 / (1.0 + math.exp(-(y - theta[0])))


def exact_log_g(mechanism, z, cdf):
    """Return log Σ q_j (F(e_{j+1}) − F(e_j)) at high precision."""
    n = mechanism.cell_count(z)
    edges = [0, *[cdf(mp.mpf(float(mechanism.cell_edge(z, j)))) for j in range(1, n)], 1]
    return mp.log(sum(mp.exp(mechanism.cell_log_q(z, j)) * (edges[j + 1] - edges[j]) for j in range(n)))


def normal_mpf(mean, variance):
    return lambda y: mp.ncdf((y - mp.mpf(mean)) / mp.sqrt(mp.mpf(variance)))


NORMALS = [(0.5, 0.01), (0.5, 1e-8), (-3.0, 0.5), (4.0, 0.04), (0.0, 100.0), (0.1250001, 1e-12), (30.0, 0.9)]
BETAS = [(0.05, 0.05), (0.5, 2.0), (2.0, 5.0), (300.0, 200.0), (1e3, 3.0), (0.01, 30.0)]


@pytest.mark.parametrize("kernel", [Normal(), HierarchicalNormal()])
@pytest.mark.parametrize("height", [0.01, 1.0, 30.0])
def test_log_g_normal(kernel, height):
    mechanism = Steps(height=height)
    for z in (0.0, 3.0, 7.0):
        with mp.workdps(500):  # masses of 1e-400 times e^{210}
            exact = [exact_log_g(mechanism, z, normal_mpf(*theta)) for theta in NORMALS]
        found = log_g_of(mechanism, kernel, np.full(len(NORMALS), z), np.array(NORMALS))
        assert worst(found, exact) < 1e-12


@pytest.mark.parametrize("height", [0.01, 1.0, 30.0])
def test_log_g_beta(height):
    mechanism = Steps(height=height)
    for z in (0.0, 3.0, 7.0):
        with mp.workdps(50):
            exact = [
                exact_log_g(mechanism, z, lambda y, a=a, b=b: mp.betainc(a, b, 0, y, regularized=True))
                for a, b in BETAS
            ]
        found = log_g_of(mechanism, Beta(), np.full(len(BETAS), z), np.array(BETAS))
        assert worst(found, exact) < 1e-12


@pytest.mark.parametrize("staggered", [False, True])
def test_probabilities_of_all_sets_are_those_of_each(staggered):
    mechanism = SubsetSelection(cells=7, epsilon=3.0, bounds=(0.0, 1.0), size=3, staggered=staggered)
    for theta in NORMALS:
        # One more than there are outputs: elsewhere these are edges.
        found = masses_of(mechanism, Normal(), np.append(mechanism.outputs, np.inf), theta)
        each = log_g_of(mechanism, Normal(), mechanism.outputs, np.tile(theta, (len(mechanism.outputs), 1)))
        assert found == pytest.approx(np.exp(each), rel=1e-12)
        assert found.sum() == pytest.approx(1.0, rel=1e-12)


def test_log_g_of_a_kernel_with_cdf_alone():
    mechanism = Steps(bounds=(-4.0, 4.0))
    theta = np.array([[-6.0], [0.0], [1.3], [20.0]])
    with mp.workdps(30):
        exact = [exact_log_g(mechanism, 2.0, lambda y, m=m: 1 / (1 + mp.exp(m - y))) for m in theta[:, 0]]
    assert worst(log_g_of(mechanism, Logistic(), np.full(4, 2.0), theta), exact) < 1e-12


@pytest.mark.parametrize(
    "mechanism",
    [
        HaarWavelet(levels=3, epsilon=5.0),
        RandomizedResponse(cells=5, epsilon=2.0, bounds=(0.0, 1.0)),
        SquareWave(epsilon=2.0, bounds=(0.0, 1.0)),
    ],
)
@pytest.mark.parametrize(("kernel", "theta"), [(Normal(), (0.4, 0.05)), (Beta(), (2.0, 3.0)), (Beta(), (0.4, 0.3))])
def test_library_mechanisms(mechanism, kernel, theta):
    """g is the mean of q over draws of the kernel; here by quadrature of log_q itself, not through the cells."""
    rng = np.random.default_rng(3)
    z = mechanism.perturb(rng, rng.random(40))
    grid = (np.arange(400_000) + 0.5) / 400_000
    scale = np.sqrt(theta[1])
    if isinstance(kernel, Beta):
        from scipy.stats import beta

        y = beta.ppf(grid, *theta)
    else:
        from scipy.stats import norm

        y = norm.ppf(grid, theta[0], scale)
    found = log_g_of(mechanism, kernel, mechanism.encode(z), np.tile(theta, (40, 1)))
    for i in range(0, 40, 8):
        mean = np.mean(np.exp(mechanism.logpdf(z[i], y)))
        assert found[i] == pytest.approx(math.log(mean), abs=2e-4)


def test_draws_lie_in_the_cell_that_z_points_to():
    mechanism = Steps(height=200.0)
    for kernel, theta in [(Normal(), (0.9, 0.01)), (Beta(), (0.5, 0.5))]:
        z = np.repeat(np.arange(8.0), 500)
        y = draws_of(mechanism, kernel, z, theta)
        assert np.array_equal(np.clip(np.floor(8.0 * y), 0, 7), z)


def test_draws_of_a_kernel_with_cdf_alone():
    mechanism, n = Steps(bounds=(-4.0, 4.0), count=4), 20_000
    y = draws_of(mechanism, Logistic(), np.full(n, 3.0), [0.5])
    edges = np.array([-2.0, 0.0, 2.0])
    cell = np.searchsorted(edges, y)
    mass = np.diff(np.concatenate([[0.0], 1.0 / (1.0 + np.exp(0.5 - edges)), [1.0]]))
    weights = mass * np.exp(-np.abs(3.0 - np.arange(4)))
    expected = n * weights / weights.sum()
    assert np.sum((np.bincount(cell, minlength=4) - expected) ** 2 / expected) < 30.0


def test_no_cells_no_convolution():
    class Plain(LocalMechanism):
        pass

    assert find(Plain(), Normal()).convolution is None


@pytest.mark.parametrize("epsilon", [16.0, 20.0, 25.0, 50.0, 700.0])
def test_a_wave_narrower_than_floating_point_can_tell(epsilon):
    """In the limit a release is the record itself with probability (ε−1)/ε or so, else uniform: g is their mixture."""
    bounds = (-10.0, 10.0)
    mechanism = SquareWave(epsilon=epsilon, bounds=bounds)
    near = 2.0 * mechanism.half_width / (2.0 * mechanism.half_width + math.exp(-epsilon))
    z, means, sigma = np.array([-9.9, -4.0, 0.3, 6.0]), [-5.0, 0.5], 1.3
    for mean in means:
        exact = np.log(near * stats.norm(mean, sigma).pdf(z) + (1.0 - near) / 20.0)
        found = log_g_of(mechanism, Normal(), z, [mean, sigma**2])
        assert found == pytest.approx(exact, rel=1e-6)
