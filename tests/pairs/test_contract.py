"""Every pair of built-in parts whose g(z|θ) is known, a new one too: against sums over a fine grid of records.

Digits, and places far out, are the business of each pair's own tests.
"""

import numpy as np
import pytest
from scipy import stats

from kernels.examples import BUILT_IN, drawn_parameters
from kernels.examples import draws_of as draws_of_kernel
from mechanisms.examples import ALL as MECHANISMS
from pairs.pairs import cdf_of, draws_of, log_g_of
from privmix.mechanisms import LocalMechanism
from privmix.mechanisms.cells import cell_hooks
from privmix.pairs import find
from samplers.cases import rest_long

GRID = 200_001


def first_of_each(parts, key):
    """Return one part for each value of the key."""
    found = {}
    for part in parts:
        found.setdefault(key(part), part)
    return list(found.values())


# Kernels that share their density share their pairs: one of them is enough.
KERNELS = first_of_each([cls() for cls in BUILT_IN], key=lambda kernel: type(kernel).log_f)
LOCAL = first_of_each([m for m in MECHANISMS if isinstance(m, LocalMechanism)], key=type)
KNOWN = [(m, k) for m in LOCAL for k in KERNELS if find(m, k).convolution is not None]
# Every mechanism with one kernel, and every formula that is a pair's own; the long run has all.
FEW = first_of_each(KNOWN, key=lambda pair: type(pair[0]))
FEW += [pair for pair in KNOWN if pair not in FEW and not cell_hooks(pair[0]) and not hasattr(pair[0], "mechanism")]


# Published values that stand for several noisy ones have masses.
WITH_CDF = [pair for pair in KNOWN if not hasattr(pair[0], "steps") and find(*pair).convolution.cdf is not None]


def named(part):
    return type(part).__name__


def law_given(mechanism, kernel, z, theta):
    """Return records on a fine grid, and q(z|y) f(y|θ) dy of each."""
    draws = draws_of_kernel(kernel, theta, 2000)
    spread = np.ptp(draws)
    low, high = max(kernel.support[0], draws.min() - spread), min(kernel.support[1], draws.max() + spread)
    y = low + (high - low) * (np.arange(GRID) + 0.5) / GRID
    with np.errstate(divide="ignore"):
        weight = np.exp(mechanism.logpdf(z, y) + kernel.logpdf(y, theta))
    return y, weight * (high - low) / GRID


@pytest.mark.parametrize(("mechanism", "kernel"), rest_long(FEW, KNOWN), ids=named)
def test_g_and_draws_are_those_of_the_mechanism_and_the_kernel(mechanism, kernel):
    theta = drawn_parameters(kernel, 1)[0]
    confidential = draws_of_kernel(kernel, theta, 3)
    released = mechanism.perturb(np.random.default_rng(2), confidential)
    found = log_g_of(mechanism, kernel, mechanism.encode(released), theta)
    for i, z in enumerate(released):
        if mechanism.reveals:
            assert found[i] == pytest.approx(kernel.logpdf(z, theta), rel=1e-12)
            continue
        y, weight = law_given(mechanism, kernel, z, theta)
        assert found[i] == pytest.approx(np.log(weight.sum()), abs=1e-3)
        many = mechanism.encode(np.repeat(released[i : i + 1], 4000, axis=0))
        drawn = draws_of(mechanism, kernel, many, theta)
        cumulative = np.cumsum(weight) / weight.sum()
        assert stats.kstest(drawn, lambda x, y=y, c=cumulative: np.interp(x, y, c)).pvalue > 1e-5


@pytest.mark.parametrize(("mechanism", "kernel"), WITH_CDF, ids=named)
def test_cdf_is_the_integral_of_g(mechanism, kernel):
    theta = drawn_parameters(kernel, 1)[0]
    z = np.sort(mechanism.perturb(np.random.default_rng(2), draws_of_kernel(kernel, theta, 2)))
    between = z[0] + (z[1] - z[0]) * (np.arange(20_000) + 0.5) / 20_000
    mass = np.exp(log_g_of(mechanism, kernel, between, theta)).mean() * (z[1] - z[0])
    assert np.diff(cdf_of(mechanism, kernel, z, theta))[0] == pytest.approx(mass, rel=1e-3)
