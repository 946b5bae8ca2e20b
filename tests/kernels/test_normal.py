"""The normal kernels against the textbook."""

import re

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from privmix import PrivateMixture
from privmix.kernels import HierarchicalNormal, Normal
from privmix.mechanisms import Identity
from privmix.samplers import Neal3

pytestmark = pytest.mark.xdist_group("kernels")

N = 20_000


def rows(draw, columns=5, n=N, seed=1):
    rng, out = np.random.default_rng(seed), np.zeros((n, columns))
    for row in out:
        draw(rng, row)
    return out


def test_base_measure_is_normal_inverse_gamma():
    kernel = Normal(mean=2.0, precision_scale=0.3, shape=3.0, rate=0.7)
    theta = rows(kernel.base)
    assert stats.kstest(theta[:, 1], stats.invgamma(3.0, scale=0.7).cdf).pvalue > ALPHA
    standard = (theta[:, 0] - 2.0) / np.sqrt(theta[:, 1] / 0.3)
    assert stats.kstest(standard, "norm").pvalue > ALPHA
    assert stats.spearmanr(standard, theta[:, 1]).pvalue > ALPHA
    for mean, variance in [(0.0, 1.0), (-5.0, 0.1), (3.0, 20.0)]:
        exact = stats.norm.logpdf(mean, 2.0, np.sqrt(variance / 0.3)) + stats.invgamma.logpdf(variance, 3.0, scale=0.7)
        assert kernel.log_base(np.array([mean, variance])) == pytest.approx(exact, rel=1e-13)
    assert kernel.log_base(np.array([0.0, 0.0])) == -np.inf
    assert kernel.log_base(np.array([0.0, -1.0])) == -np.inf


@pytest.mark.parametrize("far", [0.0, 1e8])
def test_update_is_the_conjugate_posterior(far):
    """Also far from 0, where a sum of squares would cancel."""
    m, lam, a, b = -6.0 + far, 0.3, 3.0, 0.7
    ys = np.array([1.0, 4.0, 2.5, 2.75, 7.0, -1.0, 0.5]) + far
    kernel = Normal(mean=m, precision_scale=lam, shape=a, rate=b)
    theta = rows(lambda rng, row: kernel.update(rng, row, ys, np.zeros(1)))
    n, average = len(ys), ys.mean()
    lam_n, a_n = lam + n, a + n / 2
    centre = (lam * m + n * average) / lam_n
    b_n = b + 0.5 * ((ys - average) ** 2).sum() + 0.5 * lam * n * (average - m) ** 2 / lam_n
    assert stats.kstest(theta[:, 1], stats.invgamma(a_n, scale=b_n).cdf).pvalue > ALPHA
    marginal = stats.t(2 * a_n, loc=centre, scale=np.sqrt(b_n / (a_n * lam_n)))
    assert stats.kstest(theta[:, 0], marginal.cdf).pvalue > ALPHA
    standard = (theta[:, 0] - centre) / np.sqrt(theta[:, 1] / lam_n)
    assert stats.kstest(standard, "norm").pvalue > ALPHA


def test_update_without_records_is_the_base_measure():
    kernel = Normal(mean=2.0, precision_scale=0.3, shape=3.0, rate=0.7)
    theta = rows(lambda rng, row: kernel.update(rng, row, np.zeros(0), np.zeros(1)))
    assert np.array_equal(theta, rows(kernel.base))


def test_hierarchical_update_draws_each_from_its_conditional():
    kernel, hyper = HierarchicalNormal((-2.0, 8.0)), np.array([1.0, 4.0, 0.5])
    ys, start = np.array([1.0, 4.0, 2.5, 2.75]), np.array([0.0, 2.0, 0.0, 0.0, 0.0])

    def draw(rng, row):
        row[:] = start
        kernel.update(rng, row, ys, np.zeros(1), hyper)

    theta = rows(draw)
    precision = 1 / 4.0 + 4 / 2.0
    conditional = stats.norm((1.0 / 4.0 + ys.sum() / 2.0) / precision, precision**-0.5)
    assert stats.kstest(theta[:, 0], conditional.cdf).pvalue > ALPHA
    rate = 0.5 + 0.5 * ((ys - theta[:, :1]) ** 2).sum(axis=1)
    assert stats.kstest(rate / theta[:, 1], stats.gamma(3.0 + 2.0).cdf).pvalue > ALPHA


