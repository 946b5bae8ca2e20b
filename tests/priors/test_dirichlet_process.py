"""The Dirichlet process against its exact laws."""

import math
import re

import numpy as np
import pytest
from scipy import special, stats

from numerics.quadrature import ALPHA
from privmix.priors import DirichletProcess

SHAPE, RATE = 2.0, 1.5
LEARNED = DirichletProcess((SHAPE, RATE))
N = 40_000


def test_list_of_shape_and_rate_is_the_pair():
    assert DirichletProcess([4, 2]) == DirichletProcess((4.0, 2.0))
    assert hash(DirichletProcess([4, 2])) == hash(DirichletProcess((4.0, 2.0)))


def test_stick_law():
    rng = np.random.default_rng(1)
    sticks = np.exp([DirichletProcess(2.5).stick(rng, [2.5], h)[0] for h in range(20_000)])
    assert stats.kstest(sticks, stats.beta(1.0, 2.5).cdf).pvalue > ALPHA
    given = np.exp([DirichletProcess(2.5).stick_given(rng, [2.5], 0, 3, 7)[0] for _ in range(20_000)])
    assert stats.kstest(given, stats.beta(1.0 + 3.0, 2.5 + 7.0).cdf).pvalue > ALPHA


def test_small_concentration_gives_finite_sticks():
    rng = np.random.default_rng(1)
    logs = np.array([DirichletProcess(1e-6).stick(rng, [1e-6], h) for h in range(1000)])
    assert np.isfinite(logs).all()


def test_fixed_concentration_stays():
    prior, rng = DirichletProcess(0.7), np.random.default_rng(1)
    state = rng.bit_generator.state
    assert not prior.learned
    assert prior.draw_concentration(rng) == 0.7
    assert prior.new_weight([0.7], 10, 3) == 0.7
    assert prior.update_given_partition(rng, [0.7], 10, 3, []) == 0.7
    assert prior.update_given_sticks(rng, [0.7], 3, -2.0) == 0.7
    assert rng.bit_generator.state == state


def test_learned_concentration_has_a_gamma_prior():
    rng = np.random.default_rng(1)
    assert LEARNED.learned
    found = [LEARNED.draw_concentration(rng) for _ in range(20_000)]
    assert stats.kstest(found, stats.gamma(SHAPE, scale=1 / RATE).cdf).pvalue > ALPHA


def cluster_counts(rng, concentration, n):
    """Return the number of clusters of n records under the Chinese restaurant process, for each concentration."""
    chance = concentration[:, None] / (concentration[:, None] + np.arange(n))
    return (rng.random(chance.shape) < chance).sum(axis=1)


def posterior_cdf(k, n, points):
    """Return the distribution function of α given k clusters: p(α) α^k Γ(α)/Γ(α+n), by the trapezoid rule."""
    grid = np.linspace(1e-9, 40.0, 400_001)
    log_density = stats.gamma.logpdf(grid, SHAPE, scale=1 / RATE) + k * np.log(grid)
    log_density += special.gammaln(grid) - special.gammaln(grid + n)
    density = np.exp(log_density - log_density.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    return np.interp(points, grid, mass / mass[-1])


@pytest.mark.parametrize("n", [1, 5, 50])
def test_update_given_partition_leaves_the_joint_law_unchanged(n):
    rng = np.random.default_rng(n)
    before = rng.gamma(SHAPE, 1 / RATE, N)
    k = cluster_counts(rng, before, n)
    after = np.array([LEARNED.update_given_partition(rng, [a], n, c, []) for a, c in zip(before, k, strict=True)])
    assert stats.kstest(after, stats.gamma(SHAPE, scale=1 / RATE).cdf).pvalue > ALPHA
    for clusters in np.unique(k):
        found = after[k == clusters]
        if len(found) > 1000:
            assert stats.kstest(found, lambda x, c=clusters: posterior_cdf(c, n, x)).pvalue > ALPHA
    assert np.corrcoef(np.log(before), np.log(after))[0, 1] < 0.99


def test_update_given_sticks_is_the_conditional():
    rng = np.random.default_rng(1)
    before = rng.gamma(SHAPE, 1 / RATE, N)
    count = rng.integers(0, 6, N)
    # −log(1 − ν) is exponential with rate α, so the sum over c sticks is Gamma(c, α).
    log_rest = -rng.standard_gamma(count) / before
    rows = zip(before, count, log_rest, strict=True)
    after = np.array([LEARNED.update_given_sticks(rng, [a], c, rest) for a, c, rest in rows])
    assert stats.kstest(after, stats.gamma(SHAPE, scale=1 / RATE).cdf).pvalue > ALPHA
    uniform = stats.gamma.cdf(after, SHAPE + count, scale=1.0 / (RATE - log_rest))
    for c in range(6):
        assert stats.kstest(uniform[count == c], "uniform").pvalue > ALPHA


def test_the_two_updates_differ():
    """Sticks tell more of α than the number of clusters: one rule must not stand in for the other."""
    rng = np.random.default_rng(1)
    given_sticks = [LEARNED.update_given_sticks(rng, [1.0], 3, -4.0) for _ in range(5000)]
    given_partition = [LEARNED.update_given_partition(rng, [1.0], 5, 3, []) for _ in range(5000)]
    assert stats.ks_2samp(given_sticks, given_partition).pvalue < ALPHA


@pytest.mark.parametrize("prior", [DirichletProcess((1e-3, 1.0)), DirichletProcess((1e-3, 1e3))], ids=repr)
def test_concentration_is_never_zero(prior):
    rng = np.random.default_rng(1)
    drawn = [prior.draw_concentration(rng) for _ in range(1000)]
    updated = [prior.update_given_partition(rng, [a], 5, 1, []) for a in drawn]
    updated += [prior.update_given_sticks(rng, [a], 0, 0.0) for a in drawn]
    assert min(drawn + updated) > 0.0
    assert math.isfinite(max(drawn + updated))


@pytest.mark.parametrize(
    "concentration",
    [0, -1.0, math.nan, math.inf, "x", None, (), (1.0, 2.0, 3.0), (1.0, 0.0), (-1.0, 1.0), (1.0, "x"), (1.0, math.inf)],
    ids=repr,
)
def test_bad_concentration(concentration):
    message = (
        "concentration must be a positive number, or a pair (shape, rate) of positive numbers for a Gamma "
        f"hyperprior; got {concentration!r}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        DirichletProcess(concentration)
