"""The noisy table: its cells, its guarantee by brute force, files and frames, post-processing, and refusals."""

import copy
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import privmix
from mechanisms.test_contract import through_json
from privmix import Release
from privmix.mechanisms import Clamped, Clipped, NoisyHistogram, NoisyTable, Rounded, Tables, Withheld
from privmix.mechanisms.table_cells import cell_of_row
from privmix.privacy import ZCDP, ApproxDP, PureDP, audit

AGES, SEXES = [0.0, 20.0, 50.0, 100.0], ("f", "m")
TABLE = NoisyTable(6, age=AGES, sex=SEXES, scale=0.8)
PEOPLE = pd.DataFrame({"sex": list("fmmfmf"), "age": [3.0, 20.0, 49.9, 50.0, 99.0, 12.0]}, index=list("uvwxyz"))


def small(noise="laplace", records=2, **rest):
    return NoisyTable(records, noise=noise, a=[0, 1, 2], b=("x", "y"), **rest)


def test_cells_are_bins_of_each_column_the_last_fastest():
    y = TABLE.check_data(PEOPLE)
    expected, _, _ = np.histogram2d(PEOPLE["age"], PEOPLE["sex"] == "m", [AGES, [-0.5, 0.5, 1.5]])
    assert np.array_equal(TABLE.statistic(y).reshape(TABLE.shape), expected)
    numbers = TABLE.numbers()
    assert [cell_of_row(numbers, row) for row in y] == list(TABLE.bin_of(y))
    assert np.array_equal(TABLE.bin_of(TABLE.bin_middles), np.arange(6))
    assert TABLE.bins_in_words()[3] == "age 20 to 50, sex m"


def test_three_columns_agree_with_numpy():
    table = NoisyTable(40, a=(3, (0, 1)), b=[0.0, 0.1, 1.0], c=(4, (0, 1)), epsilon=1.0)
    y = np.random.default_rng(1).random((40, 3))
    edges = [np.linspace(0, 1, 4), [0.0, 0.1, 1.0], np.linspace(0, 1, 5)]
    assert np.array_equal(table.statistic(y).reshape(3, 2, 4), np.histogramdd(y, edges)[0])


def test_density_is_that_of_the_noise_on_every_cell():
    z = np.array([1.5, 0.2, -0.7, 2.1, 1.0, 0.4])
    counts = [2, 0, 0, 2, 1, 1]
    exact = stats.laplace.logpdf(z, counts, 0.8).sum()
    assert TABLE.logpdf(z, PEOPLE) == pytest.approx(exact)
    scales = np.arange(1.0, 7.0).reshape(3, 2)
    each = NoisyTable(6, age=AGES, sex=SEXES, noise="gaussian", scale=scales)
    assert each.logpdf(z.reshape(3, 2), PEOPLE) == pytest.approx(stats.norm.logpdf(z, counts, scales.ravel()).sum())
    old, new = np.array([3.0, 0.0]), np.array([60.0, 1.0])
    moved = stats.laplace.logpdf(z, np.add(counts, [-1, 0, 0, 0, 0, 1]), 0.8).sum() - exact
    assert TABLE.log_ratio(z, np.array(counts, float), old, new) == pytest.approx(moved)
    statistic = np.array(counts, float)
    TABLE.replace(statistic, old, new)
    assert list(statistic) == [1, 0, 0, 2, 1, 2]


def worst_ratio(z, scale, neighbours):
    """Return the largest log-ratio over all data sets of two records in four cells, and their neighbours."""
    places = [np.bincount(p, minlength=4) for p in itertools.product(range(4), repeat=2)]
    if neighbours == "add-remove":
        places += [np.bincount([p], minlength=4) for p in range(4)]
    apart = {"replace": 2, "add-remove": 1}[neighbours]
    pairs = [(c, d) for c in places for d in places if np.abs(c - d).sum() == apart]
    gains = [np.abs(z[:, None] - d) - np.abs(z[:, None] - c) for c, d in pairs]
    return max(gain.max(axis=0).sum() for gain in gains) / scale


