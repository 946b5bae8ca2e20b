"""Records that were clamped, rounded or withheld after the noise: exact masses, and what cannot be."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from privmix import Release, mechanisms
from privmix.mechanisms import Clamped, Gaussian, Laplace, OnLattice, Rounded, SquareWave, Withheld

BOUNDS = (-3.0, 5.0)
LAPLACE = Laplace(epsilon=2.0, bounds=BOUNDS)
WAVE = SquareWave(epsilon=2.0, bounds=BOUNDS)
EXAMPLES = [
    Clamped(LAPLACE, lower=-3.0),
    Clamped(LAPLACE, lower=-3.0, upper=5.0),
    Rounded(Clamped(LAPLACE, lower=0.0), to=2.0, how="down"),
    Withheld(LAPLACE, at_or_below=1.0),
    Withheld(Rounded(LAPLACE, to=1.0), above=3.0),
    Withheld(Rounded(Clamped(Gaussian(scale=2.0), upper=4.0), to=0.5, how="half even"), below=-1.0),
    Clamped(WAVE, *BOUNDS),
    Rounded(OnLattice(Laplace(epsilon=3.0, bounds=(0.0, 6.0)), 1.0), to=2.0),
]
LAWS = {"Laplace": stats.laplace, "Gaussian": stats.norm}


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: m.in_words)
def test_draws_have_the_masses_that_are_claimed(mechanism):
    """Published values that stand for an interval, by χ²: the mass of each, of the points all that is left."""
    y = 1.3
    z = mechanism.privatize(np.full(200_000, y), seed=1)
    rows = mechanism.encode(z)
    atoms, count = np.unique(rows[rows[:, 0] < rows[:, 1]], axis=0, return_counts=True)
    expected = len(z) * np.exp([mechanism.log_q(row, y) for row in atoms])
    keep = expected > 5.0
    expected, count = np.append(expected[keep], len(z) - expected[keep].sum()), np.append(count[keep], 0)
    count[-1] = len(z) - count.sum()
    keep = expected > 5.0
    assert stats.chi2.sf(np.sum((count - expected)[keep] ** 2 / expected[keep]), keep.sum() - 1) > 1e-6


@pytest.mark.parametrize("inner", [LAPLACE, Gaussian(scale=0.7), WAVE], ids=repr)
def test_masses_are_those_of_the_distribution_function(inner):
    """Of Laplace and Gaussian noise by SciPy's law, of the wave by a fine sum; far out in logarithms."""
    ends = np.array([-np.inf, -4.0, -1.0, 0.3, 1.3, 1.30001, 2.0, 7.0, np.inf])
    for low, high in pairwise(ends):
        found = inner.log_between(low, high, 1.3)
        if inner is WAVE:
            grid = np.linspace(max(low, -9.0), min(high, 11.0), 200_001)
            middle = 0.5 * (grid[1:] + grid[:-1])
            wanted = np.exp(inner.logpdf(middle, 1.3)).mean() * (grid[-1] - grid[0])
            assert np.exp(found) == pytest.approx(wanted, rel=2e-3)
            continue
        law = LAWS[type(inner).__name__](1.3, inner.scale)
        wanted = law.cdf(high) - law.cdf(low) if low < 1.3 else law.sf(low) - law.sf(high)
        assert np.exp(found) == pytest.approx(wanted, rel=1e-9)
    assert LAPLACE.log_between(5000.0, np.inf, 1.0) == pytest.approx(np.log(0.5) - 4999.0 / LAPLACE.scale)
    assert LAPLACE.log_between(-np.inf, -5000.0, 1.0) == pytest.approx(np.log(0.5) - 5001.0 / LAPLACE.scale)
    assert Gaussian(scale=1.0).log_between(50.0, 60.0, 0.0) == pytest.approx(stats.norm.logsf(50.0), rel=1e-14)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: m.in_words)
def test_all_masses_and_the_density_make_one(mechanism):
    """Over the published values of a fine grid of noisy ones: atoms by their mass, points by their density."""
    noisy = np.linspace(-60.0, 60.0, 400_001)
    z = mechanism.publish(noisy)
    rows = mechanism.encode(z) if mechanism.mechanism is not WAVE else None
    if rows is None:
        lower, upper = WAVE.release_range
        noisy = np.linspace(lower, upper, 400_001)
        z = mechanism.publish(noisy)
        rows = mechanism.encode(z)
    atoms = np.unique(rows[rows[:, 0] < rows[:, 1]], axis=0)
    total = sum(np.exp(mechanism.log_q(row, 0.4)) for row in atoms)
    points = rows[:, 0] == rows[:, 1]
    total += np.exp(mechanism.logpdf(z[points], 0.4)).sum() * (noisy[1] - noisy[0])
    assert total == pytest.approx(1.0, abs=2e-4)


def test_limits_count_as_they_are_stated():
    """Published at the limit or not: the two statements differ where values come in steps."""
    whole = Rounded(LAPLACE, to=1.0)
    for kind, published in [("below", 1.0), ("at_or_below", 2.0)]:
        z = Withheld(whole, **{kind: 1.0}).privatize(np.zeros(2_000), seed=1)
        assert np.nanmin(z) == published
    for kind, published in [("above", 1.0), ("at_or_above", 0.0)]:
        z = Withheld(whole, **{kind: 1.0}).privatize(np.zeros(2_000), seed=1)
        assert np.nanmax(z) == published
    strict, loose = Withheld(whole, below=1.0), Withheld(whole, at_or_below=1.0)
    assert strict.encode(np.array([np.nan])).tolist() == [[-np.inf, 0.5]]
    assert loose.encode(np.array([np.nan])).tolist() == [[-np.inf, 1.5]]


