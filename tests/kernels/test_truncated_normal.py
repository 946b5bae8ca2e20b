"""The truncated normal kernel: digits at extremes, moments, fixed hyperparameters, an update that moves at an edge."""

import math
import re

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from kernels.examples import row_of
from numerics.test_normal_intervals import exact_moments
from pairs.truncated import DIGITS, exactly, mass
from privmix import PrivateMixture, mechanisms
from privmix.jit import bind
from privmix.kernels import HierarchicalNormal, TruncatedNormal
from privmix.kernels.slots import log_f, prepare, update_atom
from privmix.kernels.slots import mass as mass_slot

pytestmark = pytest.mark.xdist_group("kernels")

BOUNDS = (-1.0, 3.0)
KERNEL = TruncatedNormal(BOUNDS)
MEANS = [-4e6, -50.0, -1.0, 0.3, 3.0, 3.001, 1e4]
SDS = [1e-3, 0.5, 4.0, 1e6]


def log_f_each(kernel, y, theta, out, masses):
    for i in range(len(y)):
        prepare(kernel, theta[i])
        out[i] = log_f(kernel, y[i], theta[i])
        masses[i] = mass_slot(kernel, y[i], y[i] + 0.125, theta[i])


def test_density_and_masses_keep_their_digits():
    y = np.array([-1.0, -0.99, 0.25, 2.5, 2.875])
    theta = np.zeros((len(MEANS) * len(SDS) * len(y), KERNEL.columns))
    theta[:, 0] = np.repeat(MEANS, len(SDS) * len(y))
    theta[:, 1] = np.tile(np.repeat(np.square(SDS), len(y)), len(MEANS))
    y = np.tile(y, len(MEANS) * len(SDS))
    found, masses = np.zeros((2, len(y)))
    bind(log_f_each, KERNEL.hooks())(KERNEL.numbers(), y, theta, found, masses)
    with mp.workdps(DIGITS):
        for i in range(len(y)):
            x, mean, variance, a, b = exactly(y[i], *theta[i, :2], *BOUNDS)
            sd = mp.sqrt(variance)
            whole = mass((a - mean) / sd, (b - mean) / sd)
            exact = float(-(((x - mean) / sd) ** 2) / 2 - mp.log(sd * mp.sqrt(2 * mp.pi)) - mp.log(whole))
            assert abs(found[i] - exact) <= 1e-13 * max(1.0, abs(exact))
            share = mass((x - mean) / sd, (x + mp.mpf(0.125) - mean) / sd) / whole
            if share > mp.mpf(10) ** -290:
                assert abs(masses[i] / float(share) - 1.0) <= 1e-13 * max(1.0, abs(float(mp.log(share))))
            else:
                assert masses[i] < 1e-289


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("sd", SDS)
def test_central_moments(mean, sd):
    out = np.zeros(4)
    KERNEL.central_moments(row_of(KERNEL, (mean, sd * sd)), out)
    with mp.workdps(200):
        unit = mp.sqrt(mp.mpf(sd * sd))
        scaled = exact_moments(0.0, *((mp.mpf(end) - mp.mpf(mean)) / unit for end in BOUNDS))
        exact = [float(moment * unit**power) for power, moment in zip((1, 2, 3, 4), scaled, strict=True)]
        centre = float(scaled[0] * unit + mp.mpf(mean))
    spread = math.sqrt(exact[1])
    assert out[0] == pytest.approx(centre, abs=1e-10 * spread, rel=1e-14)
    for power in (2, 3, 4):
        wanted = exact[power - 1]
        assert out[power - 1] == pytest.approx(wanted, rel=1e-9, abs=1e-9 * spread**power)


def test_mass_outside_the_bounds_is_none():
    row = row_of(KERNEL, (0.5, 1.0))
    assert KERNEL.mass(-math.inf, -1.0, row) == KERNEL.mass(3.0, math.inf, row) == KERNEL.mass(5.0, 6.0, row) == 0.0
    assert KERNEL.mass(-math.inf, math.inf, row) == KERNEL.cdf(7.0, row) == 1.0
    assert (KERNEL.logpdf([-1.0 - 1e-12, 3.0 + 1e-12], (0.5, 1.0)) == -np.inf).all()
    rng = np.random.default_rng(1)
    assert KERNEL.sample_between(rng, row, -9.0, -2.0) == -1.0
    assert KERNEL.sample_between(rng, row, 4.0, 5.0) == 3.0


def test_far_from_the_bounds_it_is_the_normal():
    y, theta = np.linspace(-1.0, 3.0, 41), (1.1, 0.01)
    assert KERNEL.logpdf(y, theta) == pytest.approx(HierarchicalNormal(BOUNDS).logpdf(y, theta), rel=1e-14)


def test_fixed_hyperparameters_are_kept():
    kernel, rng, hyper = TruncatedNormal(BOUNDS, location=0.5, rate=2.0), np.random.default_rng(1), np.zeros(3)
    atoms = np.array([[1.0, 2.0], [3.0, 4.0]])
    spreads = set()
    for _ in range(3):
        kernel.base_hyper(rng, hyper)
        kernel.update_hyper(rng, hyper, atoms)
        assert (hyper[0], hyper[2]) == (0.5, 2.0)
        spreads.add(hyper[1])
    assert len(spreads) == 3
    plain = TruncatedNormal(BOUNDS, location=0.5, spread=3.0, rate=2.0)
    plain.base_hyper(rng, hyper)
    plain.update_hyper(rng, hyper, atoms)
    assert hyper.tolist() == [0.5, 3.0, 2.0]


