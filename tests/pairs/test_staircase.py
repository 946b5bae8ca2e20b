"""Distribution functions of a staircase's releases: sums over steps and records, the slope g, and far components."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import privmix
from pairs.pairs import cdf_of, log_g_of, masses_of
from privmix.kernels import Beta, Normal, TruncatedNormal
from privmix.mechanisms import Counted, Staircase
from privmix.pairs import normal_moments
from privmix.samplers import Binned

BOUNDS = (-1.0, 3.0)
WIDTH = 4.0
MECHANISMS = [
    Staircase(epsilon=0.5, bounds=BOUNDS),
    Staircase(epsilon=3.0, bounds=BOUNDS),
    Staircase(epsilon=2.0, bounds=BOUNDS, gamma=0.8),
    Staircase(epsilon=1.0, bounds=BOUNDS, gamma=1.0),
]
PLACES = np.array([-30.0, -4.7, -1.3, -1.0, 0.2, 1.1, 2.9, 3.0, 3.4, 8.1, 40.0])


def noise_cdf(mechanism, x):
    """Return P(noise ≤ x) as a sum over all steps, each a piece of constant density."""
    steps = np.arange(-400, 400)
    edges = WIDTH * np.concatenate([steps[:400] + 1.0 - mechanism.gamma, steps[400:] + mechanism.gamma])
    height = np.exp(
        mechanism.log_top - mechanism.drop * np.concatenate([np.arange(399, 0, -1), [0], np.arange(1, 400)])
    )
    inside = np.clip(np.asarray(x)[..., None] - edges[:-1], 0.0, np.diff(edges))
    return (inside * height).sum(axis=-1)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize(("mean", "sd"), [(-0.8, 0.05), (0.7, 0.9), (2.0, 20.0), (-9.0, 3.0)])
def test_it_is_the_mean_of_that_of_the_noise(mechanism, mean, sd):
    theta = np.tile([mean, sd * sd], (len(PLACES), 1))
    cut = stats.truncnorm((BOUNDS[0] - mean) / sd, (BOUNDS[1] - mean) / sd, mean, sd)
    grid = np.linspace(*BOUNDS, 400_001)
    middle, mass = 0.5 * (grid[1:] + grid[:-1]), np.diff(cut.cdf(grid))
    found = cdf_of(mechanism, TruncatedNormal(bounds=BOUNDS), PLACES, theta)
    expected = [mass @ noise_cdf_on(mechanism, z - middle) for z in PLACES]
    assert found == pytest.approx(expected, abs=1e-9)
    whole = stats.norm(mean, sd)
    mass = np.diff(whole.cdf(grid))
    mass[0] += whole.cdf(BOUNDS[0])  # what is outside counts as the nearest bound
    mass[-1] += whole.sf(BOUNDS[1])
    middle[0], middle[-1] = BOUNDS
    found = cdf_of(mechanism, Normal(0.0, 1.0, 2.0, 1.0), PLACES, theta)
    assert found == pytest.approx([mass @ noise_cdf_on(mechanism, z - middle) for z in PLACES], abs=2e-5)


def noise_cdf_on(mechanism, x):
    """Return P(noise ≤ x) at many places, between whose steps it is linear."""
    places = WIDTH * np.unique(np.concatenate([s * (np.arange(30) + mechanism.gamma) for s in (-1.0, 1.0)]))
    return np.interp(x, places, noise_cdf(mechanism, places))


@pytest.mark.parametrize("kernel", [TruncatedNormal(bounds=BOUNDS), Normal(0.0, 1.0, 2.0, 1.0)], ids=repr)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_it_rises_by_the_integral_of_g(mechanism, kernel):
    theta = np.array([[0.3, 0.4]])
    low, high = -2.2, 4.9
    found = np.diff(cdf_of(mechanism, kernel, np.array([low, high]), np.tile(theta, (2, 1))))
    z = np.linspace(low, high, 20_001)
    g = np.exp(log_g_of(mechanism, kernel, z, np.tile(theta, (len(z), 1))))
    # Records outside the bounds count as the bounds: there g has jumps, which a rule with points does not see.
    jumps = 0.0 if isinstance(kernel, TruncatedNormal) else 2e-5
    assert found == pytest.approx(integrate.simpson(g, x=z), rel=1e-7, abs=jumps)


@pytest.mark.parametrize("theta", [(-300.0, 1e-4), (5000.0, 1.0), (0.0, 1e8), (2.99, 1e-12), (-1e6, 1e10)])
@pytest.mark.parametrize("kernel", [TruncatedNormal(bounds=BOUNDS), Normal(0.0, 1.0, 2.0, 1.0)], ids=repr)
def test_it_rises_from_0_to_1_for_extreme_components(kernel, theta):
    places = np.linspace(-80.0, 80.0, 500)
    found = cdf_of(MECHANISMS[1], kernel, places, np.tile(theta, (500, 1)))
    assert (np.diff(found) > -1e-12).all()
    assert found[[0, -1]] == pytest.approx([0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize("kernel", [TruncatedNormal(bounds=BOUNDS), Normal(0.0, 1.0, 2.0, 1.0)], ids=repr)
@pytest.mark.parametrize("epsilon", [3.0, 8.0, 12.0])
def test_far_wider_components_are_flat_between_the_bounds(epsilon, kernel):
    """Bins that do not add up to 1 draw fits to components that no data tell apart: 2 in place of 1 was seen."""
    counted = Counted(Staircase(epsilon=epsilon, bounds=BOUNDS))
    edges, y = open_edges(counted.edges), np.linspace(*BOUNDS, 4_000, endpoint=False) + WIDTH / 8_000
    spread = np.diff(noise_cdf_on(counted.mechanism, edges[1:-1, None] - y[None]).mean(axis=1))
    for sd in (1e4, 1e6, 1e8):
        row = masses_of(counted.mechanism, kernel, edges, (1.0, sd * sd))
        assert row.sum() == pytest.approx(1.0, abs=1e-12)
        if isinstance(kernel, TruncatedNormal):
            assert row[1:-1] == pytest.approx(spread, abs=1e-5)
        else:  # half of the records count as either bound
            ends = noise_cdf_on(counted.mechanism, edges[1:-1, None] - np.array(BOUNDS)[None]).mean(axis=1)
            assert row[1:-1] == pytest.approx(np.diff(ends), abs=2e-3)


def open_edges(edges):
    """Return edges of which the outermost are infinite."""
    return np.concatenate([[-np.inf], edges[1:-1], [np.inf]])


@pytest.mark.parametrize("span", [(-30.0, -3.0), (3.0, 31.0), (-29.0, -1.0), (-29.0, 1.0), (11.0, 51.0)])
def test_a_span_may_end_before_a_bound(span):
    mechanism, kernel = MECHANISMS[0], TruncatedNormal(bounds=BOUNDS)
    edges = np.linspace(*span, int(span[1] - span[0]) + 1)
    row = masses_of(mechanism, kernel, open_edges(edges), (0.4, 0.3))
    found = cdf_of(mechanism, kernel, edges[1:-1], np.tile((0.4, 0.3), (len(edges) - 2, 1)))
    assert row == pytest.approx(np.diff(found, prepend=0.0, append=1.0), abs=1e-12)


@pytest.mark.parametrize(("middle", "half"), [(0.0, 1e-6), (0.2, 0.3), (-4.0, 0.02), (-1e5, 1e-7), (0.4, 1e-12)])
def test_the_mean_of_a_short_interval_keeps_its_digits(middle, half):
    with mpmath.workdps(60):
        m, h = mpmath.mpf(middle), mpmath.mpf(half)
        low, high = m - h, m + h
        mean = (mpmath.npdf(low) - mpmath.npdf(high)) / (mpmath.ncdf(high) - mpmath.ncdf(low))
        expected = float(m - mean)
    assert normal_moments.lean(middle, half) == pytest.approx(expected, rel=1e-12, abs=1e-15 * half)


def test_bins_of_any_budget_are_few():
    for epsilon in (1e-4, 1e-2, 0.3, 5.0, 20.0):
        counted = Counted(Staircase(epsilon=epsilon, bounds=BOUNDS))
        assert 64 <= counted.bins <= 2048
        assert counted.bins * WIDTH / np.diff(counted.span)[0] >= 28
    assert Counted(MECHANISMS[0], span=(0.0, 1.0)).bins >= 1


def test_counts_are_fitted_and_other_kernels_are_refused():
    mechanism = Counted(Staircase(epsilon=4.0, bounds=(0.0, 1.0)))
    rng = np.random.default_rng(3)
    z = mechanism.perturb(rng, rng.beta(2.0, 5.0, 5000))
    model = privmix.default_model(mechanism)
    posterior = model.sample(z, Binned(), chains=2, draws=100, warmup=200, seed=1)
    grid = np.linspace(0.0, 1.0, 101)
    error = np.abs(posterior.density(grid)["mean"].values - stats.beta(2.0, 5.0).pdf(grid)).mean()
    assert error < 0.1
    with pytest.raises(ValueError, match=r"no distribution function of z"):
        Binned().check(privmix.PrivateMixture(mechanism, Beta()))


def test_bins_are_narrower_than_steps():
    for mechanism in MECHANISMS:
        counted = Counted(mechanism)
        assert np.diff(counted.edges)[0] < 0.04 * WIDTH * min(mechanism.gamma, 1.0 - mechanism.gamma or 1.0)
