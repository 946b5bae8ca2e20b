"""Releases of the whole data set: saved, loaded, and read from plain tables."""

import json

import numpy as np
import pytest

from mechanisms.histograms import HISTOGRAMS, RECORDS, data, name
from privmix.mechanisms import NoisyHistogram, SmoothedHistogram
from privmix.release import Release, read_histogram

SUFFIXES = ["csv", "parquet"]
NOISY = NoisyHistogram(RECORDS, [0.1, 0.2, 1 / 3, 0.7], "laplace", epsilon=1.0)


def made(mechanism):
    low, high = mechanism.bounds
    y = low + (high - low) * (data(1) + 3.0) / 8.0
    return Release(mechanism.privatize(np.clip(y, low, high), seed=1), mechanism, notes="census")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("mechanism", [*HISTOGRAMS, NOISY], ids=name)
def test_round_trip_is_bit_for_bit(tmp_path, mechanism, suffix):
    release = made(mechanism)
    release.save(tmp_path / f"out.{suffix}")
    found = Release.load(tmp_path / f"out.{suffix}")
    assert found == release
    assert found.z.tobytes() == release.z.tobytes()
    assert found.mechanism.edges.tobytes() == mechanism.edges.tobytes()
    assert (found.records, found.guarantee, found.notes) == (RECORDS, mechanism.guarantee, "census")


def test_noisy_histogram_is_a_table_that_others_can_read(tmp_path):
    mechanism = NoisyHistogram(7, [0, 1, 3], "discrete laplace", epsilon=2.0)
    Release([5, -1], mechanism).save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "lower,upper,count\n0.0,1.0,5.0\n1.0,3.0,-1.0\n"
    metadata = json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))
    assert metadata["records"] == 7
    assert metadata["mechanism"]["fields"]["noise"] == "discrete laplace"
    assert metadata["mechanism"]["fields"]["bins"] == {"array": [0.0, 1.0, 3.0]}
    edges, counts = read_histogram(tmp_path / "out.csv")
    assert (edges.tolist(), counts.tolist()) == ([0.0, 1.0, 3.0], [5.0, -1.0])


def test_smoothed_histogram_is_a_column_of_draws(tmp_path):
    mechanism = SmoothedHistogram(7, 2, 3, epsilon=2.0, bounds=(0, 1))
    release = Release([0.25, 1.0, 0.5], mechanism)
    release.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "z\n0.25\n1.0\n0.5\n"
    assert (len(release), release.records) == (3, 7)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_raw_data_are_nowhere_in_the_files(tmp_path, suffix):
    y = np.random.default_rng(3).uniform(0.0, 1.0, 200)
    for mechanism in (NoisyHistogram(200, epsilon=1.0, bounds=(0, 1)), SmoothedHistogram.growing(200, 1.0)):
        Release.from_data(y, mechanism, seed=918273645).save(tmp_path / f"out.{suffix}")
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert not [value for value in y.tolist() if f"{value:.8g}".encode() in content]
        assert b"918273645" not in content


