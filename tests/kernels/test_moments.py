"""Moments that kernels state, against SciPy, or against quadrature of the density where it has no such law."""

import numpy as np
import pytest
from scipy import stats

from kernels.examples import AWKWARD, CASES, row_of
from kernels.test_contract import edges_for
from numerics.quadrature import panel_masses
from privmix.kernels import Beta, NormalKernel

STATED = [(kernel, theta) for kernel, theta in CASES if kernel.has("central_moments")]


def stated(kernel, theta):
    out = np.zeros(4)
    kernel.central_moments(row_of(kernel, theta), out)
    return out


@pytest.mark.parametrize(("kernel", "theta"), [c for c in STATED if isinstance(c[0], Beta | NormalKernel)], ids=repr)
def test_central_moments(kernel, theta):
    if isinstance(kernel, Beta):
        law = stats.beta(*theta, loc=kernel.bounds[0], scale=kernel.bounds[1] - kernel.bounds[0])
    else:
        law = stats.norm(theta[0], np.sqrt(theta[1]))
    mean, variance, skewness, excess = (float(value) for value in law.stats("mvsk"))
    exact = [mean, variance, skewness * variance**1.5, (3.0 + excess) * variance**2]
    assert stated(kernel, theta) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kernel", "theta"), STATED, ids=repr)
def test_central_moments_are_integrals(kernel, theta):
    edges = edges_for(kernel, theta)
    mass, middle = panel_masses(lambda y: kernel.logpdf(y, theta), edges), 0.5 * (edges[1:] + edges[:-1])
    mean = mass @ middle
    found, sd = stated(kernel, theta), np.sqrt(mass @ (middle - mean) ** 2)
    exact = [mean, *[mass @ (middle - mean) ** power for power in (2, 3, 4)]]
    # Panels are counted at their middles.
    assert found / sd ** np.arange(1, 5) == pytest.approx(exact / sd ** np.arange(1, 5), rel=1e-2, abs=1e-2)


def test_the_normal_and_beta_kernels_state_them():
    assert {type(kernel) for kernel, _ in STATED} >= set(AWKWARD)
