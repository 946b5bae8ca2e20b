from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from pairs.pairs import cdf_of, draws_of, log_g_of
from privmix.kernels import Beta, HierarchicalNormal, Normal
from privmix.mechanisms import Gaussian, HaarWavelet, Identity, Laplace
from privmix.pairs import Convolution, Pair, find, register
from privmix.pairs.registry import _registered


@pytest.mark.parametrize(
    ("mechanism", "kernel", "name"),
    [
        (Laplace(scale=1.0), Normal(), "normal-Laplace"),
        (Laplace(scale=1.0), HierarchicalNormal(), "normal-Laplace"),
        (Laplace(scale=1.0), Beta(), "beta-Laplace"),
        (Gaussian(scale=1.0), Normal(), "normal-normal"),
        (Gaussian(scale=1.0), HierarchicalNormal(), "normal-normal"),
        (Identity(), Beta(), "no noise"),
        (HaarWavelet(levels=2, epsilon=1.0), Beta(), "piecewise constant"),
        (HaarWavelet(levels=2, epsilon=1.0), Normal(), "piecewise constant"),
    ],
)
def test_find(mechanism, kernel, name):
    assert find(mechanism, kernel).convolution.name == name


def test_a_pair_without_g():
    assert find(Gaussian(scale=1.0), Beta()) == Pair()


def test_a_registered_pair_comes_first_and_serves_subclasses():
    @dataclass(frozen=True)
    class Mine(Identity):
        pass

    own = Convolution("mine", None, None)
    register(Mine, Normal, own)
    try:
        assert find(Mine(), Normal()).convolution is own
        assert find(Identity(), Normal()).convolution.name == "no noise"
    finally:
        del _registered[Mine, Normal, Convolution]


def test_identity():
    z, shapes = np.linspace(0.05, 0.95, 7), (2.0, 3.0)
    assert log_g_of(Identity(), Beta(), z, shapes) == pytest.approx(stats.beta(*shapes).logpdf(z))
    assert cdf_of(Identity(), Beta(), z, shapes) == pytest.approx(stats.beta(*shapes).cdf(z))
    assert draws_of(Identity(), Beta(), z, shapes).tolist() == z.tolist()
