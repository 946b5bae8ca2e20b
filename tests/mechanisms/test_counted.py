"""Tables of counts: their bins, their guarantee, their files, and what they refuse."""

import itertools

import numpy as np
import pytest

import privmix
from privmix.mechanisms import (
    Clamped,
    Counted,
    DiscreteLaplace,
    Gaussian,
    HaarWavelet,
    Identity,
    Laplace,
    NoisyHistogram,
    OnLattice,
    RandomizedResponse,
    SquareWave,
)
from privmix.privacy import audit

LAPLACE = Laplace(epsilon=2.0, bounds=(-1.0, 3.0))
RESPONSE = RandomizedResponse(cells=5, epsilon=1.0, bounds=(0.0, 1.0))
EXAMPLES = [Counted(LAPLACE, 50), Counted(SquareWave(epsilon=1.0, bounds=(0.0, 1.0))), Counted(RESPONSE)]


@pytest.mark.parametrize("counted", EXAMPLES, ids=lambda counted: counted.name_of_each)
def test_counts_are_those_of_what_each_record_released(counted):
    y = np.random.default_rng(1).uniform(*counted.bounds, 500)
    z = counted.mechanism.perturb(np.random.default_rng(2), y)
    counts = counted.perturb(np.random.default_rng(2), y)
    if counted.outputs is not None:
        expected = [np.count_nonzero(z == value) for value in counted.outputs]
    else:
        inner = [-np.inf, *counted.edges[1:-1], np.inf]
        expected = [np.count_nonzero((z >= a) & (z < b)) for a, b in itertools.pairwise(inner)]
    assert counts.tolist() == expected
    assert counted.count_records(counts) == 500


@pytest.mark.parametrize("counted", EXAMPLES, ids=lambda counted: counted.name_of_each)
def test_guarantee_is_that_of_each_record(counted):
    assert counted.guarantee == counted.mechanism.guarantee
    assert audit(counted).holds
    assert counted.each is counted.mechanism
    assert "counted" in counted.in_words


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("counted", EXAMPLES, ids=lambda counted: counted.name_of_each)
def test_saved_and_loaded(tmp_path, counted, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    counts = np.arange(1.0, counted.bins + 1.0)
    counts[0] = 1e9
    release = privmix.Release(counts, counted, "of Monday")
    release.save(tmp_path / f"counts.{suffix}")
    again = privmix.Release.load(tmp_path / f"counts.{suffix}")
    assert again == release
    assert again.records == int(counts.sum())
    assert np.array_equal(again.counts, counts)


def test_table_of_other_bins_is_refused(tmp_path):
    privmix.Release(np.ones(50), EXAMPLES[0]).save(tmp_path / "counts.csv")
    table = (tmp_path / "counts.csv").read_text().splitlines()
    (tmp_path / "counts.csv").write_text("\n".join([*table[:10], *table[11:]]) + "\n")
    with pytest.raises(ValueError, match="the column lower is not that of the 50 bins of Laplace"):
        privmix.Release.load(tmp_path / "counts.csv")


def test_changed_count_is_noticed(tmp_path):
    privmix.Release(np.ones(50), EXAMPLES[0]).save(tmp_path / "counts.csv")
    text = (tmp_path / "counts.csv").read_text().replace(",1.0\n", ",0.0\n", 1).replace(",1.0\n", ",2.0\n", 1)
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(ValueError, match="checksum differs"):
        privmix.Release.load(tmp_path / "counts.csv")


def test_tables_add_up():
    monday, tuesday = (privmix.Release(np.full(50, count), EXAMPLES[0], note) for count, note in ((1, "a"), (2, "b")))
    both = monday + tuesday
    assert both.counts.tolist() == [3.0] * 50
    assert (both.records, both.notes) == (150, "a; b")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (privmix.Release(np.ones(60), Counted(LAPLACE, 60)), "the same mechanism and different bins"),
        (privmix.Release(np.ones(50), Counted(Laplace(epsilon=1.0, bounds=(-1.0, 4.0)), 50)), "the same bounds"),
        (privmix.Release(np.ones(50), LAPLACE), "only tables of counts add up"),
    ],
)
def test_other_tables_do_not_add_up(other, words):
    with pytest.raises(ValueError, match=words):
        privmix.Release(np.ones(50), EXAMPLES[0]) + other