@pytest.mark.parametrize("noise", ["laplace", "discrete laplace"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_laplace_noise_is_exactly_as_private_as_claimed(noise, neighbours):
    table = small(noise, epsilon=0.7, neighbours=neighbours)
    assert table.scale == pytest.approx({"replace": 2 / 0.7, "add-remove": 1 / 0.7}[neighbours])
    assert worst_ratio(np.arange(-9.0, 9.0), table.scale, neighbours) == pytest.approx(0.7, rel=1e-9)
    found = audit(table)
    assert table.guarantee == PureDP(0.7, neighbours=neighbours)
    assert found.worst == pytest.approx(0.7, rel=1e-9)
    assert found.tight


@pytest.mark.parametrize("noise", ["gaussian", "discrete gaussian"])
def test_gaussian_noise_keeps_its_claims(noise):
    table = small(noise, rho=0.3)
    assert table.guarantee == ZCDP(0.3)
    assert table.scale == pytest.approx(1 / math.sqrt(0.3))
    assert audit(table).worst == pytest.approx(0.3, rel=1e-4)
    wanted = small(noise, epsilon=1.0, delta=1e-3)
    assert wanted.guarantee == ApproxDP(1.0, 1e-3)
    assert wanted.scale == pytest.approx(NoisyHistogram(2, 4, noise, 1.0, 1e-3, (0, 1)).scale)
    if noise == "discrete gaussian":  # the other takes quadrature in two dimensions, as that of a histogram does
        assert audit(wanted).worst == pytest.approx(1e-3, rel=1e-3)


def test_half_the_noise_is_seen_by_the_audit():
    """The claim of a table whose records were thought to be in one cell only where they are replaced."""
    table = small(epsilon=0.7)
    object.__setattr__(table, "scales", 0.5 * table.scales)
    assert not audit(table).holds


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_json])
@pytest.mark.parametrize("table", [TABLE, Withheld(Rounded(small("discrete laplace", scale=1.0), to=2), below=4)])
def test_copies_are_equal(again, table):
    other = again(table)
    assert other == table
    assert hash(other) == hash(table)
    assert (other.guarantee, repr(other)) == (table.guarantee, repr(table))


def test_different_tables_are_unequal():
    others = [
        NoisyTable(6, sex=SEXES, age=AGES, scale=0.8),
        NoisyTable(6, age=AGES, sex=("m", "f"), scale=0.8),
        NoisyTable(6, age=AGES, gender=SEXES, scale=0.8),
        NoisyTable(6, age=[0.0, 20.0, 51.0, 100.0], sex=SEXES, scale=0.8),
        NoisyTable(6, age=AGES, sex=SEXES, scale=0.9),
        Clamped(TABLE, lower=0),
    ]
    assert not [other for other in others if other == TABLE]
    assert NoisyTable(6, {"age": AGES, "sex": SEXES}, scale=0.8) == TABLE
    assert repr(TABLE) == ("NoisyTable(age=[0, 20, 50, 100], sex=('f', 'm'), records=6, noise='laplace', scale=0.8)")


@pytest.mark.parametrize("frame", [PEOPLE, pl.from_pandas(PEOPLE), PEOPLE.astype({"sex": "category"})])
def test_frames_come_back_as_tables_of_their_kind(frame):
    z = TABLE.privatize(frame, seed=1)
    assert type(z).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
    assert list(z.columns) == ["age_lower", "age_upper", "sex", "count"]
    counts = TABLE.privatize(TABLE.check_data(frame), seed=1)
    assert np.array_equal(TABLE.check_release(z), counts)
    assert np.array_equal(TABLE.check_release(counts.reshape(3, 2)), counts)
    shuffled = TABLE.to_frame(counts).sample(frac=1.0, random_state=1)[["count", "sex", "age_upper", "age_lower"]]
    assert np.array_equal(TABLE.check_release(shuffled), counts)


