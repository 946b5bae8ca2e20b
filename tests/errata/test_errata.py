"""What the paper prints and what is right, each by a number; the table is docs/theory/errata.md."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from privmix import kernels, mechanisms
from privmix.mechanisms.haar import haar_scale, haar_scale_butucea
from privmix.priors import DirichletProcess
from privmix.privacy import ZCDP, PureDP


def metropolis_law(accept):
    """Return the stationary law of a chain on two points that always proposes the other one."""
    p, q = accept(0, 1), accept(1, 0)
    return np.array([q, p]) / (p + q)


def test_printed_ratio_targets_the_wrong_law():
    g = np.array([0.2, 0.8])
    right = metropolis_law(lambda current, proposed: min(1.0, g[proposed] / g[current]))
    printed = metropolis_law(lambda current, proposed: min(1.0, g[current] / g[proposed]))
    assert right == pytest.approx([0.2, 0.8])
    assert printed == pytest.approx([0.8, 0.2])


def test_weights_sum_to_one_only_with_the_earlier_sticks():
    """As printed, w_h = ν_h (1 − ν_h)^{h−1}: their sum has mean one, but is another number in every draw."""
    nu = np.random.default_rng(1).beta(1.0, 2.0, (500, 400))
    left = np.cumprod(np.concatenate([np.ones((500, 1)), 1.0 - nu[:, :-1]], axis=1), axis=1)
    printed = nu * (1.0 - nu) ** np.arange(400)
    assert (nu * left).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert printed.sum(axis=1).std() > 0.1


def test_library_breaks_sticks_with_the_earlier_ones():
    prior, rng, law = DirichletProcess(2.0), np.random.default_rng(1), np.array([2.0])
    log_left, total = 0.0, 0.0
    for h in range(400):
        log_stick, log_rest = prior.stick(rng, law, h)
        total += math.exp(log_left + log_stick)
        log_left += log_rest
    assert total == pytest.approx(1.0, abs=1e-12)


def test_truncated_base_measure_needs_its_constant():
    """As printed it has mass P(a, b/η²) = 1.2e-6 at ε = 5, δ = .01 and IG(3, 3); the library's has mass one."""
    noise = math.sqrt(2.0 * math.log(1.25 / 0.01)) * 20.0 / 5.0
    constant = special.gammainc(3.0, 3.0 / noise**2)
    assert constant == pytest.approx(1.2e-6, rel=0.02)
    assert stats.invgamma(3.0, scale=3.0).sf(noise**2) == pytest.approx(constant)
    kernel = kernels.NoisyNormal(noise=noise)

    def density_of_the_variance(v):
        """The law of σ², μ integrated out: at its centre the normal law of μ has the density √(λ/2πτ²)."""
        peak = math.sqrt(kernel.precision_scale / (2.0 * math.pi * (v + noise**2)))
        return math.exp(kernel.log_base(np.array([kernel.mean, v]))) / peak

    total, _ = integrate.quad(density_of_the_variance, 0.0, np.inf, limit=200)
    assert total == pytest.approx(1.0, abs=1e-6)


def test_published_haar_scale_is_six_to_nine_times_too_large():
    ratios = [haar_scale_butucea(levels, 1.0) / haar_scale(levels, 1.0) for levels in range(2, 7)]
    assert [round(ratio, 1) for ratio in ratios] == [9.3, 8.0, 7.3, 6.9, 6.6]


@pytest.mark.parametrize("level", range(5))
def test_haar_indices_start_at_zero(level):
    """With k = 1…2^j as printed, the first function of a level is missing and the last one is zero on [0, 1)."""
    y = (np.arange(1024) + 0.5) / 1024
    u = 2**level * y[:, None] - np.arange(2**level + 1)
    psi = 2 ** (level / 2) * (((u >= 0) & (u < 0.5)) * 1.0 - ((u >= 0.5) & (u < 1.0)))
    norms = (psi**2).mean(axis=0)
    assert norms[:-1] == pytest.approx(1.0)
    assert norms[-1] == 0.0
    library = mechanisms.HaarWavelet(levels=level, scale=1e-9).perturb(np.random.default_rng(1), y)
    assert library[:, 2**level - 1 :] == pytest.approx(psi[:, :-1], abs=1e-6)


def laplace_renyi(epsilon, alpha):
    """Return D_α between two Laplace laws whose centres are ε scales apart (Gil, Alajaji and Linder 2013)."""
    terms = [(alpha - 1.0) * epsilon, -alpha * epsilon]
    return special.logsumexp(terms, b=np.array([alpha, alpha - 1.0]) / (2.0 * alpha - 1.0)) / (alpha - 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
def test_laplace_conversion_to_zcdp_is_valid_and_loose(epsilon):
    alphas = 1.0 + np.geomspace(1e-6, 1e6, 500)
    worst = max(laplace_renyi(epsilon, alpha) / alpha for alpha in alphas)
    shipped = PureDP(epsilon).zcdp().rho
    assert worst <= shipped
    assert worst == pytest.approx(epsilon + math.exp(-epsilon) - 1.0, rel=1e-4)
    assert shipped == epsilon**2 / 2


def test_zcdp_must_hold_at_every_order():
    """A ρ that is right at α = 64 alone is broken at lower orders."""
    one_order = ZCDP(laplace_renyi(5.0, 64.0) / 64.0)
    assert laplace_renyi(5.0, 2.0) / 2.0 > 20 * one_order.rho


def test_acceptance_bound_holds_only_inside_the_bounds():
    """Proposition 1 bounds the ratio by e^−ε for values in the domain; a normal kernel proposes others."""
    mechanism = mechanisms.Laplace(epsilon=1.0, bounds=(-10.0, 10.0))
    bound = -mechanism.guarantee.epsilon
    inside = np.random.default_rng(1).uniform(-10.0, 10.0, (2, 100_000))
    z = mechanism.privatize(inside[0], seed=2)
    ratio = mechanism.logpdf(z, inside[1]) - mechanism.logpdf(z, inside[0])
    assert ratio.min() >= bound * (1.0 + 1e-12)
    outside = mechanism.logpdf(5.0, np.array([57.4, 5.0]))
    assert math.exp(outside[0] - outside[1]) == pytest.approx(0.073, abs=5e-4)
    assert outside[0] - outside[1] < bound
