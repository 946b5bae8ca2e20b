"""What every mechanism that releases a histogram must do."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import integrate, stats

from mechanisms.histograms import (
    BOUNDS,
    HISTOGRAMS,
    NOISY,
    RECORDS,
    SMOOTHED,
    UNEQUAL,
    counts_of,
    data,
    log_density,
    name,
)
from privmix.jit import bind
from privmix.mechanisms import NoisyHistogram, SmoothedHistogram
from privmix.mechanisms.slots import log_ratio, replace
from privmix.parts import part_from_dict, part_to_dict

# p-values below are rejected; some 40 tests are made with fixed seeds.
ALPHA = 1e-6
every = pytest.mark.parametrize("mechanism", HISTOGRAMS, ids=name)


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


def use_ratio(mechanism, z, statistic, old, new):
    return log_ratio(mechanism, z, statistic, old, new)


def use_replace(mechanism, statistic, old, new):
    replace(mechanism, statistic, old, new)


@every
@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_json])
def test_copies_are_equal(mechanism, again):
    other = again(mechanism)
    assert other == mechanism
    assert hash(other) == hash(mechanism)
    assert other.guarantee == mechanism.guarantee
    assert np.array_equal(other.privatize(data(1), seed=1), mechanism.privatize(data(1), seed=1))
    assert [np.array_equal(other.edges, mechanism.edges), other.numbers() is not None] == [True, True]


def test_different_mechanisms_are_unequal():
    for one in HISTOGRAMS:
        assert sum(one == other for other in HISTOGRAMS) == 1


@pytest.mark.parametrize("share", np.random.default_rng(1).random(50))
def test_a_given_uniform_share_comes_back_bit_for_bit(share):
    mechanism = SmoothedHistogram(10, 3, 2, uniform=float(share), bounds=(0, 1))
    assert mechanism.uniform == share
    assert through_json(mechanism) == mechanism


@every
def test_repr_is_short_and_plain(mechanism):
    text = repr(mechanism)
    assert len(text) < 200
    assert "np." not in text
    assert "array" not in text
    assert f"records={RECORDS}" in text


def test_repr_names_few_of_many_edges():
    mechanism = NoisyHistogram(np.int64(5), np.linspace(0, 1, 101), epsilon=np.float64(1.0))
    assert repr(mechanism) == (
        "NoisyHistogram(records=5, bins=[0, 0.01, 0.02, …, 1], noise='laplace', epsilon=1.0, bounds=(0.0, 1.0), "
        "scale=2.0)"
    )


@every
@pytest.mark.parametrize("seed", range(5))
def test_logpdf_is_the_formula(mechanism, seed):
    y = data(seed)
    z = mechanism.privatize(data(seed + 50), seed=seed)
    assert mechanism.logpdf(z, y) == pytest.approx(log_density(mechanism, z, y), rel=1e-10, abs=1e-10)


@every
def test_statistic_counts_edges_to_the_right_and_what_is_outside_in_the_end_bins(mechanism):
    y = np.concatenate([mechanism.edges, [-100.0, 100.0], np.nextafter(mechanism.edges, -200.0)])
    assert np.array_equal(mechanism.statistic(y), counts_of(mechanism, y))
    assert mechanism.statistic(y).sum() == len(y)


@every
@pytest.mark.parametrize("compiled", [False, True])
def test_ratio_and_replacement_are_those_of_the_replaced_data(mechanism, compiled):
    ratio, change = (bind(f, mechanism.hooks(), compiled=compiled) for f in (use_ratio, use_replace))
    part = mechanism.numbers() if compiled else mechanism
    rng = np.random.default_rng(3)
    for seed in range(10):
        y, new = data(seed), float(rng.choice([*mechanism.edges, rng.uniform(-4.0, 6.0)]))
        z, i = mechanism.privatize(y, seed=seed), int(rng.integers(RECORDS))
        moved = np.where(np.arange(RECORDS) == i, new, y)
        statistic = mechanism.statistic(y)
        found = ratio(part, mechanism.encode(z), statistic, y[i], new)
        assert found == pytest.approx(log_density(mechanism, z, moved) - log_density(mechanism, z, y), abs=1e-9)
        assert mechanism.log_ratio(mechanism.encode(z), statistic, y[i], new) == pytest.approx(found, abs=1e-12)
        change(part, statistic, y[i], new)
        assert np.array_equal(statistic, mechanism.statistic(moved))


@every
def test_a_count_below_zero_is_impossible(mechanism):
    z = mechanism.encode(mechanism.privatize(data(1), seed=1))
    assert all(mechanism.log_bin(z, j, -1.0) == -np.inf for j in range(mechanism.bin_count))


@pytest.mark.parametrize("mechanism", [m for m in NOISY if m.discrete], ids=name)
def test_discrete_noise_sums_to_one(mechanism):
    total = [np.exp(mechanism.log_bin([float(k)] * 4, 1, 7.0)) for k in range(-300, 315)]
    assert np.sum(total) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("mechanism", [m for m in NOISY if not m.discrete], ids=name)
def test_continuous_noise_integrates_to_one(mechanism):
    total = integrate.quad(lambda x: np.exp(mechanism.log_bin([x] * 4, 1, 7.0)), -200, 214, points=[7.0])[0]
    assert total == pytest.approx(1.0, abs=1e-9)


def one_draw(mechanism):
    return SmoothedHistogram(mechanism.records, mechanism.edges, 1, uniform=mechanism.uniform)


@pytest.mark.parametrize("mechanism", SMOOTHED, ids=name)
def test_smoothed_histogram_integrates_to_one(mechanism):
    single, y = one_draw(mechanism), data(4)
    middles, widths = 0.5 * (single.edges[:-1] + single.edges[1:]), np.diff(single.edges)
    masses = [np.exp(single.logpdf([x], y)) * width for x, width in zip(middles, widths, strict=True)]
    assert sum(masses) == pytest.approx(1.0, abs=1e-12)


def test_printed_density_of_the_smoothed_histogram_does_not_integrate_to_one():
    """Erratum: (1 − δ) Σ (c_j/n) 1_{B_j} + δ on [0, 1] lacks the factor m, and has mass (1 − δ)/m + δ."""
    c, m, delta = np.array([3.0, 0.0, 5.0, 4.0]), 4, 0.25
    printed = np.sum(((1 - delta) * c / c.sum() + delta) / m)
    assert printed == pytest.approx((1 - delta) / m + delta)
    assert printed < 0.5
    mechanism = SmoothedHistogram(12, m, 1, uniform=delta, bounds=(0, 1))
    y = np.repeat([0.1, 0.3, 0.6, 0.9], c.astype(int))
    heights = np.exp([mechanism.logpdf([x], y) for x in (0.1, 0.3, 0.6, 0.9)])
    assert heights == pytest.approx((1 - delta) * m * c / c.sum() + delta)
    assert heights.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("mechanism", SMOOTHED, ids=name)
def test_draws_of_the_smoothed_histogram_follow_its_density(mechanism):
    single, y = one_draw(mechanism), data(4)
    rng = np.random.default_rng(5)
    z = SmoothedHistogram(RECORDS, single.edges, 20_000, uniform=single.uniform).perturb(rng, y)
    assert z.min() >= BOUNDS[0]
    assert z.max() <= BOUNDS[1]
    widths = np.diff(single.edges)
    heights = np.exp([single.logpdf([x], y) for x in 0.5 * (single.edges[:-1] + single.edges[1:])])
    knots = np.concatenate([[0.0], np.cumsum(heights * widths)])
    assert stats.kstest(z, lambda x: np.interp(x, single.edges, knots)).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", NOISY, ids=name)
def test_noise_of_the_counts_follows_its_law(mechanism):
    y, rng = data(4), np.random.default_rng(6)
    counts = mechanism.statistic(y)
    rows = np.array([mechanism.perturb(rng, y) - counts for _ in range(8000)])
    if not mechanism.discrete:
        law = {"laplace": stats.laplace, "gaussian": stats.norm}[mechanism.noise]
        assert stats.kstest((rows / mechanism.scale).ravel(), law.cdf).pvalue > ALPHA
        return
    noise = rows.ravel() if np.ndim(mechanism.scale) == 0 else rows[:, 0]
    assert np.array_equal(noise, np.round(noise))
    k = np.arange(-60, 61)
    p = np.exp([mechanism.log_bin([float(x)] * 4, 0, 0.0) for x in k])
    often = p * len(noise) > 10
    seen = np.array([np.sum(noise == x) for x in k[often]])
    rest = len(noise) - seen.sum(), (1 - p[often].sum()) * len(noise)
    expected = np.append(p[often] * len(noise), rest[1])
    assert stats.chisquare(np.append(seen, rest[0]), expected).pvalue > ALPHA


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 2.7, 40.0])
def test_discrete_gaussian_draws_at_small_and_large_scales(scale):
    mechanism = NoisyHistogram(100, 2, "discrete gaussian", scale=scale, bounds=(0, 1))
    big = np.full(30_000, 0.0)
    noise = type(mechanism).perturb_counts(mechanism, np.random.default_rng(7), big)
    k = np.arange(-500, 501)
    p = np.exp(-(k**2) / (2 * scale**2))
    variance = np.sum(p * k**2) / p.sum()
    spread = np.sqrt(np.sum(p * (k**2 - variance) ** 2) / p.sum() / len(noise))
    assert abs(np.mean(noise**2) - variance) <= 5 * spread + 1e-12
    assert abs(noise.mean()) <= 5 * np.sqrt(variance / len(noise)) + 1e-12


@every
def test_initial_records_are_plausible(mechanism):
    z = mechanism.privatize(data(2), seed=2)
    start = mechanism.initial(z)
    assert start.shape == (RECORDS,)
    assert start.min() >= BOUNDS[0]
    assert start.max() <= BOUNDS[1]
    assert np.array_equal(mechanism.origin(), mechanism.statistic(np.full(RECORDS, mechanism.reference)))


def test_initial_records_where_every_released_count_is_negative():
    mechanism = NoisyHistogram(4, 2, epsilon=1.0, bounds=(0, 1))
    assert mechanism.initial(np.array([-1.0, -2.0])) == pytest.approx([0.125, 0.375, 0.625, 0.875])


@every
def test_number_of_records_is_public_and_counted_once(mechanism):
    z = mechanism.privatize(data(2), seed=2)
    assert mechanism.count_records(z) == RECORDS
    assert mechanism.is_global


@every
def test_values_outside_are_clipped_with_a_warning(mechanism):
    with pytest.warns(UserWarning, match=r"^2 of 12 values lie outside the bounds \[-3, 5\] and were clipped\.$"):
        z = mechanism.privatize([-9.0, *data(1)[:10], 9.0], seed=1)
    assert np.array_equal(z, mechanism.privatize([-3.0, *data(1)[:10], 5.0], seed=1))


# Growth rates and the uniform share.


@pytest.mark.parametrize(("n", "m", "k"), [(250, 4, 28), (1, 2, 2), (32, 3, 9), (31, 2, 8), (10**5, 11, 1001)])
def test_growth_rates_are_those_of_the_appendix(n, m, k):
    for factor in (2, 4, 6):
        mechanism = SmoothedHistogram.growing(n, epsilon=2.0, factor=factor, bounds=(0.0, 3.0))
        assert (mechanism.bins, mechanism.draws, mechanism.bounds) == (factor * m, k, (0.0, 3.0))
    assert SmoothedHistogram(n, epsilon=2.0, bounds=(0, 1)) == SmoothedHistogram.growing(n, 2.0)


@pytest.mark.parametrize("epsilon", [1e-6, 2.0, 10.0, 50.0, 100.0, 250.0, 19_000.0])
@pytest.mark.parametrize("factor", [2, 4, 6])
def test_uniform_share_is_the_smallest_that_keeps_the_condition(epsilon, factor):
    """In the settings of Appendix C, and beyond: with 60 digits."""
    from mpmath import mp, mpf

    mechanism = SmoothedHistogram.growing(250, epsilon, factor)
    with mp.workdps(60):
        odds = mpf(250) / mechanism.bins * mp.expm1(mpf(epsilon) / 28)
        assert mechanism.uniform == pytest.approx(float(1 / (1 + odds)), rel=1e-12, abs=1e-320)
        share = mpf(1) / (1 + mpf(mechanism.odds))
        kept = 28 * mp.log((1 - share) / share * mechanism.bins / 250 + 1)
        assert abs(kept / mpf(epsilon) - 1) < 1e-12
    assert mechanism.guarantee.epsilon == epsilon
    assert np.isfinite(mechanism.logpdf(np.full(28, 0.5), np.full(250, 0.1)))


def test_unequal_bins_pay_for_the_narrowest():
    mechanism = SmoothedHistogram(12, UNEQUAL, 3, uniform=0.2)
    assert mechanism.guarantee.epsilon == pytest.approx(3 * np.log(0.8 / 0.2 * 8.0 / (12 * 0.5) + 1))