def test_values_outside_the_bounds_are_clipped_and_counted():
    with pytest.warns(UserWarning, match=r"^1 of 6 values of age lie outside the bounds \[0, 100\]") as caught:
        z = TABLE.privatize(PEOPLE.assign(age=[-3.0, 20.0, 49.9, 50.0, 99.0, 12.0]), seed=1)
    assert caught[0].filename == __file__
    assert np.array_equal(TABLE.check_release(z), TABLE.check_release(TABLE.privatize(PEOPLE, seed=1)))


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
@pytest.mark.parametrize("table", [TABLE, Withheld(TABLE, below=1.0)])
def test_releases_are_saved_and_loaded(tmp_path, table, name):
    release = Release.from_data(PEOPLE, table, seed=3, notes="two columns")
    release.save(tmp_path / name)
    assert Release.load(tmp_path / name) == release
    assert (release.records, release.guarantee) == (6, TABLE.guarantee)


def test_a_withheld_cell_may_be_left_out():
    table = Withheld(TABLE, below=1.0)
    z = table.check_release(table.privatize(PEOPLE, seed=3))
    assert 0 < np.isnan(z).sum() < 6
    kept = table.to_frame(z).dropna()
    assert np.array_equal(table.check_release(kept), z, equal_nan=True)
    with pytest.raises(ValueError, match=r"^the table has no row for the cell age .*wrap the mechanism in Withheld"):
        TABLE.check_release(kept)


def test_post_processed_counts_have_the_mass_of_what_is_behind_them():
    table = Withheld(Clamped(small("discrete laplace", scale=1.0), lower=0), below=2)
    noise, z = stats.dlaplace(1.0), np.array([2.0, np.nan, 3.0, np.nan])
    exact = noise.logpmf([2 - 1, 3 - 1]).sum() + 2 * noise.logcdf(1)
    assert table.logpdf(z, np.array([[0.5, 0], [1.5, 0]])) == pytest.approx(exact)
    assert table.guarantee == small("discrete laplace", scale=1.0).guarantee
    assert table.names == ("a", "b")
    assert audit(Clamped(small(epsilon=0.7), lower=0)).worst == pytest.approx(0.7, rel=1e-9)


def test_a_column_by_itself_is_the_sum_over_the_others():
    age, z, _ = TABLE.column_alone(np.arange(6.0), 0)
    assert list(z) == [1.0, 5.0, 9.0]
    assert (age.bounds, age.categories, age.records) == ((0.0, 100.0), None, 6)
    made = np.array([age.perturb(np.random.default_rng(s), PEOPLE["age"].to_numpy()) for s in range(4000)])
    assert made.mean(axis=0) == pytest.approx([2, 2, 2], abs=0.1)
    assert made.var(axis=0) == pytest.approx(np.full(3, 2 * 2 * 0.8**2), rel=0.15)  # two cells, each 2s²
    sex, z, _ = Withheld(TABLE, below=1.0).column_alone(np.array([3.0, np.nan, 2.0, 2.0, np.nan, 4.0]), 1)
    assert list(z) == [6.0, 7.0]  # what was withheld as its limit
    with pytest.raises(
        ValueError, match=r"^what is published of one column depends on the others here.*values below 1"
    ):
        sex.perturb(np.random.default_rng(1), np.zeros(6))


def test_the_number_of_records_may_be_unknown():
    table = small(records=None, epsilon=1.0, neighbours="add-remove")
    assert table.scale == 1.0
    assert table.records_unknown
    assert table.count_records(np.array([3.2, 1.1, -0.4, 0.3])) == 4
    assert table.expected == (0.5, 1e-9)
    with pytest.raises(ValueError, match="number of records is confidential"):
        Release.from_data(np.zeros((2, 2)), small(epsilon=1.0, neighbours="add-remove"))


REFUSED = [
    ({"age": 8, "sex": SEXES}, "column 'age' needs the edges of its bins, such as"),
    ({"age": "8", "sex": SEXES}, "column 'age' needs the edges of its bins, such as"),
    ({"age": (1, (0, 1)), "sex": SEXES}, "column 'age': bins must be a whole number of at least 2"),
    ({"age": (8, (1, 0)), "sex": SEXES}, "bounds"),
    ({"age": [0, 2, 1], "sex": SEXES}, "column 'age': edges of bins must be at least three finite increasing numbers"),
    ({"age": AGES, "sex": ("f", "f")}, "column 'sex': a category is named twice"),
    ({"age": AGES, "sex": ("f", 1)}, "column 'sex': categories must be two or more names"),
    ({"age": AGES}, "NoisyTable needs at least two columns"),
    ({"age": AGES, "count": SEXES}, "a file of the table would have two columns 'count'"),
    ({"age": AGES, "age_lower": SEXES}, "a file of the table would have two columns 'age_lower'"),
    ({"age": AGES, "mean": SEXES}, "'mean' cannot be the name of a column"),
    (
        dict.fromkeys("abc", (21, (0, 1))),
        "the columns make 21 × 21 × 21 = 9,261 cells, more than 8,192. Give wider bins, or fewer columns.",
    ),
]


