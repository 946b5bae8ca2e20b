"""Moments that kernels state, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from kernels.examples import CASES, row_of
from privmix.kernels import Beta

STATED = [(kernel, theta) for kernel, theta in CASES if hasattr(type(kernel), "central_moments")]


@pytest.mark.parametrize(("kernel", "theta"), STATED, ids=repr)
def test_central_moments(kernel, theta):
    if isinstance(kernel, Beta):
        law = stats.beta(*theta, loc=kernel.bounds[0], scale=kernel.bounds[1] - kernel.bounds[0])
    else:
        law = stats.norm(theta[0], np.sqrt(theta[1]))
    mean, variance, skewness, excess = (float(value) for value in law.stats("mvsk"))
    out = np.zeros(4)
    kernel.central_moments(row_of(kernel, theta), out)
    exact = [mean, variance, skewness * variance**1.5, (3.0 + excess) * variance**2]
    assert out == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_every_built_in_kernel_states_them():
    assert len(STATED) == len(CASES)
