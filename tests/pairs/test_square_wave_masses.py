"""Probabilities of bins of a square wave's releases: integrals of its density, whatever the component."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import privmix
from privmix.jit import bind
from privmix.kernels import Beta, TruncatedNormal
from privmix.mechanisms import Counted, SquareWave
from privmix.samplers.binned.bins import Nodes, find_bins
from privmix.samplers.binned.mixture import fill_row

BOUNDS = (-10.0, 10.0)


def row_of(model, theta):
    """Return the probabilities of bins under an atom, as compiled code would compute them."""
    bins, atom = find_bins(model, None), np.zeros(model.kernel.columns)
    atom[: len(theta)] = theta
    model.kernel.prepare(atom)
    out, fill = np.zeros(bins.size), bind(fill_row, {**model.hooks(), **bins.hooks}, compiled=False)
    fill(model.parts(), model.data(np.zeros(bins.size)), Nodes(bins.node), atom, out)
    return out


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])  # at the last the wave is narrower than a bin
@pytest.mark.parametrize(("mean", "sd"), [(-7.5, 0.03), (0.03, 0.4), (3.1, 6.0), (-30.0, 4.0)])
def test_probabilities_are_integrals(epsilon, mean, sd):
    counted = Counted(SquareWave(epsilon=epsilon, bounds=BOUNDS), 30)
    wave, edges = counted.mechanism, counted.edges
    row = row_of(privmix.default_model(counted), (mean, sd * sd))
    law = stats.truncnorm((BOUNDS[0] - mean) / sd, (BOUNDS[1] - mean) / sd, mean, sd)
    low, high = np.exp(wave.log_low), np.exp(wave.log_high)
    for j in range(0, 30, 4):
        kinks = [mean - wave.reach, mean + wave.reach, BOUNDS[0] - wave.reach, BOUNDS[0] + wave.reach]
        near, _ = integrate.quad(
            lambda z: law.cdf(z + wave.reach) - law.cdf(z - wave.reach),
            *edges[j : j + 2],
            points=np.clip(kinks, *edges[j : j + 2]),
            limit=200,
        )
        assert row[j] == pytest.approx(low * (edges[j + 1] - edges[j]) + (high - low) * near, rel=1e-6)
    assert row.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("theta", [(-300.0, 1e-4), (5000.0, 1.0), (0.0, 1e8), (9.99, 1e-12), (-1e6, 1e10)])
def test_extreme_components_have_probabilities_too(theta):
    row = row_of(privmix.default_model(Counted(SquareWave(epsilon=2.0, bounds=BOUNDS))), theta)
    assert (row > 0.0).all()
    assert row.sum() == pytest.approx(1.0, abs=1e-9)


def row_by_records(wave, edges, y, weight):
    """Return the probabilities of bins for records at these places, each with its wave of constant density."""
    low, high = np.exp(wave.log_low), np.exp(wave.log_high)
    near = [
        np.clip(np.minimum(right, y + wave.reach) - np.maximum(left, y - wave.reach), 0.0, None) @ weight
        for left, right in pairwise(edges)
    ]
    return low * np.diff(edges) + (high - low) * np.array(near)


@pytest.mark.parametrize("epsilon", [1.0, 8.0, 15.0, 20.0, 25.0])
@pytest.mark.parametrize("theta", [(0.0, 1e8), (0.0, 1e12), (3.0, 1e16), (-1e7, 1e12)])
def test_far_wider_components_are_uniform_or_tilted(epsilon, theta):
    """Bins that do not add up to 1 draw fits to components that no data tell apart: 50 in place of 1 was seen."""
    counted = Counted(SquareWave(epsilon=epsilon, bounds=BOUNDS), 40)
    y = np.linspace(*BOUNDS, 200_001)
    y = 0.5 * (y[1:] + y[:-1])
    weight = np.exp(-0.5 * (y - y[0]) * (y + y[0] - 2.0 * theta[0]) / theta[1])
    expected = row_by_records(counted.mechanism, counted.edges, y, weight / weight.sum())
    assert row_of(privmix.default_model(counted), theta) == pytest.approx(expected, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize(("mean", "sd"), [(9.0, 3.0), (-20.0, 8.0), (4.0, 0.1)])
@pytest.mark.parametrize("epsilon", [2.0, 14.0])
@pytest.mark.parametrize("support", [(-15.0, 25.0), (2.0, 30.0), (-3.0, 4.5)])
def test_records_outside_the_bounds_count_as_the_nearest(support, epsilon, mean, sd):
    counted = Counted(SquareWave(epsilon=epsilon, bounds=BOUNDS), 20)
    model = privmix.PrivateMixture(counted, TruncatedNormal(bounds=support))
    law = stats.truncnorm((support[0] - mean) / sd, (support[1] - mean) / sd, mean, sd)
    places = law.ppf((np.arange(200_000) + 0.5) / 200_000)
    expected = row_by_records(counted.mechanism, counted.edges, np.clip(places, *BOUNDS), np.full(200_000, 5e-6))
    assert row_of(model, (mean, sd * sd)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("mean", [-9.999, 0.3, 14.0])
def test_waves_on_either_side_of_the_limit_agree(mean):
    """Where a wave begins to count as narrow the two forms give the same probabilities."""
    wave = SquareWave(epsilon=9.0, bounds=BOUNDS)
    sd, counted = wave.reach / 1e-4, Counted(wave, 50)
    one, other = (row_of(privmix.default_model(counted), (mean, (sd * by) ** 2)) for by in (1.0 - 1e-9, 1.0 + 1e-9))
    assert one == pytest.approx(other, rel=1e-6, abs=1e-12)


def test_a_wave_is_not_narrow_beside_bins_that_are_as_narrow():
    """Near a bound a wave's bins fall off over its own width."""
    wave = SquareWave(epsilon=11.0, bounds=BOUNDS)
    assert wave.reach < 1e-4 * (BOUNDS[1] - BOUNDS[0])
    counted = Counted(wave, int(20.0 / wave.reach))
    row, edges = row_of(privmix.default_model(counted), (0.0, 1e16)), counted.edges
    above = (np.clip(edges[:4, None] + [-wave.reach, wave.reach], *BOUNDS) - BOUNDS[0]) ** 2 / 40.0
    near = np.diff(above[:, 1] - above[:, 0])
    low, high = np.exp(wave.log_low), np.exp(wave.log_high)
    assert row[:3] == pytest.approx(low * np.diff(edges[:4]) + (high - low) * near, rel=1e-4)


def test_rounding_of_narrow_waves_adds_nothing():
    wave = SquareWave(epsilon=22.0, bounds=BOUNDS)
    row = row_of(privmix.default_model(Counted(wave)), (0.3, (0.9 * wave.reach / 1e-4) ** 2))
    assert row.sum() == pytest.approx(1.0, abs=1e-14)


def test_probabilities_by_a_rule_with_points_add_up():
    counted = Counted(SquareWave(epsilon=2.0, bounds=(0.0, 1.0)), 24)
    model = privmix.PrivateMixture(counted, Beta())
    assert not isinstance(model.kernel, TruncatedNormal)
    assert row_of(model, (0.7, 9.0)).sum() == pytest.approx(1.0, abs=1e-14)
