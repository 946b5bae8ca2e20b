"""The optional hooks of kernels that convolutions use: the mass of an interval and draws truncated to it."""

import math

import numpy as np
import pytest
from scipy import stats

from privmix.jit import bind
from privmix.kernels import Beta, HierarchicalNormal, Normal
from privmix.kernels.beta import beta_between, invert_between
from privmix.numerics.incomplete_beta import log_beta_inc

N = 20_000


def _invert_each(rng, a, b, low, high, out):
    for i in range(len(out)):
        out[i] = invert_between(rng, a, b, low, high)[0]


def _between_each(rng, a, b, low, high, out):
    for i in range(len(out)):
        out[i] = beta_between(rng, a, b, low, high)[0]


@pytest.mark.parametrize("each", [_invert_each, _between_each])
@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        (2.0, 3.0, 0.1, 0.6),
        (2.0, 3.0, 0.0, 1.0),
        (2.0, 3.0, 0.9, 1.0),
        (300.0, 200.0, 0.2, 0.3),
        (300.0, 200.0, 0.8, 0.9),
        (300.0, 200.0, 0.59, 0.62),
        (0.3, 0.4, 0.0, 0.4),
        (0.3, 0.4, 0.05, 0.999),
        (0.5, 40.0, 0.3, 0.7),
    ],
)
def test_truncated_beta(each, a, b, low, high):
    x = np.empty(N)
    ends = (low, 1.0 - low), (high, 1.0 - high)
    bind(each, {}, owner="test")(np.random.default_rng(1), a, b, *ends, x)
    assert ((x >= low) & (x <= high)).all()

    def cdf(t):
        if low > a / (a + b):  # from the other end, where the tail is small
            tails = np.exp([log_beta_inc(b, a, 1.0 - v, v) - log_beta_inc(b, a, 1.0 - low, low) for v in t])
            last = math.exp(log_beta_inc(b, a, 1.0 - high, high) - log_beta_inc(b, a, 1.0 - low, low))
            return (1.0 - tails) / (1.0 - last)
        tails = np.exp([log_beta_inc(a, b, v, 1.0 - v) - log_beta_inc(a, b, high, 1.0 - high) for v in t])
        first = math.exp(log_beta_inc(a, b, low, 1.0 - low) - log_beta_inc(a, b, high, 1.0 - high))
        return (tails - first) / (1.0 - first)

    assert stats.kstest(x, cdf).pvalue > 1e-4


@pytest.mark.parametrize("kernel", [Normal(), HierarchicalNormal()])
def test_normal_hooks(kernel):
    theta = np.zeros(5)
    theta[:2] = 1.0, 4.0
    kernel.prepare(theta)
    law = stats.norm(1.0, 2.0)
    assert kernel.mass(-math.inf, -30.0, theta) == pytest.approx(law.cdf(-30.0), rel=1e-12)
    assert kernel.mass(30.0, 31.0, theta) == pytest.approx(law.sf(30.0) - law.sf(31.0), rel=1e-12)
    rng = np.random.default_rng(1)
    for low, high in [(-math.inf, 0.0), (5.0, 5.5), (-0.5, 3.0), (-40.0, -20.0), (2.5, math.inf)]:
        y = np.array([kernel.sample_between(rng, theta, low, high) for _ in range(3000)])
        assert ((y >= low) & (y <= high)).all()
        mass = kernel.mass(low, high, theta)
        assert (
            stats.kstest(y, lambda t, m=mass, low=low: np.array([kernel.mass(low, v, theta) for v in t]) / m).pvalue
            > 1e-4
        )


def test_beta_hooks():
    kernel = Beta(bounds=(-1.0, 3.0))
    theta = np.array([2.0, 30.0, 0.0])
    kernel.prepare(theta)
    law = stats.beta(2.0, 30.0, loc=-1.0, scale=4.0)
    assert kernel.cdf(0.2, theta) == pytest.approx(law.cdf(0.2), rel=1e-12)
    assert (kernel.cdf(-1.5, theta), kernel.cdf(3.5, theta)) == (0.0, 1.0)
    assert kernel.mass(2.0, math.inf, theta) == pytest.approx(law.sf(2.0), rel=1e-10)
    assert kernel.mass(-math.inf, -0.999, theta) == pytest.approx(law.cdf(-0.999), rel=1e-10)
    assert kernel.mass(-math.inf, math.inf, theta) == 1.0
    rng = np.random.default_rng(1)
    for low, high in [(-math.inf, -0.9), (1.0, 1.2), (0.0, math.inf)]:
        y = np.array([kernel.sample_between(rng, theta, low, high) for _ in range(500)])
        assert ((y >= max(low, -1.0)) & (y <= min(high, 3.0))).all()
