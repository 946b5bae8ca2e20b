"""Counts that were clamped, rounded or withheld: likelihoods against sums over all noisy counts, refusals, files."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mechanisms.neighbours import UNIT, M, N
from privmix.mechanisms import Clamped, NoisyHistogram, Rounded, SmoothedHistogram, Withheld
from privmix.mechanisms.post_processing import apply_all
from privmix.privacy import audit
from privmix.release import Release

BOUNDS, RECORDS = (-3.0, 5.0), 12


def made(noise="discrete laplace", scale=2.0, records=RECORDS, bins=4, bounds=BOUNDS, **rest):
    return NoisyHistogram(records, bins, noise, scale=scale, bounds=bounds, **rest)


EXAMPLES = [
    Clamped(made(), lower=0),
    Clamped(made("laplace"), lower=0, upper=9),
    Withheld(made("discrete gaussian", 1.5), below=3),
    Withheld(made("gaussian", 1.5, neighbours="add-remove"), at_or_above=6.0),
    Rounded(Clamped(made(), lower=0), to=5),
    Withheld(Rounded(made("laplace"), to=2, how="down"), at_or_below=2),
]
DISCRETE = [m for m in EXAMPLES if m.discrete] + [
    Withheld(made(), at_or_below=3),
    Withheld(made(), above=3),
    Withheld(made(), at_or_above=3),
    Rounded(made("discrete gaussian", 3.0), to=5, how="half even"),
    Rounded(made(), to=3, how="up"),
    Clamped(Rounded(made(), to=5), lower=0, upper=10),
    Withheld(Clamped(made("discrete gaussian", 8.0), upper=6), below=-2),
]


def key(value):
    """Return a published count as something that can be compared; missing ones are alike."""
    return "missing" if math.isnan(value) else round(value, 9)


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
def test_mass_of_a_published_count_is_the_sum_over_all_noisy_ones(mechanism):
    """The steps are applied to every whole number, so no rule for undoing them enters."""
    k = np.arange(-300.0, 301.0)
    inner = mechanism.mechanism
    for count in (0.0, 1.0, 4.0, 11.0):
        p = np.exp([inner.log_bin([x] * 4, 0, 0.0) for x in k])
        published = apply_all(mechanism.steps, k + count)
        total = {}
        for value, mass in zip(published, p, strict=True):
            total[key(value)] = total.get(key(value), 0.0) + mass
        for value in {key(v): v for v in published if not abs(v) > 40}.values():
            z = mechanism.encode(np.full(4, value))
            assert math.exp(mechanism.log_bin(z, 2, count)) == pytest.approx(total[key(value)], rel=1e-11, abs=1e-60)


@pytest.mark.parametrize(("noise", "law"), [("laplace", stats.laplace), ("gaussian", stats.norm)])
def test_masses_of_continuous_noise_are_those_of_scipy(noise, law):
    mechanism = Withheld(Rounded(Clamped(made(noise), upper=8.0), to=2), below=4)
    z = mechanism.encode(np.array([np.nan, 4.0, 8.0, 6.0]))
    ends = [(-np.inf, 3.0), (3.0, 5.0), (7.0, np.inf), (5.0, 7.0)]
    for count in (0.0, 5.0, 9.0):
        for j, (low, high) in enumerate(ends):
            near = law.cdf([low - count, high - count], scale=2.0)
            far = law.sf([low - count, high - count], scale=2.0)
            exact = math.log(near[1] - near[0] if low < count else far[0] - far[1])
            assert mechanism.log_bin(z, j, count) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("noise", ["laplace", "gaussian", "discrete laplace", "discrete gaussian"])
def test_both_tails_are_accurate_far_out(noise):
    mechanism = Clamped(made(noise, 1.0), lower=0, upper=1e4)
    z = mechanism.encode(np.array([0.0, 1e4, 0.0, 0.0]))
    low, high = mechanism.log_bin(z, 0, 60.0), mechanism.log_bin(z, 1, 1e4 - 60.0)
    assert low == pytest.approx(high, rel=1e-12)
    exact = {"laplace": stats.laplace.logsf(60.0), "gaussian": stats.norm.logsf(60.0)}
    exact["discrete laplace"] = -60.0 - math.log1p(math.exp(-1.0))
    exact["discrete gaussian"] = -1800.0 - 0.5 * math.log(2 * math.pi)  # the next term is below by e^-60.5
    assert low == pytest.approx(exact[noise], rel=1e-9)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_what_it_keeps_of_the_noisy_counts(mechanism):
    inner, y = mechanism.mechanism, np.linspace(*BOUNDS, RECORDS)
    assert mechanism.guarantee == inner.guarantee
    assert mechanism.in_words.startswith(inner.in_words + "; values ")
    assert (mechanism.records, mechanism.bounds, mechanism.neighbours) == (RECORDS, BOUNDS, inner.neighbours)
    z = mechanism.privatize(y, seed=3)
    assert np.array_equal(z, apply_all(mechanism.steps, inner.privatize(y, seed=3)), equal_nan=True)
    assert np.array_equal(mechanism.check_release(z), z, equal_nan=True)
    assert mechanism.initial(z).shape == (RECORDS,)
    assert np.isfinite(mechanism.logpdf(z, y))
    assert np.isfinite(mechanism.fill_withheld(z)).all()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_files_keep_the_steps_and_what_is_missing(tmp_path, mechanism, suffix):
    release = Release(mechanism.privatize(np.linspace(*BOUNDS, RECORDS), seed=5), mechanism)
    release.save(tmp_path / f"z{suffix}")
    assert Release.load(tmp_path / f"z{suffix}") == release


def test_a_frame_with_missing_counts_is_read():
    mechanism = Withheld(made(), below=3)
    frame = pd.DataFrame({"lower": mechanism.edges[:-1], "upper": mechanism.edges[1:], "count": [4.0, None, 3.0, None]})
    assert np.array_equal(mechanism.check_release(frame), [4.0, np.nan, 3.0, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("mechanism", "z", "message"),
    [
        (
            Clamped(made(), lower=0),
            [1, -1, 0, 0],
            r"bin 1 of the release is -1, which cannot be after this: values below",
        ),
        (
            Withheld(made(), below=3),
            [4, 5, 2, 3],
            r"bin 2 of the release is 2, which cannot be after this: values below 3",
        ),
        (Withheld(made(), at_or_below=3), [4, 5, 6, 3], r"bin 3 of the release is 3, which cannot be"),
        (Rounded(made(), to=5), [5, 7, 0, 0], r"bin 1 of the release is 7, which cannot be after this: values rounded"),
        (Clamped(made(), lower=0), [1, 2.5, 0, 0], r"bin 1 of the release is 2.5, and no whole number leads there"),
        (Clamped(made(), lower=0), [1, 2, 0], r"NoisyHistogram releases 4 counts, one a bin; the release z has 3"),
        (Clamped(made(), lower=0), [1, np.nan, 0, 0], r"has 1 values that are NaN or infinite"),
    ],
)
def test_contradictions_name_the_bin(mechanism, z, message):
    with pytest.raises(ValueError, match=message):
        mechanism.check_release(z)


def test_withheld_twice_and_draws_of_a_smoothed_histogram_are_refused():
    with pytest.raises(ValueError, match="values are withheld already"):
        Withheld(Withheld(made(), below=3), above=9)
    with pytest.raises(ValueError, match="SmoothedHistogram cannot be fitted after post-processing"):
        Clamped(SmoothedHistogram(10, 4, 5, epsilon=1.0, bounds=UNIT), lower=0)


@pytest.mark.parametrize("noise", ["laplace", "discrete laplace"])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_audit_finds_no_more_than_that_of_the_noisy_counts(noise, relation):
    mechanism = Clamped(NoisyHistogram(N, M, noise, 1.0, bounds=UNIT, neighbours=relation), lower=0)
    found = audit(mechanism)
    assert found.worst == pytest.approx(1.0, rel=1e-9)
    assert found.guarantee.neighbours == relation


def test_audit_of_withheld_gaussian_counts_is_that_of_the_noisy_ones():
    mechanism = Withheld(made("gaussian", 2.0, records=3, bins=2), below=1)
    assert audit(mechanism).worst == pytest.approx(mechanism.guarantee.rho, rel=1e-9)


def test_bars_leave_out_what_was_withheld():
    mechanism = Withheld(made(), below=3)
    bars = mechanism.bars(np.array([4.0, np.nan, 6.0, np.nan]), *BOUNDS)
    assert bars.heights.tolist() == [4.0 / 24, 0.0, 6.0 / 24, 0.0]
    assert bars.label == "released counts, 2 bins withheld"


@pytest.mark.parametrize("noise", ["laplace", "discrete laplace"])
def test_a_clamp_at_zero_changes_nothing_under_laplace_noise(noise):
    """P(c + noise ≤ 0) and the law of noise −c fall alike with the count; under Gaussian noise they do not."""
    for kind, alike in ((noise, True), (noise.replace("laplace", "gaussian"), False)):
        plain = NoisyHistogram(40, 4, kind, bounds=(0.0, 1.0), scale=3.0)
        clamped = Clamped(plain, lower=0.0)
        z = np.array([0.0, 5.0, 12.0, 9.0])
        ratios = [clamped.log_bin(clamped.encode(z), 0, float(c)) - plain.log_bin(z, 0, float(c)) for c in range(20)]
        assert (np.ptp(ratios) < 1e-9) == alike
