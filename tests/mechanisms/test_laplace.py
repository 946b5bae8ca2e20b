"""The Laplace mechanism: examples for the contract, and its calibration."""

import numpy as np
import pytest
from scipy import stats

from privmix.mechanisms import Laplace
from privmix.mechanisms.laplace import laplace_scale
from privmix.privacy import PureDP

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    Laplace(epsilon=2.0, bounds=BOUNDS),
    Laplace(rho=0.5, bounds=BOUNDS),
    Laplace(scale=1.5),
    Laplace(scale=1.5, bounds=BOUNDS),
]
LAW = stats.laplace
PER_RECORD = [
    Laplace(scale=np.array([0.5, 1.0, 2.0, 8.0])),
    Laplace(epsilon=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
    Laplace(rho=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
]


def test_laplace_scale():
    assert laplace_scale(20.0, epsilon=5.0) == 4.0
    assert PureDP(20.0 / laplace_scale(20.0, rho=0.5)).zcdp().rho == pytest.approx(0.5, rel=1e-15)
    assert isinstance(laplace_scale(20, epsilon=5), float)


def test_budgets_of_each_record():
    budgets = np.array([0.5, 1.0, 30.0])
    np.testing.assert_array_equal(laplace_scale(2.0, epsilon=budgets), 2.0 / budgets)
    np.testing.assert_allclose(laplace_scale(2.0, rho=budgets), 2.0 / np.sqrt(2 * budgets))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laplace_scale(1.0), "needs exactly one"),
        (lambda: laplace_scale(1.0, epsilon=1.0, rho=1.0), "needs exactly one"),
        (lambda: laplace_scale(-1.0, epsilon=1.0), "sensitivity=-1.0, but needs sensitivity > 0"),
        (lambda: laplace_scale(1.0, epsilon=np.array([1.0, 0.0])), "epsilon > 0 and finite"),
        (lambda: laplace_scale(1.0, epsilon="much"), "epsilon='much'"),
    ],
)
def test_bad_inputs_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
