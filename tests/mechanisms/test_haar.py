"""The Haar wavelet mechanism against the definition of the wavelets."""

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from privmix.mechanisms import HaarWavelet
from privmix.mechanisms.haar import haar_scale, haar_scale_butucea
from privmix.privacy import audit

LEVELS = range(7)
BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    HaarWavelet(epsilon=1.0),
    HaarWavelet(levels=0, epsilon=4.0, bounds=BOUNDS),
    HaarWavelet(levels=2, scale=0.7, bounds=BOUNDS),
    HaarWavelet(levels=1, epsilon=2.0, calibration="butucea"),
]


def wavelets(levels, x):
    """Return ψ_jk(x) of the definition, ordered by j and then k, for x in [0, 1)."""

    def mother(u):
        return 1.0 * ((u >= 0.0) & (u < 0.5)) - 1.0 * ((u >= 0.5) & (u < 1.0))

    columns = [2 ** (j / 2) * mother(2**j * x - k) for j in range(levels + 1) for k in range(2**j)]
    return np.stack(columns, axis=-1)


def middles(levels):
    cells = 2 ** (levels + 1)
    return (np.arange(cells) + 0.5) / cells


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 5.0)])
def test_table_is_the_product_of_laplace_densities(levels, bounds):
    mechanism = HaarWavelet(levels=levels, scale=0.8, bounds=bounds)
    z = np.random.default_rng(levels).normal(0.0, 3.0, (5, mechanism.row_length))
    x = middles(levels)
    exact = stats.laplace.logpdf(z[:, None, :], loc=wavelets(levels, x), scale=0.8).sum(axis=-1)
    assert mechanism.encode(z) == pytest.approx(exact, rel=1e-12, abs=1e-11)
    y = bounds[0] + (bounds[1] - bounds[0]) * x
    assert mechanism.logpdf(z[:, None], y) == pytest.approx(exact, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("levels", LEVELS)
def test_cells_are_closed_on_the_left(levels):
    mechanism = HaarWavelet(levels=levels, scale=0.8)
    z = np.random.default_rng(1).normal(0.0, 3.0, mechanism.row_length)
    cells = 2 ** (levels + 1)
    edges = np.arange(1, cells) / cells
    table = mechanism.logpdf(z, middles(levels))
    assert np.array_equal(mechanism.logpdf(z, edges), table[1:])
    assert np.array_equal(mechanism.logpdf(z, np.nextafter(edges, 0.0)), table[:-1])


def test_values_outside_the_bounds_count_as_the_nearest_bound():
    mechanism = HaarWavelet(levels=2, scale=0.8, bounds=(-1.0, 1.0))
    z = np.random.default_rng(1).normal(0.0, 3.0, mechanism.row_length)
    below, above = mechanism.logpdf(z, [-1.0, 1.0 - 1e-9])
    assert below != above
    # 1e19 cells do not fit into an integer of 64 bits.
    far = np.array([1.0, 1.5, 1e6, 1e17, 1e19, 1e30, 1e300])
    assert np.array_equal(mechanism.logpdf(z, far), np.full(len(far), above))
    assert np.array_equal(mechanism.logpdf(z, -far), np.full(len(far), below))


@pytest.mark.parametrize("levels", [0, 2, 4])
def test_coefficients_are_wavelets_plus_laplace_noise(levels):
    mechanism = HaarWavelet(levels=levels, scale=0.5, bounds=(-3.0, 5.0))
    n = 20_000
    for seed, x in enumerate([0.0, 0.3, 0.5, 0.99]):
        z = mechanism.privatize(np.full(n, -3.0 + 8.0 * x), seed=seed)
        noise = z - wavelets(levels, x)
        z_scores = noise.mean(axis=0) / (np.sqrt(2.0) * 0.5 / np.sqrt(n))
        assert np.abs(z_scores).max() < stats.norm.isf(ALPHA / 2 / mechanism.row_length)
        assert stats.kstest(noise.ravel()[:n], stats.laplace(scale=0.5).cdf).pvalue > ALPHA
        if mechanism.row_length > 1:
            correlation = np.corrcoef(noise.T) - np.eye(mechanism.row_length)
            assert np.abs(correlation).max() < 6.0 / np.sqrt(n)


@pytest.mark.parametrize("levels", LEVELS)
def test_chain_starts_in_the_right_cell(levels):
    mechanism = HaarWavelet(levels=levels, scale=1e-6, bounds=(-3.0, 5.0))
    y = -3.0 + 8.0 * middles(levels)
    assert mechanism.initial(mechanism.privatize(y, seed=1)) == pytest.approx(y, rel=1e-12)


@pytest.mark.parametrize("levels", [0, 3])
def test_butucea_scale_is_loose(levels):
    mechanism = HaarWavelet(levels=levels, epsilon=2.0, calibration="butucea")
    found = audit(mechanism, size=64)
    assert found.worst == pytest.approx(mechanism.guarantee.epsilon, rel=1e-9)
    assert found.worst < 2.0 / 6.0


@pytest.mark.parametrize("levels", range(9))
def test_haar_scale_is_the_sensitivity_by_brute_force(levels):
    rows = wavelets(levels, middles(levels))
    sensitivity = max(np.abs(rows - row).sum(axis=1).max() for row in rows)
    assert haar_scale(levels, 0.7) == pytest.approx(sensitivity / 0.7, rel=1e-12)
    assert haar_scale_butucea(levels, 0.7) > 6 * haar_scale(levels, 0.7)


def test_haar_scale_butucea_as_printed():
    assert haar_scale_butucea(2, 3.0) == pytest.approx(12 / 3 * 2**0.5 / (2**0.5 - 1) * 2)


@pytest.mark.parametrize("levels", [-1, 1.5, None])
def test_haar_levels_are_whole(levels):
    with pytest.raises(ValueError, match="HaarWavelet: levels must be a whole number of at least 0"):
        haar_scale(levels, 1.0)


def test_haar_scale_of_each_record():
    assert haar_scale(3, np.array([0.5, 1.0, 30.0])).shape == (3,)
