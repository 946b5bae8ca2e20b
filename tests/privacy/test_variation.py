"""ρ from ε and total variation: the theorem on random laws, the enclosure against high precision, the inverse."""

import math

import mpmath
import numpy as np
import pytest

from privmix.privacy.variation import rho_epsilon, variation_rho

EPSILONS = [1e-6, 0.01, 0.5, 1.0, 4.0, 30.0]
SHARES = [1e-4, 0.1, 0.5, 1.0]  # of tanh(ε/2), the largest variation that ε allows


def log_moment(alpha, epsilon, variation):
    """(α − 1) D_α of the three ratios, at high precision."""
    e = mpmath.exp(mpmath.mpf(epsilon))
    return mpmath.log(1 + mpmath.mpf(variation) * (e**alpha + e ** (1 - alpha) - e - 1) / (e - 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("share", SHARES)
def test_enclosure_holds_the_largest(epsilon, share):
    variation = share * math.tanh(0.5 * epsilon)
    found = variation_rho(epsilon, variation)
    with mpmath.workdps(60):
        grid = [1 + mpmath.mpf(x) for x in np.geomspace(1e-3, 1.0 / variation, 400)]
        values = [log_moment(a, epsilon, variation) / (a * (a - 1)) for a in grid]
        best = max(values)
        if best > variation * epsilon:  # inside: refine around the largest by golden sections
            at = values.index(best)
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
            for _ in range(120):
                a, b = low + (high - low) * mpmath.mpf("0.382"), low + (high - low) * mpmath.mpf("0.618")
                fa, fb = (log_moment(x, epsilon, variation) / (x * (x - 1)) for x in (a, b))
                low, high = (low, b) if fa > fb else (a, high)
            best = log_moment(low, epsilon, variation) / (low * (low - 1))
        best = float(max(best, mpmath.mpf(variation) * epsilon))
    assert found == pytest.approx(best, rel=1e-10)
    assert found >= best * (1.0 - 1e-13)
    assert found <= 0.5 * epsilon**2


def test_theorem_on_random_laws():
    """Laws whose log-ratios are within ε never exceed what ε and their total variation allow."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        epsilon = rng.uniform(0.1, 5.0)
        q = rng.dirichlet(np.ones(6))
        p = q * np.exp(rng.uniform(0.0, epsilon, 6))
        p /= p.sum()  # the normaliser is within [1, e^ε]: ratios stay within [e^−ε, e^ε]
        ratio = np.log(p / q)
        variation = 0.5 * np.abs(p - q).sum()
        alpha = 1.0 + rng.exponential(3.0)
        divergence = math.log(np.sum(p * np.exp((alpha - 1.0) * ratio))) / (alpha - 1.0)
        with mpmath.workdps(30):
            bound = float(log_moment(alpha, epsilon, variation)) / (alpha - 1.0)
        assert divergence <= bound * (1.0 + 1e-9)
        assert divergence / alpha <= variation_rho(epsilon, variation)


@pytest.mark.parametrize("rho", [1e-8, 0.1, 3.0, 300.0])
def test_inverse(rho):
    def of(epsilon):
        return math.tanh(0.5 * epsilon)

    epsilon = rho_epsilon(rho, of)
    assert variation_rho(epsilon, of(epsilon)) == pytest.approx(rho, rel=1e-10)
    assert variation_rho(epsilon, of(epsilon)) <= rho


def test_too_large_a_budget():
    with pytest.raises(
        ValueError, match=r"^The noise was to be calibrated with rho=10000.0, but needs an epsilon of at"
    ):
        rho_epsilon(1e4, lambda epsilon: math.tanh(0.5 * epsilon))
