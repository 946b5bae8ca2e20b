import itertools

import mpmath as mp
import numpy as np
import pytest

from pairs.pairs import cdf_of, log_g_of, worst
from privmix.kernels import HierarchicalNormal, Normal
from privmix.mechanisms import Gaussian

SCALE = 0.5
CASES = np.array(list(itertools.product([1e-4, 1e-2, 1.0, 50.0, 1e4], [-1e3, -37.0, -1.0, 0.0, 0.5, 10.0, 1e3])))


def grid():
    sd = CASES[:, 0] * SCALE
    return 0.25 + CASES[:, 1] * sd, np.column_stack([np.full(len(sd), 0.25), sd * sd])


def moments(z, theta):
    variance = mp.mpf(float(theta[1])) + mp.mpf(SCALE) ** 2
    return mp.mpf(float(z)) - mp.mpf(float(theta[0])), variance


@pytest.mark.parametrize("kernel", [Normal(), HierarchicalNormal()])
def test_log_g(kernel):
    z, theta = grid()
    with mp.workdps(50):
        pairs = [moments(z[i], theta[i]) for i in range(len(z))]
        exact = [-d * d / (2 * v) - mp.log(2 * mp.pi * v) / 2 for d, v in pairs]
    assert worst(log_g_of(Gaussian(scale=SCALE), kernel, z, theta), exact) < 1e-12


def test_cdf():
    z, theta = grid()
    found = cdf_of(Gaussian(scale=SCALE), Normal(), z, theta)
    with mp.workdps(50):
        for i in range(len(z)):
            d, v = moments(z[i], theta[i])
            exact = float(mp.erfc(-d / mp.sqrt(2 * v)) / 2)
            assert found[i] == pytest.approx(exact, rel=1e-12, abs=1e-290)
