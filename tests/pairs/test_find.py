from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from kernels.examples import Exponential
from pairs.pairs import cdf_of, draws_of, log_g_of
from privmix.kernels import Beta, HierarchicalNormal, NoisyNormal, Normal, NormalKernel
from privmix.mechanisms import Gaussian, HaarWavelet, Identity, Laplace, LocalMechanism, NoisyHistogram
from privmix.pairs import Conjugate, Convolution, Pair, _registered, find, register
from privmix.pairs.slots import bin_masses, log_g, log_marginal


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


@dataclass(frozen=True)
class OwnNormal(NormalKernel):
    """Normal components with a base measure of a user's own."""

    def base(self, rng, theta):
        theta[0], theta[1] = rng.standard_normal(), 1.0

    def log_base(self, theta):
        return -0.5 * theta[0] ** 2


@pytest.mark.parametrize("make", [Laplace, Gaussian])
def test_any_kernel_of_normal_components_is_served(make):
    mechanism, z = make(scale=0.5), np.linspace(-2.0, 2.0, 5)
    ours = log_g_of(mechanism, OwnNormal(), z, (0.3, 1.2))
    assert ours.tolist() == log_g_of(mechanism, Normal(), z, (0.3, 1.2)).tolist()
    assert find(mechanism, OwnNormal()).conjugate is None


def test_a_conjugate_marginal_of_ones_own_hides_no_convolution():
    known = find(Gaussian(scale=1.0), NoisyNormal()).conjugate
    register(Gaussian, OwnNormal, known)
    try:
        pair = find(Gaussian(scale=1.0), OwnNormal())
        assert pair.conjugate is known
        assert pair.convolution.name == "normal-normal"
        assert {log_g, log_marginal} <= set(pair.hooks())
    finally:
        del _registered[Gaussian, OwnNormal, Conjugate]


def test_a_mechanism_that_reveals_is_without_noise_whatever_its_class():
    @dataclass(frozen=True)
    class Open(LocalMechanism):
        reveals: ClassVar[bool] = True

    assert find(Open(), Beta()).convolution.name == "no noise"


@pytest.mark.parametrize("kernel", [Normal(), Beta()])
def test_masses_of_bins_need_a_mechanism_that_sees_bins_and_a_kernel_with_masses(kernel):
    histogram = NoisyHistogram(10, 4, epsilon=1.0, bounds=(0.0, 1.0))
    assert bin_masses in find(histogram, kernel).masses
    assert find(histogram, kernel).convolution is None
    assert find(histogram, Exponential()) == Pair()
    assert not find(Laplace(scale=1.0), kernel).masses


def test_identity():
    z, shapes = np.linspace(0.05, 0.95, 7), (2.0, 3.0)
    assert log_g_of(Identity(), Beta(), z, shapes) == pytest.approx(stats.beta(*shapes).logpdf(z))
    assert cdf_of(Identity(), Beta(), z, shapes) == pytest.approx(stats.beta(*shapes).cdf(z))
    assert draws_of(Identity(), Beta(), z, shapes).tolist() == z.tolist()
