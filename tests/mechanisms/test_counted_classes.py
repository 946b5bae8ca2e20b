"""Counts of one column that several mechanisms released: tables of classes, added, saved, counted by a column."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privmix
from privmix import default_model
from privmix.mechanisms import Counted, CountedClasses, Laplace, RandomizedResponse
from privmix.privacy import PureDP

BOUNDS = (-10.0, 10.0)
CAREFUL, OPEN = (Counted(Laplace(epsilon=epsilon, bounds=BOUNDS), bins) for epsilon, bins in ((1.0, 64), (8.0, 90)))
RESPONSE = Counted(RandomizedResponse(cells=5, epsilon=2.0, bounds=BOUNDS))
BOTH = CountedClasses((OPEN, RESPONSE), (0.75, 0.25))
EXAMPLES = [BOTH]


def table(counted, count, notes=""):
    return privmix.Release(np.full(counted.bins, float(count)), counted, notes)


def test_tables_of_other_mechanisms_become_classes():
    release = table(CAREFUL, 1, "a") + table(RESPONSE, 3) + table(CAREFUL, 2, "b")
    assert release.mechanism == CountedClasses((CAREFUL, RESPONSE), (192 / 207, 15 / 207))
    assert release.counts.tolist() == [3.0] * 69
    assert (release.records, release.notes) == (207, "a; b")
    assert release + release == privmix.Release(2.0 * release.z, release.mechanism, release.notes)


def test_guarantee_is_the_weakest():
    assert CountedClasses((CAREFUL, OPEN, RESPONSE), (0.2, 0.3, 0.5)).guarantee == PureDP(8.0)
    unknown = Counted(Laplace(scale=1.0, bounds=BOUNDS), 64)
    assert CountedClasses((unknown, RESPONSE), (0.5, 0.5)).guarantee == unknown.guarantee


@pytest.mark.parametrize("name", ["counts.csv", "counts.parquet"])
def test_saved_and_loaded(tmp_path, name):
    release = table(OPEN, 2, "two days") + table(RESPONSE, 7)
    release.save(tmp_path / name)
    assert privmix.Release.load(tmp_path / name) == release


def test_table_of_other_bins_is_refused(tmp_path):
    (table(OPEN, 2) + table(RESPONSE, 7)).save(tmp_path / "counts.csv")
    lines = (tmp_path / "counts.csv").read_text().splitlines()
    (tmp_path / "counts.csv").write_text("\n".join([*lines[:10], *lines[11:]]) + "\n")
    with pytest.raises(ValueError, match="the column class is not that of the 95 bins of 2 classes"):
        privmix.Release.load(tmp_path / "counts.csv")


def test_frames_are_read_by_their_columns():
    z = np.arange(1.0, 96.0)
    assert np.array_equal(BOTH.check_release(pd.DataFrame(BOTH.to_columns(z))), z)
    with pytest.raises(ValueError, match="has 95 bins in 2 classes; the release z has shape"):
        BOTH.check_release(z[:-1])
    with pytest.raises(ValueError, match="counts are whole numbers"):
        BOTH.check_release(z + 0.5)


@pytest.mark.parametrize(
    ("tables", "shares", "words"),
    [
        ((OPEN,), (1.0,), "needs two tables or more"),
        ((OPEN, RESPONSE.mechanism), (0.5, 0.5), "each a Counted; got RandomizedResponse"),
        ((OPEN, RESPONSE), (0.5, 0.6), "1 in all; got"),
        ((OPEN, RESPONSE), (1.0, 0.0), "shares must be a positive number for each of 2 classes"),
        ((OPEN, RESPONSE), (1.0,), "shares must be a positive number"),
        ((OPEN, Counted(OPEN.mechanism, 60)), (0.5, 0.5), "the same mechanism and different bins"),
        (
            (OPEN, Counted(Laplace(epsilon=1.0, bounds=(0.0, 1.0)))),
            (0.5, 0.5),
            r"same range; got \(-10.0, 10.0\) and \(0.0, 1.0\)",
        ),
    ],
)
def test_classes_that_are_refused(tables, shares, words):
    with pytest.raises(ValueError, match=words):
        CountedClasses(tables, shares)


def test_releases_are_counts_of_records_in_their_classes():
    z = BOTH.privatize(np.linspace(-9.0, 9.0, 40_000), seed=1)
    open_counts, responses = BOTH.split(z)
    assert z.sum() == 40_000
    assert abs(responses.sum() - 10_000) < 5 * np.sqrt(40_000 * 0.25 * 0.75)
    alone = OPEN.privatize(np.linspace(-9.0, 9.0, int(open_counts.sum())), seed=2)
    assert np.abs(np.cumsum(open_counts - alone)).max() < 5 * np.sqrt(30_000)
    start = BOTH.initial(z)
    assert len(start) == 4096
    assert (np.abs(start) <= 10.0).all()
    assert BOTH.initial(np.bincount([3, 50, 94], minlength=95).astype(float)).shape == (3,)


def frame():
    rng = np.random.default_rng(1)
    budget = rng.choice([1.0, 8.0], 500)
    z = np.where(
        budget == 1.0, CAREFUL.mechanism.privatize(np.zeros(500), 1), OPEN.mechanism.privatize(np.ones(500), 2)
    )
    return {"z": z, "budget": budget}


@pytest.mark.parametrize(
    "made", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table], ids=["pandas", "polars", "lazy", "pyarrow"]
)
def test_count_by_a_column(made):
    found, classes = frame(), {1.0: CAREFUL.mechanism, 8.0: OPEN.mechanism}
    release = privmix.count(made(found), "z", classes, by="budget", notes="n")
    tables = [Counted(mechanism) for mechanism in classes.values()]
    expected = [one.count(found["z"][found["budget"] == name]) for one, name in zip(tables, classes, strict=True)]
    assert np.array_equal(release.counts, np.concatenate(expected))
    assert release.mechanism.tables == tuple(tables)
    assert release.notes == "n"
    assert release.mechanism.shares == (np.mean(found["budget"] == 1.0), np.mean(found["budget"] == 8.0))


@pytest.mark.parametrize(
    ("classes", "by", "error", "words"),
    [
        (
            {1.0: CAREFUL.mechanism},
            "budget",
            ValueError,
            "has 8.0, for which there is no mechanism; there",
        ),
        ({1.0: CAREFUL.mechanism}, "b", ValueError, "the frame has no column 'b'"),
        (CAREFUL.mechanism, "budget", TypeError, "give a mechanism for each class"),
        ({1.0: CAREFUL.mechanism}, None, ValueError, "needs by=, the column with the class"),
        (
            {1.0: CAREFUL.mechanism, 8.0: OPEN.mechanism, 2.0: RESPONSE.mechanism},
            "budget",
            ValueError,
            "no record of class 2.0",
        ),
    ],
)
def test_classes_that_are_not_counted(classes, by, error, words):
    with pytest.raises(error, match=words):
        privmix.count(pd.DataFrame(frame()), "z", classes, by=by)


def test_records_without_a_class_are_refused():
    lacking = pl.DataFrame({"z": [0.0, 1.0], "budget": [1.0, None]})
    with pytest.raises(ValueError, match="has None, for which there is no mechanism"):
        privmix.count(lacking, "z", {1.0: CAREFUL.mechanism}, by="budget")


def test_a_class_may_have_no_record():
    classes = CountedClasses((OPEN, RESPONSE), (0.5, 0.5))
    z = np.concatenate([OPEN.count(np.full(20, 0.3)), np.zeros(RESPONSE.bins)])
    assert classes.count_records(classes.check_release(z)) == 20
    assert np.isfinite(classes.log_tail(z, OPEN.bounds)).all()
    with pytest.raises(ValueError, match=r"the counts sum to 0; at least one record is needed"):
        classes.check_release(np.zeros(classes.bins))
    with pytest.raises(ValueError, match=r"resolution is not for CountedClasses, which is made of several tables"):
        default_model(classes, resolution=1.0)
