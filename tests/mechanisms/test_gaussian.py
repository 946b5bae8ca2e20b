"""The Gaussian mechanism: examples for the contract, and its calibration against high precision."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from privmix.mechanisms import Gaussian
from privmix.mechanisms.gaussian import classical_gaussian_scale, gaussian_delta, gaussian_epsilon, gaussian_scale
from privmix.privacy import ZCDP, ApproxDP

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    Gaussian(epsilon=2.0, delta=0.01, bounds=BOUNDS),
    Gaussian(rho=0.5, bounds=BOUNDS),
    Gaussian(scale=1.5),
    Gaussian(scale=1.5, bounds=BOUNDS),
]
LAW = stats.norm
PER_RECORD = [
    Gaussian(scale=np.array([0.5, 1.0, 2.0, 8.0])),
    Gaussian(rho=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
    Gaussian(epsilon=np.array([0.5, 1.0, 2.0, 8.0]), delta=0.01, bounds=BOUNDS),
]
EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 1.0, 5.0, 25.0, 300.0, 1e4]
DELTAS = [1e-300, 1e-100, 1e-16, 1e-6, 0.01, 0.1, 0.5, 0.500001, 0.9, 0.999]


def exact_delta(sensitivity, scale, epsilon):
    """Phi(D/2eta - eps eta/D) - e^eps Phi(-D/2eta - eps eta/D), printed as in the paper, digits to spare."""
    with mpmath.workdps(400):
        mu, epsilon = mpmath.mpf(sensitivity) / mpmath.mpf(scale), mpmath.mpf(epsilon)
        upper = mpmath.erfc(-(mu / 2 - epsilon / mu) / mpmath.sqrt(2)) / 2
        lower = mpmath.erfc((mu / 2 + epsilon / mu) / mpmath.sqrt(2)) / 2
        return upper - mpmath.exp(epsilon) * lower


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_analytic_gaussian_is_the_smallest_scale(epsilon, delta):
    scale = gaussian_scale(20.0, epsilon=epsilon, delta=delta)
    assert exact_delta(20.0, scale, epsilon) <= delta
    assert exact_delta(20.0, scale * (1 - 1e-9), epsilon) > delta


@pytest.mark.parametrize("delta", [1 - 1e-6, 1 - 1e-12, 1 - 2**-53])
def test_analytic_gaussian_close_to_delta_one(delta):
    scale = gaussian_scale(1.0, epsilon=0.7, delta=delta)
    assert exact_delta(1.0, scale, 0.7) <= delta
    assert exact_delta(1.0, scale * (1 - 1e-9), 0.7) > delta


@pytest.mark.parametrize("epsilon", [0.0, *EPSILONS])
@pytest.mark.parametrize("mu", [1e-7, 1e-3, 0.05, 0.099, 0.11, 1.0, 4.0, 30.0, 200.0])
def test_gaussian_delta_matches_high_precision(epsilon, mu):
    truth = exact_delta(mu, 1.0, epsilon)
    found = gaussian_delta(mu, 1.0, epsilon)
    if truth < 1e-305:
        assert found < 1.01e-305
    else:
        # The exponent -a^2/2 is rounded relative to itself: up to 700 * 2e-16, plus a few units.
        assert found == pytest.approx(float(truth), rel=3e-12)


@pytest.mark.parametrize("scale", [1e-2, 0.3, 1.0, 10.0, 1e4])
@pytest.mark.parametrize("delta", [1e-200, 1e-9, 0.01, 0.3, 0.7])
def test_gaussian_epsilon_is_the_smallest(scale, delta):
    epsilon = gaussian_epsilon(1.0, scale, delta)
    assert exact_delta(1.0, scale, epsilon) <= delta
    if epsilon > 0:
        assert exact_delta(1.0, scale, epsilon - 1e-9 * (epsilon + 1 / scale)) > delta


def test_gaussian_epsilon_is_zero_where_nothing_is_told():
    assert gaussian_epsilon(1.0, 1e6, 0.01) == 0.0


def test_gaussian_epsilon_inverts_the_scale():
    scale = gaussian_scale(20.0, epsilon=5.0, delta=0.01)
    assert gaussian_epsilon(20.0, scale, 0.01) == pytest.approx(5.0, rel=1e-10)
    assert gaussian_delta(20.0, scale, 5.0) == pytest.approx(0.01, rel=1e-9)


def test_extremes_of_gaussian_delta():
    assert gaussian_delta(1.0, 1e200, 1.0) == 0.0
    assert gaussian_delta(1e5, 1e-5, 1.0) == 1.0


def test_classical_scale_is_false_at_large_epsilon():
    formula = math.sqrt(2 * math.log(1.25 / 0.1)) * 20 / 25
    assert gaussian_delta(20.0, formula, 25.0) > 0.999
    assert gaussian_scale(20.0, epsilon=25.0, delta=0.1) > formula
    with pytest.raises(ValueError, match=r"epsilon=25\.0, but its proof needs epsilon < 1.*Use gaussian_scale"):
        classical_gaussian_scale(20.0, 25.0, 0.1)
    with pytest.raises(ValueError, match="epsilon < 1"):
        classical_gaussian_scale(20.0, 1.0, 0.1)


def test_classical_scale_as_printed():
    assert classical_gaussian_scale(10.0, 0.5, 0.01) ** 2 == pytest.approx(3862.65, abs=0.01)
    assert round(classical_gaussian_scale(20.0, 0.5, 0.01) ** 2) == 15451


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.1])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.99])
def test_classical_scale_is_valid_but_looser_below_one(epsilon, delta):
    classical = classical_gaussian_scale(20.0, epsilon, delta)
    assert gaussian_delta(20.0, classical, epsilon) < delta
    assert classical > gaussian_scale(20.0, epsilon=epsilon, delta=delta)


def test_rho_gives_the_gaussian_renyi_divergence():
    eta = gaussian_scale(3.0, rho=0.25)
    assert (3.0 / eta) ** 2 / 2 == pytest.approx(0.25, rel=1e-15)
    # The general conversion is valid for Gaussian noise, and looser than the exact epsilon.
    assert gaussian_epsilon(3.0, eta, 1e-6) < ZCDP(0.25).approx(1e-6).epsilon


def test_scales_keep_their_guarantee():
    claim = ApproxDP(2.0, 1e-5)
    eta = gaussian_scale(1.0, epsilon=claim.epsilon, delta=claim.delta)
    assert gaussian_delta(1.0, eta, claim.epsilon) <= claim.delta


def test_budgets_of_each_record():
    budgets = np.array([0.5, 1.0, 30.0])
    np.testing.assert_allclose(gaussian_scale(2.0, rho=budgets), 2.0 / np.sqrt(2 * budgets))
    found = gaussian_scale(2.0, epsilon=budgets, delta=0.01)
    assert found.tolist() == [gaussian_scale(2.0, epsilon=e, delta=0.01) for e in budgets]
    assert gaussian_scale(2.0, epsilon=budgets[:, None], delta=np.array([0.1, 0.2])).shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_scale(1.0, epsilon=1.0), "Gaussian noise is not epsilon-DP at any scale"),
        (lambda: gaussian_scale(1.0, epsilon=1.0, delta=0.1, rho=1.0), "either epsilon with delta, or rho"),
        (lambda: gaussian_scale(1.0, epsilon=1.0, delta=1.0), "needs 0 < delta < 1"),
        (lambda: gaussian_scale(1.0, epsilon=1.0, delta=0.0), "delta=0.0, but needs delta > 0"),
        (lambda: gaussian_scale(1.0, rho=math.nan), "rho > 0 and finite"),
        (lambda: gaussian_delta(1.0, 0.0, 1.0), "scale > 0"),
        (lambda: gaussian_delta(1.0, 1.0, -1.0), "needs 0 <= epsilon"),
        (lambda: gaussian_epsilon(1.0, 1.0, 2.0), "0 < delta < 1"),
    ],
)
def test_bad_inputs_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
