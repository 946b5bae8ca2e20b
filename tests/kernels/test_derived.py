"""What follows from a kernel's distribution function or from its masses, and what does not."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from kernels.examples import Exponential
from privmix.jit import bind
from privmix.kernels import Kernel, Normal
from privmix.kernels.slots import cdf, lower_tail, mass, sample_between, upper_tail
from privmix.numerics import exponential

RATE = 0.7
ROW = np.array([RATE])
LAW = stats.expon(scale=1.0 / RATE)


@dataclass(frozen=True)
class WithCdf(Exponential):
    def cdf(self, y, theta):
        return -math.expm1(-theta[0] * y) if y > 0.0 else 0.0


@dataclass(frozen=True)
class WithMass(Exponential):
    def mass(self, lower, upper, theta):
        low = math.exp(-theta[0] * max(lower, 0.0))
        return low - (math.exp(-theta[0] * upper) if upper < math.inf else 0.0)


@dataclass(frozen=True)
class WithField(Exponential):
    """A parameter that happens to be called mass."""

    mass: float = 2.0


DERIVED = ("cdf", "mass", "sample_between", "lower_tail", "upper_tail")


def each(kernel, rng, theta, lower, upper, out, draws):
    out[0] = cdf(kernel, upper, theta)
    out[1] = mass(kernel, lower, upper, theta)
    out[2] = lower_tail(kernel, lower, theta)
    out[3] = upper_tail(kernel, lower, theta)
    for i in range(len(draws)):
        draws[i] = sample_between(kernel, rng, theta, lower, upper)


@pytest.mark.parametrize("kernel", [WithCdf(), WithMass()], ids=lambda k: type(k).__name__)
def test_either_gives_the_rest(kernel):
    assert all(kernel.has(name) for name in DERIVED)
    assert not kernel.has("central_moments")
    out, draws, (lower, upper) = np.zeros(4), np.zeros(5000), (0.5, 2.0)
    run = bind(each, kernel.hooks(), owner="test")
    run(kernel.numbers(), np.random.default_rng(1), ROW, lower, upper, out, draws)
    inside = LAW.cdf(upper) - LAW.cdf(lower)
    assert out == pytest.approx([LAW.cdf(upper), inside, LAW.cdf(lower), LAW.sf(lower)], rel=1e-12)
    assert ((draws >= lower) & (draws <= upper)).all()
    assert stats.kstest(draws, lambda y: (LAW.cdf(y) - LAW.cdf(lower)) / inside).pvalue > 1e-4


def test_masses_give_tails_that_keep_their_digits():
    out = np.zeros(4)
    run = bind(each, WithMass().hooks(), owner="test")
    run(WithMass().numbers(), np.random.default_rng(1), ROW, 80.0, 90.0, out, np.zeros(0))
    assert out[3] == pytest.approx(LAW.sf(80.0), rel=1e-12)


@pytest.mark.parametrize("kernel", [Exponential(), WithField()], ids=lambda k: type(k).__name__)
def test_nothing_follows_from_neither(kernel):
    assert not any(kernel.has(name) for name in DERIVED)
    with pytest.raises(NotImplementedError, match=r"slot privmix\.kernels\.slots"):
        bind(each, kernel.hooks(), compiled=False)


def test_hooks_of_its_own_come_first():
    hooks = Normal().hooks()
    assert [hooks[stub] for stub in (cdf, mass, sample_between)] == [Normal.cdf, Normal.mass, Normal.sample_between]


def test_required_hooks_can_be_asked_for_too():
    class Bare(Kernel):
        parameters: ClassVar[tuple[str, ...]] = ("rate",)

        def sample(self, rng, theta):
            return exponential(rng)

    assert Exponential().has("log_base")
    assert not Exponential().has("update")
    assert not Bare().has("log_base")
