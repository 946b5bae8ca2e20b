"""Numbers that a mechanism cannot have released are named before sampling; bounds of any size give one fit."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import privmix
from mechanisms.examples import EXAMPLES, inputs
from privmix import PrivateMixture, default_model, kernels, mechanisms
from privmix.sampling.sample import LEAST_PROBABILITY, read_release

pytestmark = pytest.mark.xdist_group("fits")

SCALES = np.array([0.1, 2.0, 30.0])


def discrete_gaussian(scale):
    """Return the quantile of the law by its sum over whole numbers."""
    k = np.arange(0.0, 20.0 * scale + 3.0)
    weight = np.exp(-0.5 * (k / scale) ** 2)
    tail = np.cumsum(weight[::-1])[::-1] / (2.0 * weight.sum() - 1.0)
    return k[tail >= LEAST_PROBABILITY][-1]


def counts(noise, scale):
    return mechanisms.NoisyHistogram(7, 3, noise=noise, scale=scale, bounds=(0.0, 1.0))


# A mechanism, the interval of its noiseless numbers, and how far beyond them the noise comes with probability 1e-12.
LAPLACE, NORMAL = stats.laplace.isf(LEAST_PROBABILITY), stats.norm.isf(LEAST_PROBABILITY)
CASES = [
    (mechanisms.Laplace(epsilon=5.0, bounds=(2.0, 3.0)), (2.0, 3.0), LAPLACE / 5.0),
    (mechanisms.Laplace(scale=SCALES, bounds=(2.0, 3.0)), (2.0, 3.0), LAPLACE * SCALES),
    (mechanisms.Gaussian(rho=1.0, bounds=(-2.0, 3.0)), (-2.0, 3.0), NORMAL * 5.0 / math.sqrt(2.0)),
    (mechanisms.Gaussian(scale=SCALES, bounds=(-2.0, 3.0)), (-2.0, 3.0), NORMAL * SCALES),
    (mechanisms.OnLattice(mechanisms.Laplace(scale=1.0, bounds=(0.0, 9.0)), 1.0), (-0.5, 9.5), LAPLACE),
    (counts("laplace", 2.0), (0.0, 7.0), 2.0 * LAPLACE),
    (counts("laplace", SCALES), (0.0, 7.0), SCALES * LAPLACE),
    (counts("gaussian", SCALES), (0.0, 7.0), SCALES * NORMAL),
    (counts("discrete laplace", 2.0), (0.0, 7.0), stats.dlaplace.isf(LEAST_PROBABILITY, 0.5)),
    (counts("discrete gaussian", 0.1), (0.0, 7.0), discrete_gaussian(0.1)),
    (counts("discrete gaussian", 300.0), (0.0, 7.0), discrete_gaussian(300.0)),
]


@pytest.mark.parametrize(("mechanism", "interval", "reach"), CASES, ids=lambda value: type(value).__name__)
def test_what_the_noise_reaches_is_taken_and_no_more(mechanism, interval, reach):
    model = default_model(mechanism)
    whole = float(getattr(mechanism, "discrete", False))
    for sign, end in ((-1.0, interval[0]), (1.0, interval[1])):
        near, far = np.full(3, 0.5 * sum(interval)), np.full(3, 0.5 * sum(interval))
        if whole:
            near, far = np.floor(near), np.floor(far)
        near[1] = end + sign * (reach if np.ndim(reach) == 0 else reach[1]) * (1.0 if whole else 0.999)
        far[1] = near[1] + sign * (whole or 0.002 * abs(near[1] - end))
        assert np.array_equal(read_release(model, near), near)
        with pytest.raises(ValueError, match=r"^1 of 3 released numbers is less likely than 1e-12 .*\(row 2\)\. Check"):
            read_release(model, far)


@pytest.mark.parametrize("mechanism", [m for some in EXAMPLES.values() for m in some], ids=lambda m: type(m).__name__)
def test_what_a_mechanism_releases_is_possible(mechanism):
    z = mechanism.privatize(inputs(mechanism, getattr(mechanism, "records", None) or 5), seed=1)
    found = mechanism.log_tail(z, mechanism.bounds or (-3.0, 5.0))
    assert found.shape == z.shape
    assert (found > math.log(1e-6)).all()


def test_each_record_is_judged_by_its_own_noise():
    mechanism = mechanisms.Laplace(scale=SCALES, bounds=(0.0, 1.0))
    with pytest.raises(ValueError, match=r"^1 of 3 .*: 50 \(row 1\)\. Check the bounds, the scale or epsilon"):
        read_release(default_model(mechanism), [50.0, 50.0, 50.0])


def test_rows_are_judged_by_their_numbers():
    mechanism = mechanisms.HaarWavelet(levels=2, epsilon=3.0, bounds=(0.0, 1.0))
    z = mechanism.privatize([0.1, 0.5], seed=1)
    assert np.array_equal(read_release(default_model(mechanism), z), z)
    z[1, 3] = 2.0 + 1.001 * LAPLACE * mechanism.scale
    with pytest.raises(ValueError, match=r"^1 of 14 released numbers is less likely .*\(row 2, number 4\)"):
        read_release(default_model(mechanism), z)


@dataclass(frozen=True)
class Spread(mechanisms.LocalMechanism):
    scale: float

    def log_q(self, z, y):
        return -0.5 * ((z - y) / self.scale) ** 2

    def noise_spread(self):
        return self.scale


def test_noise_of_a_users_own_is_judged_by_its_spread():
    """Chebyshev: a million standard deviations away the probability is at most 1e-12."""
    model = PrivateMixture(Spread(scale=1.0), kernels.TruncatedNormal((-3.0, 3.0)))
    read_release(model, [0.0, 3.0 + 0.99e6])
    with pytest.raises(ValueError, match=r"^1 of 2 .* under Spread, whatever the records inside \[-3, 3\]: 1\.01e\+06"):
        read_release(model, [0.0, 3.0 + 1.01e6])
    read_release(PrivateMixture(Spread(scale=1.0), kernels.Normal()), [0.0, 1e12])


def test_numbers_beyond_floating_point_are_refused_without_bounds_too():
    model = PrivateMixture(mechanisms.Laplace(scale=1.0), kernels.Normal())
    read_release(model, [0.0, 1e30, -1e75])
    with pytest.raises(
        ValueError, match=r"^2 of 3 released numbers are beyond ±1e\+75, where floating point ends: 1e\+300"
    ):
        model.sample([0.0, 1e300, -1e76])


def test_the_first_are_named():
    mechanism = mechanisms.Laplace(epsilon=5.0, bounds=(0.0, 1.0))
    with pytest.raises(ValueError) as told:
        privmix.fit(np.full(9, 1e12), mechanism)
    assert str(told.value) == (
        "9 of 9 released numbers are less likely than 1e-12 under Laplace, whatever the records inside [0, 1]: "
        "1e+12 (row 1), 1e+12 (row 2), 1e+12 (row 3), …. Check the bounds, the scale or epsilon of the noise, and the "
        "units: a fit would mean nothing."
    )


def fit_at(bounds, draws=40):
    """Fit the same shares of the bounds; return density and moments in units of their width."""
    lower, width = bounds[0], bounds[1] - bounds[0]
    share = np.random.default_rng(1).beta(2.0, 5.0, 60)
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=bounds)
    posterior = privmix.fit(
        mechanism.privatize(lower + width * share, seed=1), mechanism, seed=2, draws=draws, warmup=100, chains=1
    )
    grid = lower + width * np.linspace(0.05, 0.95, 10)
    mean, variance, _, *rest = posterior.moments()["mean"].values
    return posterior.density(grid)["mean"].values * width, [(mean - lower) / width, variance / width**2, *rest]


@pytest.fixture(scope="module")
def unit_fit():
    return fit_at((0.0, 1.0))


@pytest.mark.parametrize("bounds", [(0, 1e-60), (0, 1e-6), (0, 1e9), (-1e60, 0), (1e6, 1e6 + 1)], ids=str)
def test_bounds_of_any_size_give_the_same_fit(unit_fit, bounds):
    density, moments = fit_at(bounds)
    assert density == pytest.approx(unit_fit[0], rel=1e-4)
    assert moments == pytest.approx(unit_fit[1], rel=1e-4)


def test_bounds_as_close_as_they_may_be_give_the_same_answer():
    """Rounding changes single decisions of the chain there, so that draws differ: compare what long ones say."""
    found, exact = fit_at((2.0**32, 2.0**32 + 1.0), 4000)[1], fit_at((0.0, 1.0), 4000)[1]
    # The error of these chains: about .001 and 3%.
    assert found[0] == pytest.approx(exact[0], abs=0.004)
    assert found[1] == pytest.approx(exact[1], rel=0.1)


def test_published_values_are_judged_by_the_noisy_ones_behind_them():
    noisy = mechanisms.Laplace(scale=1.0, bounds=(0.0, 1.0))
    model = default_model(mechanisms.Rounded(mechanisms.Withheld(noisy, below=-3.0), to=10.0))
    assert np.isfinite(read_release(model, [np.nan, 30.0])).sum() == 1
    with pytest.raises(ValueError, match=r"^1 of 2 .*: 40 \(row 2\)"):
        read_release(model, [np.nan, 40.0])
