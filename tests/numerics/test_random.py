import numpy as np
import pytest
from scipy import special, stats

from numerics.compiled import compiled
from numerics.quadrature import ALPHA
from privmix.numerics import (
    beta_logs,
    binomial,
    exponential,
    gamma,
    log_gamma_variate,
    normal,
    poisson,
    uniform,
    uniform_index,
)

beta_logs, binomial, exponential, gamma, log_gamma_variate, normal, poisson, uniform, uniform_index = compiled(
    beta_logs, binomial, exponential, gamma, log_gamma_variate, normal, poisson, uniform, uniform_index
)

N = 20_000


def draws(variate, *args, n=N, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([variate(rng, *args) for _ in range(n)])


@pytest.mark.parametrize(
    ("variate", "args", "law"),
    [
        (uniform, (), stats.uniform()),
        (normal, (), stats.norm()),
        (exponential, (), stats.expon()),
        (gamma, (0.3,), stats.gamma(0.3)),
        (gamma, (20.0,), stats.gamma(20.0)),
    ],
)
def test_law(variate, args, law):
    assert stats.kstest(draws(variate, *args), law.cdf).pvalue > ALPHA


@pytest.mark.parametrize(
    ("variate", "args", "law"),
    [
        *[(binomial, args, stats.binom(*args)) for args in ((5, 0.3), (40, 0.9), (1000, 0.01))],
        *[(poisson, (mean,), stats.poisson(mean)) for mean in (0.2, 8.0, 300.0)],
    ],
)
def test_whole_numbers(variate, args, law):
    counts = np.bincount(draws(variate, *args))
    expected = N * law.pmf(np.arange(len(counts)))
    often = expected >= 5.0
    observed, wanted = (
        np.append(counts[often], counts[~often].sum()),
        np.append(expected[often], expected[~often].sum()),
    )
    keep = wanted > 0.0
    assert stats.chisquare(observed[keep], wanted[keep] * observed[keep].sum() / wanted[keep].sum()).pvalue > ALPHA


@pytest.mark.parametrize("n", [1, 2, 7])
def test_uniform_index(n):
    found = draws(uniform_index, n)
    counts = np.bincount(found, minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > ALPHA


def log_gamma_cdf(x, shape):
    """P(log G ≤ x); below −30, where e^x is lost beside 1, its leading term e^{ax}/Γ(a+1)."""
    return np.where(
        x < -30.0,
        np.exp(shape * np.minimum(x, -30.0) - special.gammaln(shape + 1.0)),
        special.gammainc(shape, np.exp(np.maximum(x, -30.0))),
    )


@pytest.mark.parametrize("shape", [1e-8, 1e-4, 0.01, 0.3, 0.999, 1.0, 1.5, 30.0, 1e3, 1e6])
def test_log_gamma_variate(shape):
    found = draws(log_gamma_variate, shape)
    assert np.isfinite(found).all()
    assert stats.kstest(found, log_gamma_cdf, args=(shape,)).pvalue > ALPHA


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 0.5), (2.0, 5.0), (0.05, 3.0), (300.0, 200.0)])
def test_beta_logs(a, b):
    found = draws(beta_logs, a, b)
    assert stats.kstest(np.exp(found[:, 0]), stats.beta(a, b).cdf).pvalue > ALPHA
    log_x, log_rest = found[found[:, 0] < np.log(0.5)].T
    assert log_rest == pytest.approx(np.log1p(-np.exp(log_x)), rel=1e-12, abs=1e-13)
    assert np.exp(found).sum(axis=1) == pytest.approx(np.ones(N), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1e-8, 1e-8), (1e-8, 1.0), (1.0, 1e-8), (1e-8, 1e6), (1e6, 1e-8), (1e6, 1e6)])
def test_beta_logs_are_finite_at_extreme_shapes(a, b):
    found = draws(beta_logs, a, b, n=2000)
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()


@pytest.mark.parametrize("shape", [1e-8, 1e-3])
def test_beta_logs_with_small_equal_shapes_are_a_coin(shape):
    """As the shapes fall, x is 0 or 1 with probability one half; log x still has the law of −E/shape."""
    log_x, log_rest = draws(beta_logs, shape, shape).T
    high = int((log_x > log_rest).sum())
    assert stats.binomtest(high, N, 0.5).pvalue > ALPHA
    # P(log x ≤ t) = e^{shape·t}/2·(1 + O(shape)) for t far below 0: so −shape·log x is exponential on the low half.
    low = -shape * log_x[log_x < np.log(0.5)]
    assert stats.kstest(low[low > 0.05] - 0.05, "expon").pvalue > ALPHA