def test_it_follows_from_the_bounds_of_a_mechanism():
    mechanism = mechanisms.Laplace(epsilon=1.0, bounds=(2.0, 5.0))
    assert TruncatedNormal.for_mechanism(mechanism) == TruncatedNormal((2.0, 5.0))
    assert PrivateMixture(mechanism, TruncatedNormal((2.0, 5.0))).convolution.name == "truncated-normal-Laplace"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bounds": (1, 0)}, "TruncatedNormal: bounds must be a pair (lower, upper) with lower < upper; got (1, 0)."),
        ({"shape": 0.0}, "TruncatedNormal: shape must be positive; got 0.0."),
        ({"location": np.inf}, "TruncatedNormal: location must be a finite number; got inf."),
        ({"spread": -1.0}, "TruncatedNormal: spread must be positive; got -1.0."),
        ({"rate": "x"}, "TruncatedNormal: rate must be a finite number; got 'x'."),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TruncatedNormal(**arguments)


def repeat_update(kernel, rng, theta, ys, tune, hyper, out):
    prepare(kernel, theta)
    for r in range(len(out)):
        update_atom(kernel, rng, theta, ys, tune, hyper)
        out[r, 0], out[r, 1] = theta[0], theta[1]


def posterior_grid(ys, hyper, means, log_variances):
    """Return E μ, E log σ² and their deviations given the records, by a sum over a grid, with SciPy."""
    mean, log_variance = np.meshgrid(means, log_variances, indexing="ij")
    sd = np.exp(0.5 * log_variance)
    low, high = (0.0 - mean) / sd, (10.0 - mean) / sd
    log_mass = special.log_ndtr(np.where(low > 0, -low, high)) + np.log1p(
        -np.exp(special.log_ndtr(np.where(low > 0, -high, low)) - special.log_ndtr(np.where(low > 0, -low, high)))
    )
    squares = np.sum((ys - ys.mean()) ** 2) + len(ys) * (ys.mean() - mean) ** 2
    value = -len(ys) * (log_mass + 0.5 * log_variance) - 0.5 * squares / sd**2
    value += stats.norm.logpdf(mean, hyper[0], np.sqrt(hyper[1]))
    value += stats.invgamma.logpdf(sd**2, 2.0, scale=hyper[2]) + log_variance
    weight = special.softmax(value)
    assert max(weight[[0, -1]].sum(), weight[:, [0, -1]].sum()) < 1e-6
    centre = np.sum(weight * mean), np.sum(weight * log_variance)
    return [
        *centre,
        *(np.sqrt(np.sum(weight * (x - c) ** 2)) for x, c in zip((mean, log_variance), centre, strict=True)),
    ]


HALF = np.abs(np.random.default_rng(1).standard_normal(20_000))
FALLING = np.random.default_rng(1).exponential(1.0, 20_000)
AT_AN_EDGE = {
    "half a normal": (HALF, (-0.2, 0.25), (-0.2, 0.12)),
    "an exponential": (np.minimum(FALLING, 10.0), (-22.0, -8.0), (2.1, 3.4)),
    "three records": (np.array([0.1, 0.3, 0.2]), (-14.0, 4.0), (-6.0, 6.0)),
}


@pytest.mark.parametrize("name", AT_AN_EDGE)
def test_update_finds_a_cluster_at_an_edge_and_moves_there(name):
    ys, means, log_variances = AT_AN_EDGE[name]
    kernel, hyper = TruncatedNormal((0.0, 10.0)), np.array([5.0, 6.25, 0.5])
    theta, out = np.zeros(kernel.columns), np.zeros((4000, 2))
    theta[:2] = 5.0, 1.0
    bind(repeat_update, kernel.hooks())(kernel.numbers(), np.random.default_rng(2), theta, ys, np.zeros(1), hyper, out)
    drawn = np.column_stack([out[:, 0], np.log(out[:, 1])])[100:]
    exact = posterior_grid(ys, hyper, np.linspace(*means, 500), np.linspace(*log_variances, 500))
    for c in range(2):
        batches = drawn[:, c].reshape(30, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(30)
        assert error < 0.15 * exact[2 + c], "the chain hardly moves"
        assert abs(drawn[:, c].mean() - exact[c]) < 5 * error
        assert drawn[:, c].std() == pytest.approx(exact[2 + c], rel=0.15)


def test_update_far_inside_is_always_accepted():
    ys = np.random.default_rng(3).normal(5.0, 0.5, 300)
    kernel, hyper = TruncatedNormal((0.0, 10.0)), np.array([5.0, 6.25, 0.5])
    theta, out = np.zeros(kernel.columns), np.zeros((500, 2))
    theta[:2] = 5.0, 1.0
    bind(repeat_update, kernel.hooks())(kernel.numbers(), np.random.default_rng(2), theta, ys, np.zeros(1), hyper, out)
    assert len(np.unique(out[:, 0])) == len(np.unique(out[:, 1])) == 500