def test_records_have_no_counts():
    with pytest.raises(ValueError, match="a release of Laplace is no table of counts"):
        _ = privmix.Release(np.ones(3), LAPLACE).counts


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (HaarWavelet(levels=2, epsilon=1.0, bounds=(0.0, 1.0)), "releases several numbers a record"),
        (Identity(), "adds no noise"),
        (Laplace(scale=np.array([1.0, 2.0])), "noise that differs between records"),
        (Laplace(scale=1.0), "needs bounds"),
        (Clamped(LAPLACE, lower=0.0), "stand for others"),
        (DiscreteLaplace(epsilon=2.0, bounds=(0.0, 10.0)), "on a lattice"),
        (NoisyHistogram(10, 4, epsilon=1.0, bounds=(0.0, 1.0)), "no mechanism that releases each record by itself"),
        ("laplace", "'laplace' is no mechanism"),
    ],
)
def test_mechanisms_that_do_not_come_in_counts(mechanism, words):
    with pytest.raises(ValueError, match=words):
        Counted(mechanism)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"bins": 1}, "at least 2"),
        ({"bins": 200_000}, "more than 100,000"),
        ({"span": (1.0, 0.0)}, "the lower first"),
        ({"span": (1e9, 1e9 + 1e-4), "bins": 1000}, "too narrow for floating point"),
    ],
)
def test_bins_that_are_none(about, words):
    with pytest.raises(ValueError, match=words):
        Counted(LAPLACE, **about)


def test_outputs_are_the_bins():
    with pytest.raises(ValueError, match="5 outputs, which are its bins"):
        Counted(RESPONSE, bins=7)
    with pytest.raises(ValueError, match="a known range"):
        Counted(SquareWave(epsilon=1.0, bounds=(0.0, 1.0)), span=(0.0, 1.0))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (np.full(50, 0.5), "whole numbers of at least 0"),
        (np.full(50, -1.0), "whole numbers of at least 0"),
        (np.zeros(50), "at least one record"),
        (np.ones(49), "has 50 bins"),
    ],
)
def test_counts_that_are_none(counts, words):
    with pytest.raises(ValueError, match=words):
        privmix.Release(counts, EXAMPLES[0])


def test_start_is_of_few_records_however_many_there_are():
    counts = np.zeros(50)
    counts[[24, 26]] = 1e12, 3e12
    y = EXAMPLES[0].initial(counts)
    assert len(y) == 4096
    assert np.mean(y == EXAMPLES[0].places[26]) == 0.75


def test_bars_are_shares_of_all_records():
    counted = Counted(LAPLACE, 400)
    counts = counted.perturb(np.random.default_rng(1), np.full(10_000, 1.0))
    bars = counted.bars(counts, -1.0, 3.0)
    first, last = np.searchsorted(counted.edges, [bars.edges[0], bars.edges[-1]])
    assert np.isclose((bars.heights * np.diff(bars.edges)).sum(), counts[first:last].sum() / 1e4)
    assert EXAMPLES[2].bars(np.ones(5), 0.0, 1.0) is None


def test_records_on_a_lattice_keep_the_bins():
    wave = Counted(SquareWave(epsilon=1.0, bounds=(0.0, 10.0)), 40)
    moved = OnLattice.around(wave, 1.0)
    assert (moved.bins, moved.span, moved.lattice_step) == (40, wave.span, 1.0)


def test_counts_far_outside_are_refused():
    counts = np.zeros(400)
    counts[-1] = 1000.0
    with pytest.raises(ValueError, match="less likely than 1e-12 under Counted"):
        privmix.fit(privmix.Release(counts, Counted(Gaussian(epsilon=1.0, delta=1e-6, bounds=(0.0, 1.0)), 400)))
