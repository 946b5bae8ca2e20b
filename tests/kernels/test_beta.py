"""The beta kernel: extreme shapes, and the cells at its edges."""

import re

import numpy as np
import pytest
from scipy import special, stats

from kernels.examples import draws_of, row_of
from numerics.quadrature import ALPHA
from privmix.jit import bind
from privmix.kernels import Beta
from privmix.kernels.beta import EDGE
from privmix.kernels.slots import update_atom

pytestmark = pytest.mark.xdist_group("kernels")

BOUNDS = (-2.0, 7.0)
WIDTH = BOUNDS[1] - BOUNDS[0]
EXTREMES = [1e-3, 1.0, 1e4]


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (0.5, 0.5), (1.0, 1.0), (40.0, 3.0), (0.01, 2.0)])
def test_density_is_the_scaled_beta(a, b):
    x = np.linspace(0.001, 0.999, 101)
    exact = stats.beta(a, b).logpdf(x) - np.log(WIDTH)
    assert Beta(bounds=BOUNDS).logpdf(BOUNDS[0] + WIDTH * x, (a, b)) == pytest.approx(exact, rel=1e-10, abs=1e-10)


def test_density_is_zero_outside():
    outside = [BOUNDS[0] - 1.0, BOUNDS[0] - 1e-12, BOUNDS[1] + 1e-12, 100.0]
    assert (Beta(bounds=BOUNDS).logpdf(outside, (2.0, 3.0)) == -np.inf).all()


@pytest.mark.parametrize("a", EXTREMES)
@pytest.mark.parametrize("b", EXTREMES)
def test_extreme_shapes_stay_finite(a, b):
    kernel = Beta(bounds=BOUNDS)
    y = draws_of(kernel, (a, b), 2000)
    assert ((y >= BOUNDS[0]) & (y <= BOUNDS[1])).all()
    assert np.isfinite(kernel.logpdf(y, (a, b))).all()
    assert np.isfinite(kernel.logpdf([*BOUNDS, 0.0], (a, b))).all()


def repeat_update(kernel, rng, row, ys, tune, hyper, out):
    for r in range(len(out)):
        update_atom(kernel, rng, row, ys, tune, hyper)
        for c in range(2):
            out[r, c] = row[c]


@pytest.mark.parametrize("start", [(1e-3, 1e-3), (1e-3, 1e4), (1e4, 1e4)])
def test_update_is_finite_from_extreme_shapes(start):
    kernel, rng, out = Beta(bounds=BOUNDS), np.random.default_rng(1), np.zeros((200, 2))
    run = bind(repeat_update, kernel.hooks())
    for ys in (np.zeros(0), np.array(BOUNDS), np.full(5, 2.5), np.array([BOUNDS[0]] * 3)):
        run(kernel.numbers(), rng, row_of(kernel, start), ys, np.zeros(1), np.zeros(0), out)
        assert (out > 0.0).all()
        assert np.isfinite(out).all()
        assert len(np.unique(out[:, 0])) == 200


@pytest.mark.parametrize(("a", "b"), [(0.05, 0.05), (0.02, 3.0), (3.0, 0.02), (0.05, 50.0)])
def test_edge_cells_hold_the_mass_that_their_density_says(a, b):
    kernel, n = Beta(bounds=BOUNDS), 20_000
    y = draws_of(kernel, (a, b), n)
    x = (y - BOUNDS[0]) / WIDTH
    for inside, shape, end in [(x < EDGE, a, BOUNDS[0]), (x > 1.0 - EDGE, b, BOUNDS[1])]:
        mass = np.exp(kernel.logpdf([end], (a, b))[0]) * EDGE * WIDTH
        # The exact mass of the cell, from the regularised incomplete beta function
        assert mass == pytest.approx(special.betainc(shape, a + b - shape, EDGE), rel=1e-8)
        assert stats.binomtest(int(inside.sum()), n, mass).pvalue > ALPHA
    # All draws in a cell are stored at its middle, where the density is the cell's.
    assert len(np.unique(y[x < EDGE])) <= 1
    assert len(np.unique(y[x > 1.0 - EDGE])) <= 1


def test_base_measure_is_two_gammas():
    kernel, rng = Beta(shape=3.0, rate=0.5), np.random.default_rng(1)
    theta = np.zeros((20_000, 3))
    for row in theta:
        kernel.base(rng, row)
    for column in (0, 1):
        assert stats.kstest(theta[:, column], stats.gamma(3.0, scale=2.0).cdf).pvalue > ALPHA
    assert stats.spearmanr(theta[:, 0], theta[:, 1]).pvalue > ALPHA
    for a, b in [(1.0, 2.0), (0.1, 30.0)]:
        exact = stats.gamma(3.0, scale=2.0).logpdf([a, b]).sum()
        assert kernel.log_base(np.array([a, b])) == pytest.approx(exact, rel=1e-13)
    assert kernel.log_base(np.array([0.0, 1.0])) == -np.inf
    assert kernel.log_base(np.array([1.0, -1.0])) == -np.inf


def test_small_prior_shapes_give_usable_parameters():
    """Half of all Gamma(.001) draws are below the least float: they must not come out as 0."""
    kernel, rng = Beta(shape=1e-3, rate=1.0), np.random.default_rng(1)
    theta = np.zeros((200, 3))
    for row in theta:
        kernel.base(rng, row)
    assert (theta[:, :2] > 0.0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": 0.0}, "Beta: shape must be positive; got 0.0."),
        ({"rate": -1}, "Beta: rate must be positive; got -1."),
        ({"rate": np.nan}, "Beta: rate must be a finite number; got nan."),
        ({"bounds": (1, 0)}, "Beta: bounds must be a pair (lower, upper) with lower < upper; got (1, 0)."),
        ({"bounds": None}, "Beta: bounds must be a pair (lower, upper) with lower < upper; got None."),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Beta(**arguments)
