"""Moments of components however narrow: stated by the kernel, or by quadrature that finds them."""

import numpy as np
import pytest
from scipy import stats

from kernels.examples import Exponential
from numerics.quadrature import NODES, WEIGHTS
from privmix import kernels
from privmix.curves.functionals import moment_draws
from privmix.curves.moments import raw_moments
from privmix.samplers.base import Draws

INSIDE = (0.0, 1.0)
# Standard deviations in units of the interval, down to a billionth.
SDS = [0.2, 0.03, 1e-3, 1e-6, 1e-9]
# Stated by the kernel; integrated, because the normal kernel is cut.
KERNELS = [(kernels.TruncatedNormal(INSIDE), None), (kernels.Normal(), INSIDE)]


class Bounded(Exponential):
    """Exponential components of which all that matters is in a unit: neither moments nor distribution function."""

    support = (0.0, 1.0)


def draws_of(weight, atom):
    """Return one draw with these components."""
    atom = np.array(atom, dtype=np.float64)[None, None]
    none, one = np.zeros((1, 1, 0)), np.ones((1, 1))
    count = np.full((1, 1), atom.shape[2], np.int64)
    return Draws(count, one, none, count, np.array(weight, dtype=np.float64)[None, None], atom, none, none)


def exact_moments(law):
    mean, variance, skewness, excess = (float(value) for value in law.stats("mvsk"))
    return [mean, variance, variance**0.5, skewness, excess]


@pytest.mark.parametrize("sd", SDS)
@pytest.mark.parametrize(("kernel", "cut"), KERNELS, ids=str)
def test_one_component_however_narrow(kernel, cut, sd):
    found = moment_draws(kernel, draws_of([1.0], [[0.6, sd * sd]]), cut)[0]
    law = stats.norm(0.6, sd)
    if sd > 0.01:
        law = stats.truncnorm(-0.6 / sd, 0.4 / sd, 0.6, sd)
    assert found[:3] == pytest.approx(exact_moments(law)[:3], rel=1e-6)
    assert found[3:] == pytest.approx(exact_moments(law)[3:], abs=1e-5)


@pytest.mark.parametrize(("kernel", "cut"), KERNELS, ids=str)
def test_spikes_beside_a_wide_component(kernel, cut):
    """Two spikes a billionth wide, and a bulk: what the law of total variance says."""
    weight, mean, sd = np.array([0.3, 0.2, 0.5]), np.array([0.25, 0.7, 0.5]), np.array([1e-9, 1e-7, 0.05])
    found = moment_draws(kernel, draws_of(weight, np.stack([mean, sd**2], axis=1)), cut)[0]
    average = weight @ mean
    gap = mean - average
    second = weight @ (sd**2 + gap**2)
    third = weight @ (3.0 * sd**2 * gap + gap**3)
    fourth = weight @ (3.0 * sd**4 + 6.0 * sd**2 * gap**2 + gap**4)
    exact = [average, second, second**0.5, third / second**1.5, fourth / second**2 - 3.0]
    assert found == pytest.approx(exact, rel=1e-6)


def test_kernel_that_states_nothing():
    """A rate of 1e9: all of the component within a billionth of the end."""
    for rate in (40.0, 1e4, 1e9):
        found = moment_draws(Bounded(), draws_of([1.0], [[rate]]), None)[0]
        assert found == pytest.approx([1.0 / rate, rate**-2, 1.0 / rate, 2.0, 6.0], rel=1e-6)


def test_a_cut_through_a_component_leaves_its_tail():
    """The mass beyond the cut counts for nothing, however much it is."""
    draws = draws_of([0.99, 0.01], [[-0.5, 0.01], [0.5, 0.01]])
    found = raw_moments(kernels.Normal(), draws, INSIDE, exact=False)[0]
    nodes = (np.arange(400)[:, None] + 0.5 * (1.0 + NODES)).ravel() / 400
    density = 0.99 * stats.norm.pdf(nodes, -0.5, 0.1) + 0.01 * stats.norm.pdf(nodes, 0.5, 0.1)
    mass = density * np.tile(WEIGHTS, 400)
    mean = mass @ nodes / mass.sum()
    exact = [mean, *[mass @ (nodes - mean) ** k / mass.sum() for k in (2, 3, 4)]]
    assert found == pytest.approx(exact, rel=1e-6)


def test_narrower_than_floats_can_tell_is_a_point():
    for kernel, cut in KERNELS:
        found = moment_draws(kernel, draws_of([0.5, 0.5], [[0.25, 1e-40], [0.75, 1e-40]]), cut)[0]
        assert found == pytest.approx([0.5, 0.0625, 0.25, 0.0, -2.0], rel=1e-9, abs=1e-9)
        assert np.isfinite(moment_draws(kernel, draws_of([1.0], [[0.25, 1e-40]]), cut)).all()
