"""The wavelet estimator against the definition of the wavelets, and against averages of the true density."""

import numpy as np
import pytest
from scipy import stats

from privmix.baselines import Wavelet
from privmix.mechanisms import HaarWavelet

BOUNDS = (-3.0, 5.0)


def definition(levels, beta, u):
    """Return 1 + Σ β_jk 2^{j/2} ψ(2^j u − k), term by term."""
    total, index = np.ones_like(u), 0
    for j in range(levels + 1):
        for k in range(2**j):
            v = 2.0**j * u - k
            total += beta[index] * 2 ** (j / 2) * (((v >= 0) & (v < 0.5)) * 1.0 - ((v >= 0.5) & (v < 1)) * 1.0)
            index += 1
    return total


@pytest.mark.parametrize("levels", [0, 1, 4])
def test_estimate_is_the_sum_of_the_definition(levels):
    mechanism = HaarWavelet(levels=levels, scale=1.3, bounds=BOUNDS)
    z = np.random.default_rng(levels).normal(0.0, 2.0, (7, mechanism.row_length))
    grid = np.linspace(-3.0, 4.999, 500)
    wanted = definition(levels, z.mean(axis=0), (grid + 3.0) / 8.0) / 8.0
    assert Wavelet().fit(z, mechanism).density(grid) == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def test_fewer_levels_leave_the_finer_ones_out():
    mechanism = HaarWavelet(levels=3, scale=1.3, bounds=BOUNDS)
    z = np.random.default_rng(2).normal(0.0, 2.0, (7, mechanism.row_length))
    coarse = HaarWavelet(levels=1, scale=1.3, bounds=BOUNDS)
    grid = np.linspace(*BOUNDS, 77)
    wanted = Wavelet().fit(z[:, :3], coarse).density(grid)
    assert Wavelet(levels=1).fit(z, mechanism).density(grid) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("levels", [0, 3])
def test_without_noise_it_is_the_histogram_of_the_data(levels):
    mechanism = HaarWavelet(levels=levels, scale=1e-12, bounds=BOUNDS)
    y = np.random.default_rng(1).normal(1.0, 1.2, 300)
    y = y[(y > BOUNDS[0]) & (y < BOUNDS[1])]
    fitted = Wavelet().fit(mechanism.privatize(y, seed=2), mechanism)
    counts, edges = np.histogram(y, bins=2 ** (levels + 1), range=BOUNDS)
    assert fitted.edges == pytest.approx(edges)
    assert fitted.mass == pytest.approx(counts / len(y), abs=1e-9)
    assert fitted.density([-3.1, 5.1]).tolist() == [0.0, 0.0]
    assert fitted.density(5.0) == pytest.approx(fitted.density(4.99))


def test_it_is_unbiased_under_noise():
    """The mean of 400 estimates against the true mass of each cell, in units of its standard error; α = 1e-6."""
    mechanism = HaarWavelet(levels=2, epsilon=4.0, bounds=BOUNDS)
    rng = np.random.default_rng(1)
    law = stats.truncnorm(-4.0, 4.0, loc=1.0)
    masses = np.array(
        [
            Wavelet().fit(mechanism.privatize(law.rvs(50, random_state=rng), seed=rng), mechanism).mass
            for _ in range(400)
        ]
    )
    wanted = np.diff(law.cdf(np.linspace(*BOUNDS, 9)))
    scores = (masses.mean(axis=0) - wanted) / (masses.std(axis=0, ddof=1) / 20.0)
    assert np.abs(scores).max() < stats.norm.isf(1e-6 / 2 / 8)
    assert masses.sum(axis=1) == pytest.approx(np.ones(400))