@pytest.mark.parametrize(("columns", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_columns_that_are_refused(columns, message):
    with pytest.raises(ValueError) as caught:
        NoisyTable(10, columns, epsilon=1.0)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "NoisyTable takes exactly one of epsilon=, rho=, scale="),
        ({"epsilon": 1.0, "noise": "loud"}, "NoisyTable: noise must be one of"),
        ({"epsilon": 1.0, "neighbours": "none"}, "NoisyTable: neighbours must be"),
        ({"epsilon": 1.0, "records": 0}, "NoisyTable: records must be"),
        ({"scale": np.ones((2, 3))}, "NoisyTable: scale has shape (2, 3), but there are 3 × 2 cells"),
        ({"epsilon": 1.0, "expected": (1, 1)}, "NoisyTable: expected is the prior of an unknown number"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError) as caught:
        NoisyTable(**{"records": 10, "age": AGES, "sex": SEXES, **options})
    assert message in str(caught.value)


def frame(**changes):
    return TABLE.to_frame(np.arange(6.0)).assign(**changes)


@pytest.mark.parametrize(
    ("z", "message"),
    [
        (np.zeros(5), "NoisyTable releases 3 × 2 counts, one a cell; the release z has shape (5,)"),
        (np.zeros((2, 3)), "NoisyTable releases 3 × 2 counts, one a cell; the release z has shape (2, 3)"),
        (np.full(6, np.nan), "NaN or infinite"),
        (frame().drop(columns="sex"), "no column 'sex'"),
        (frame(sex="w"), "none of the categories 'f', 'm'; the first is 'w'"),
        (frame(age_upper=55.0), "the table has age from 0 to 55 (row 1), which is none of the 3 bins of that column"),
        (pd.concat([frame(), frame()[:1]]), "the table has two rows for the cell age 0 to 20, sex f"),
        (frame()[1:], "the table has no row for the cell age 0 to 20, sex f; each of the 3 × 2 cells has one"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_releases_that_are_refused(z, message):
    with pytest.raises(ValueError) as caught:
        TABLE.check_release(z)
    assert message in str(caught.value)


def test_whole_numbers_are_needed_under_discrete_noise():
    with pytest.raises(ValueError, match=r"^NoisyTable with discrete laplace noise releases whole numbers"):
        small("discrete laplace", scale=1.0).check_release([0.5, 1, 2, 3])


def test_data_that_are_refused():
    with pytest.raises(ValueError, match=r"^column 'sex': the data y has 1 values that are none of the categories"):
        TABLE.privatize(PEOPLE.replace({"sex": {"f": "w"}})[:1])
    with pytest.raises(ValueError, match=r"made for 6 records, but there are 5"):
        TABLE.privatize(PEOPLE[:5])
    with pytest.raises(ValueError, match="no column 'age'"):
        TABLE.privatize(PEOPLE[["sex"]])


def test_what_is_for_one_column_says_so():
    with pytest.raises(TypeError, match=r"^Tables joins noisy histograms of one column"):
        Tables(Clamped(TABLE, lower=0), Clamped(TABLE, lower=0))
    with pytest.raises(ValueError, match="Clipped"):
        Clipped(Clamped(TABLE, lower=0))
    with pytest.raises(ValueError, match="Clipped"):
        Clipped(TABLE)
    with pytest.raises(ValueError, match="known=False"):
        Withheld(TABLE, below=1, known=False)
    with pytest.raises(ValueError, match="resolution is for records of one number"):
        privmix.default_model(TABLE, resolution=1.0)
