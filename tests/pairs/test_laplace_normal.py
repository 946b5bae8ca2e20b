import itertools

import mpmath as mp
import numpy as np
import pytest

from pairs.pairs import cdf_of, log_g_of, worst
from privmix.kernels import HierarchicalNormal, Normal
from privmix.mechanisms import Laplace

RATIOS = [1e-4, 1e-3, 0.03, 0.5, 1.0, 3.0, 30.0, 1e3, 1e5]
DISTANCES = [0.0, 1e-6, 0.3, 1.0, 2.9, 3.1, 8.4, 8.6, 12.0, 29.0, 31.0, 100.0, 999.0, 1001.0]
CASES = [(ratio, sign * d) for ratio, d, sign in itertools.product(RATIOS, DISTANCES, (1.0, -1.0))]
MEAN, SCALE = 0.25, 0.5


def grid():
    """Return z, (μ, σ²) and one scale; σ = ratio · scale."""
    ratio, d = np.array(CASES).T
    sd = ratio * SCALE
    return MEAN + sd * d, np.column_stack([np.full(len(d), MEAN), sd * sd])


def parts(z, mean, variance, scale):
    """Return the parts of 2b·g below and above z, and 1/σ and the rest, at 50 digits."""
    sd = mp.sqrt(mp.mpf(float(variance)))
    b = mp.mpf(scale)
    d, r = (mp.mpf(float(z)) - mp.mpf(float(mean))) / sd, sd / b
    half = mp.sqrt(mp.mpf(1) / 2)
    below = mp.exp(-r * d + r * r / 2) * mp.erfc((r - d) * half) / 2
    above = mp.exp(r * d + r * r / 2) * mp.erfc((r + d) * half) / 2
    return below, above, d, sd, b


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(50):
        yield


@pytest.mark.parametrize("kernel", [Normal(), HierarchicalNormal()])
def test_log_g(kernel):
    z, theta = grid()
    exact = []
    for i in range(len(z)):
        below, above, _, _, b = parts(z[i], *theta[i], SCALE)
        exact.append(mp.log((below + above) / (2 * b)))
    assert worst(log_g_of(Laplace(scale=SCALE), kernel, z, theta), exact) < 1e-12


def test_a_scale_for_each_record():
    z, theta = np.array([0.3, 0.3]), [0.0, 1.0]
    both = log_g_of(Laplace(scale=[0.5, 2.0]), Normal(), z, theta)
    each = [log_g_of(Laplace(scale=s), Normal(), z[:1], theta)[0] for s in (0.5, 2.0)]
    assert both.tolist() == each


def test_cdf():
    z, theta = grid()
    found = cdf_of(Laplace(scale=SCALE), Normal(), z, theta)
    for i in range(len(z)):
        below, above, d, _, _ = parts(z[i], *theta[i], SCALE)
        exact = mp.erfc(-d / mp.sqrt(2)) / 2 + (above - below) / 2
        if exact > 1e-290:
            # Two exponents of size d·r and d²/2 are rounded.
            slack = 1e-14 + 4e-16 * abs(float(mp.log(exact)))
            assert abs(found[i] / float(exact) - 1.0) < 10 * slack, CASES[i]
        else:
            assert 0.0 <= found[i] <= 1e-289