CHANGES = [
    ("0.2,", "0.25,", r"out.csv: the columns lower and upper are not the edges of the mechanism's 3 bins"),
    ("lower", "low", r"no column 'lower'; it has 'low', 'upper', 'count'"),
    ("0.1,0.2", "0.1,", r"row 1 of column 'upper' in .* is empty"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES)
def test_a_changed_table_is_refused(tmp_path, old, new, message):
    path = tmp_path / "out.csv"
    made(NOISY).save(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        Release.load(path)


@pytest.mark.parametrize(("mechanism", "message"), [(NOISY, "are not the edges"), (HISTOGRAMS[0], "releases 5 draws")])
def test_a_cut_table_is_refused(tmp_path, mechanism, message):
    path = tmp_path / "out.csv"
    made(mechanism).save(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match=f"out.csv: .*{message}"):
        Release.load(path)


def test_a_changed_number_of_records_is_refused(tmp_path):
    path, sidecar = tmp_path / "out.csv", tmp_path / "out.csv.json"
    made(NOISY).save(path)
    text = sidecar.read_text(encoding="utf-8")
    sidecar.write_text(text.replace('"records": 12', '"records": 13', 1), encoding="utf-8")
    with pytest.raises(ValueError, match="are not those that were saved"):
        Release.load(path)


# Plain tables, as an office publishes them.


def table(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    return tmp_path / "table.csv"


def test_plain_table_becomes_a_release(tmp_path):
    path = table(tmp_path, "upper,region,lower,count\n30,all,18,99.5\n18,all,0,-2.25\n120,all,30,12\n")
    release = Release.from_table(path, 110, epsilon=0.5, notes="office")
    assert release.mechanism == NoisyHistogram(110, [0, 18, 30, 120], epsilon=0.5)
    assert (release.z.tolist(), release.records, release.notes) == ([-2.25, 99.5, 12.0], 110, "office")
    discrete = Release.from_table(
        table(tmp_path, "lower,upper,count\n0,1,3\n1,2,4\n"), 7, "discrete gaussian", epsilon=1.0, delta=1e-6
    )
    assert discrete.mechanism.noise == "discrete gaussian"


def test_plain_table_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"lower": [0.0, 1.0], "upper": [1.0, 2.0], "count": [3, 4]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "table.parquet")
    edges, counts = read_histogram(tmp_path / "table.parquet")
    assert (edges.tolist(), counts.tolist()) == ([0.0, 1.0, 2.0], [3.0, 4.0])


def test_edges_that_miss_by_rounding_touch(tmp_path):
    path = table(tmp_path, "lower,upper,count\n0,0.333333333333,1\n0.33333333333333331,1,2\n")
    assert read_histogram(path)[0].tolist() == [0.0, 0.33333333333333331, 1.0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "0,1,3\n1.5,2,4\n",
            "there is a bin that ends at 1 and the next begins at 1.5; the bins of a hist",
        ),
        ("0,1,3\n0.5,2,4\n", "there is a bin that ends at 1 and the next begins at 0.5"),
        ("0,1,3\n2,1,4\n", "there is a bin from 2 to 1; lower must be below upper"),
        ("0,1,3\n1,,4\n", "row 2 of column 'upper' in .* is empty"),
        ("0,1,3\n1,2,few\n", "row 2 of column 'count' in .* is 'few', not a finite number"),
        ("0,1,3\n1,inf,4\n", "row 2 of column 'upper' in .* is 'inf'"),
    ],
)
def test_tables_that_are_no_histogram(tmp_path, rows, message):
    with pytest.raises(ValueError, match=message):
        read_histogram(table(tmp_path, "lower,upper,count\n" + rows))


def test_table_of_one_bin_and_fractional_counts_under_discrete_noise(tmp_path):
    with pytest.raises(ValueError, match="at least three finite increasing numbers"):
        Release.from_table(table(tmp_path, "lower,upper,count\n0,1,3\n"), 3, epsilon=1.0)
    with pytest.raises(ValueError, match=r"releases whole numbers; .* has 1 others, the first 3\.5"):
        Release.from_table(table(tmp_path, "lower,upper,count\n0,1,3.5\n1,2,1\n"), 3, "discrete laplace", epsilon=1.0)


def test_a_confidential_number_of_records_is_not_published():
    """Where a record may be added or removed, n itself would tell neighbours apart."""
    y = np.random.default_rng(1).random(50)
    told = NoisyHistogram(50, 4, epsilon=1.0, bounds=(0.0, 1.0), neighbours="add-remove")
    with pytest.raises(ValueError, match="the number of records is confidential"):
        Release.from_data(y, told)
    hidden = NoisyHistogram(None, 4, epsilon=1.0, bounds=(0.0, 1.0), neighbours="add-remove")
    assert Release.from_data(y, hidden, seed=1).mechanism.records is None