def test_promise_and_words():
    for mechanism in EXAMPLES:
        assert mechanism.guarantee == mechanism.mechanism.guarantee
        assert mechanism.in_words.startswith(mechanism.mechanism.in_words)
    assert EXAMPLES[2].in_words.endswith("; values below 0 set to 0; values rounded downwards to multiples of 2")
    assert [m.withholds for m in EXAMPLES] == [False, False, False, True, True, True, False, False]
    assert not LAPLACE.withholds


def test_bars_leave_the_withheld_out():
    mechanism = Withheld(LAPLACE, below=0.0)
    z = np.array([np.nan, 1.0, np.nan, 2.0])
    found = mechanism.bars(z, -1.0, 4.0)
    assert np.sum(found.heights * np.diff(found.edges)) == pytest.approx(0.5)
    assert found.label == "release (noisy), 50% withheld"
    assert mechanism.bars(np.full(3, np.nan), -1.0, 4.0) is None
    assert "withheld" not in Clamped(LAPLACE, lower=0.0).bars(z[1::2], -1.0, 4.0).label


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: m.in_words)
def test_saved_and_loaded(mechanism, suffix, tmp_path):
    release = Release.from_data(np.linspace(0.0, 5.0, 12), mechanism, seed=1)
    release.save(tmp_path / f"z.{suffix}")
    again = Release.load(tmp_path / f"z.{suffix}")
    assert again == release
    assert again.mechanism == mechanism
    assert hash(again) == hash(release)
    assert "Infinity" not in (tmp_path / "z.csv.json").read_text() if suffix == "csv" else True


def test_missing_values_of_any_column():
    mechanism = Withheld(LAPLACE, below=0.0)
    wanted = [1.0, np.nan, 3.0]
    for column in (pd.Series([1.0, None, 3.0]), pd.Series([1, None, 3], dtype="Int64"), pl.Series([1.0, None, 3.0])):
        assert mechanism.check_release(column) == pytest.approx(wanted, nan_ok=True)
    assert mechanism.check_release(pa.array([1.0, None, 3.0])) == pytest.approx(wanted, nan_ok=True)
    assert mechanism.check_release([1.0, None, 3.0]) == pytest.approx(wanted, nan_ok=True)


NEEDS = (
    "clamped, rounded and withheld records need a mechanism that adds noise to numbers and has "
    "log_between(self, low, high, y), the mass of an interval of noisy values; {} has none."
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Clamped(LAPLACE, lower=0.0).check_release([1.0, -0.5]),
            "row 1 of the release is -0.5, which cannot be after this: values below 0 set to 0. Check the value and "
            "what was done to it.",
        ),
        (
            lambda: Rounded(LAPLACE, to=5.0).check_release([5.0, 10.0, 12.0]),
            "row 2 of the release is 12, which cannot be after this: values rounded to multiples of 5. Check the value "
            "and what was done to it.",
        ),
        (
            lambda: Withheld(LAPLACE, below=90.0).check_release([np.nan, 89.0]),
            "row 1 of the release is 89, which cannot be after this: values below 90 withheld. Check the value and "
            "what was done to it.",
        ),
        (
            lambda: Withheld(LAPLACE, at_or_below=90.0).check_release([90.0]),
            "row 0 of the release is 90, which cannot be after this: values at or below 90 withheld. Check the value "
            "and what was done to it.",
        ),
        (
            lambda: Clamped(WAVE, lower=0.0).check_release([1.0, 20.0]),
            f"row 1 of the release is 20.0, which no record gives: {WAVE.in_words}; values below 0 set to 0. Check the "
            "value and what was done to it.",
        ),
        (
            lambda: Withheld(WAVE, above=20.0).check_release([np.nan]),
            f"row 0 of the release is missing, which no record gives: {WAVE.in_words}; values above 20 withheld. Check "
            "the value and what was done to it.",
        ),
        (
            lambda: Clamped(LAPLACE, lower=0.0).check_release([np.nan]),
            "the release z has 1 values that are NaN or infinite; remove or replace them first.",
        ),
        (
            lambda: Withheld(LAPLACE, below=0.0).check_release([np.inf]),
            "the release z has 1 values that are infinite; remove or replace them first.",
        ),
        (
            lambda: Withheld(LAPLACE, below=0.0).check_release([[1.0]]),
            "Laplace releases one number a record; the release z has shape (1, 1). Check that the mechanism is the one "
            "that made the release.",
        ),
        (lambda: Clamped(mechanisms.Identity(), lower=0.0), NEEDS.format("Identity")),
        (lambda: Clamped(mechanisms.HaarWavelet(levels=1, epsilon=1.0), lower=0.0), NEEDS.format("HaarWavelet")),
        (
            lambda: Rounded(mechanisms.SmoothedHistogram(9, 3, epsilon=1.0, bounds=BOUNDS), to=1.0),
            "SmoothedHistogram cannot be fitted after post-processing (values rounded to multiples of 1): only "
            "mechanisms that release one noisy number for each record or for each bin can.",
        ),
        (
            lambda: Withheld(LAPLACE, below=1.0, above=2.0),
            "Withheld takes exactly one of below=, at_or_below=, above= or at_or_above=; got below and above.",
        ),
        (
            lambda: Withheld(LAPLACE),
            "Withheld takes exactly one of below=, at_or_below=, above= or at_or_above=; got none.",
        ),
        (
            lambda: Withheld(Withheld(LAPLACE, below=1.0), above=2.0),
            "Withheld: values are withheld already, and a missing one would have two reasons. Give one limit.",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_something_else_than_a_mechanism():
    with pytest.raises(TypeError, match=r"^Rounded takes a mechanism such as mechanisms.Laplace\(…\) first; got 3"):
        Rounded(3, to=1.0)