def test_hierarchical_base_measure():
    kernel, hyper = HierarchicalNormal((-2.0, 8.0)), np.array([1.0, 4.0, 0.5])
    theta = rows(lambda rng, row: kernel.base(rng, row, hyper))
    assert stats.kstest(theta[:, 0], stats.norm(1.0, 2.0).cdf).pvalue > ALPHA
    assert stats.kstest(theta[:, 1], stats.invgamma(3.0, scale=0.5).cdf).pvalue > ALPHA


def test_hyperpriors_are_the_documented_ones():
    kernel = Normal(mean=(1.0, 2.0), precision_scale=0.5, rate=(3.0, 4.0))
    hyper = rows(kernel.base_hyper, columns=2)
    assert stats.kstest(hyper[:, 0], stats.norm(1.0, 2.0).cdf).pvalue > ALPHA
    assert stats.kstest(hyper[:, 1], stats.gamma(3.0, scale=0.25).cdf).pvalue > ALPHA
    theta, now = np.array([0.3, 1.7]), np.array([-1.0, 0.6])
    fixed = Normal(mean=-1.0, precision_scale=0.5, rate=0.6)
    assert kernel.log_base(theta, now) == fixed.log_base(theta)


def test_learned_mean_and_rate_have_their_conditionals():
    atoms = np.array([[1.0, 0.5], [-2.0, 4.0], [3.0, 2.0]])
    hyper = rows(lambda rng, row: Normal(mean=(1.0, 2.0), rate=(3.0, 4.0)).update_hyper(rng, row, atoms), columns=2)
    precision = 0.25 + 0.1 * (2.0 + 0.25 + 0.5)
    conditional = stats.norm((0.25 + 0.1 * (2.0 - 0.5 + 1.5)) / precision, precision**-0.5)
    assert stats.kstest(hyper[:, 0], conditional.cdf).pvalue > ALPHA
    assert stats.kstest(hyper[:, 1], stats.gamma(3.0 + 9.0, scale=1.0 / (4.0 + 2.75)).cdf).pvalue > ALPHA


def test_only_pairs_are_learned():
    assert Normal().hyperparameters == ()
    assert Normal(mean=[0, 1]).hyperparameters == ("mean",)
    assert Normal(rate=(2.0, 1.0)).hyperparameters == ("rate",)
    model = PrivateMixture(Identity(), Normal(mean=(0.0, 1.0), rate=(2.0, 1.0)))
    message = "Neal3 needs a conjugate marginal: the base measure learns its mean and rate, for which these samplers"
    with pytest.raises(ValueError, match=message):
        Neal3().check(model)
    Neal3().check(PrivateMixture(Identity(), Normal()))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (
            Normal,
            {"mean": (0.0, 0.0)},
            "Normal: mean must be a number, or a pair (m, sd) with sd > 0 for a normal hyperprior; got (0.0, 0.0).",
        ),
        (
            Normal,
            {"rate": (1.0, 2.0, 3.0)},
            "Normal: rate must be a number, or a pair (shape, rate) of positive numbers for a Gamma hyperprior; "
            "got (1.0, 2.0, 3.0).",
        ),
        (
            Normal,
            {"rate": [-1.0, 2.0]},
            "Normal: rate must be a number, or a pair (shape, rate) of positive numbers for a Gamma hyperprior; "
            "got [-1.0, 2.0].",
        ),
        (Normal, {"mean": np.nan}, "Normal: mean must be a finite number; got nan."),
        (Normal, {"mean": "x"}, "Normal: mean must be a finite number; got 'x'."),
        (Normal, {"mean": None}, "Normal: mean must be a finite number; got None."),
        (Normal, {"shape": True}, "Normal: shape must be a finite number; got True."),
        (Normal, {"shape": 0}, "Normal: shape must be positive; got 0."),
        (Normal, {"rate": -1.0}, "Normal: rate must be positive; got -1.0."),
        (Normal, {"precision_scale": 0.0}, "Normal: precision_scale must be positive; got 0.0."),
        (
            HierarchicalNormal,
            {"bounds": (1, 0)},
            "HierarchicalNormal: bounds must be a pair (lower, upper) with lower < upper; got (1, 0).",
        ),
        (
            HierarchicalNormal,
            {"bounds": 3},
            "HierarchicalNormal: bounds must be a pair (lower, upper) with lower < upper; got 3.",
        ),
        (
            HierarchicalNormal,
            {"bounds": (0, np.inf)},
            "HierarchicalNormal: bounds must be a pair (lower, upper) with lower < upper; got (0, inf).",
        ),
    ],
)
def test_bad_arguments(kind, arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(**arguments)


def test_numbers_of_numpy_are_numbers():
    assert Normal(mean=np.int64(1), shape=np.float32(2.0)) == Normal(mean=1.0, shape=2.0)
