"""Discrete Gaussian noise on records: its privacy profile. What it shares is tested with discrete Laplace noise."""

import numpy as np
import pytest
from scipy.special import logsumexp

from privmix.mechanisms import DiscreteGaussian, Gaussian
from privmix.mechanisms.discrete_gaussian import discrete_gaussian_delta, discrete_gaussian_scale

EXAMPLES = [
    DiscreteGaussian(rho=0.4, bounds=(0.0, 10.0)),
    DiscreteGaussian(epsilon=1.5, delta=0.01, bounds=(-3.0, 5.0), step=0.5),
    DiscreteGaussian(scale=1.5),
]


@pytest.mark.parametrize(("shift", "s", "epsilon"), [(1, 0.7, 0.5), (5, 4.0, 1.0), (20, 9.0, 3.0), (300, 200.0, 0.3)])
def test_profile_is_the_sum_over_whole_numbers(shift, s, epsilon):
    k = np.arange(-60 * max(s, 1) - shift, 60 * max(s, 1) + shift + 1)
    k = np.rint(k)
    log_p = -0.5 * (k / s) ** 2
    log_p -= logsumexp(log_p)
    log_q = -0.5 * ((k + shift) / s) ** 2
    log_q -= logsumexp(log_q)
    wanted = np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0.0).sum()
    assert discrete_gaussian_delta(shift, s, epsilon) == pytest.approx(wanted, rel=1e-9)
    assert discrete_gaussian_delta(0.5 * shift, 0.5 * s, epsilon, step=0.5) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.1, 1e-6), (5.0, 1e-9)])
def test_scale_has_the_wanted_delta_and_is_near_that_of_the_line(epsilon, delta):
    scale = discrete_gaussian_scale(10.0, epsilon=epsilon, delta=delta)
    assert discrete_gaussian_delta(10.0, scale, epsilon) <= delta
    assert discrete_gaussian_delta(10.0, scale * (1 - 1e-9), epsilon) > delta * (1 - 1e-6)
    assert scale == pytest.approx(Gaussian(epsilon=epsilon, delta=delta, bounds=(0.0, 10.0)).scale, rel=0.1)


def test_array_of_budgets():
    scale = discrete_gaussian_scale(10.0, epsilon=np.array([1.0, 2.0]), delta=0.01)
    assert scale == pytest.approx([discrete_gaussian_scale(10.0, epsilon=e, delta=0.01) for e in (1.0, 2.0)])
