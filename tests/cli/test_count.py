"""`privmix count`, and `privmix fit` on what is counted first."""

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix.cli import app, large
from privmix.counting import files
from privmix.mechanisms import Counted, HaarWavelet, Laplace

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LAPLACE = Laplace(epsilon=10.0, bounds=(0.0, 1.0))
TOLD = ["--mechanism", "laplace", "--epsilon", "10", "--bounds", "0", "1"]
SHORT = ["--draws", "20", "--warmup", "20", "--thin", "1", "--chains", "1", "--seed", "1", "--no-progress"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run inside a folder with three Parquet files, read 70 rows at a time; more than 200 rows are many."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "ROWS_AT_A_TIME", 70)
    monkeypatch.setattr(large, "MOST_ROWS_READ", 200)
    for k in range(3):
        pq.write_table(pa.table({"z": released(k), "day": [k] * 150}), tmp_path / f"{k}.parquet")
    return tmp_path


def released(k):
    return LAPLACE.privatize(np.random.default_rng(k).beta(2.0, 5.0, 150), seed=k)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_files_are_counted_in_pieces(here):
    ran = run("count", "0.parquet", "1.parquet", "2.parquet", "--column", "z", *TOLD, "-o", "counts.csv")
    assert ran.exit_code == 0, ran.output
    assert "guarantee of each record" in ran.output
    release = privmix.Release.load(here / "counts.csv")
    assert release.mechanism == Counted(LAPLACE)
    assert np.array_equal(release.counts, Counted(LAPLACE).count(np.concatenate([released(k) for k in range(3)])))


def test_csv_is_counted_too(here):
    (here / "0.csv").write_text("\n".join(["z", *map(repr, released(0).tolist())]) + "\n")
    ran = run("count", "0.csv", "1.parquet", "--column", "z", "--bins", 80, *TOLD, "-o", "counts.parquet")
    assert ran.exit_code == 0, ran.output
    expected = Counted(LAPLACE, 80).count(np.concatenate([released(0), released(1)]))
    assert np.array_equal(privmix.Release.load(here / "counts.parquet").counts, expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0.parquet"], "2 columns of numbers: z, day. Say which"),
        (["0.parquet", "--column", "x"], "no column 'x'; it has 'z', 'day'"),
        (["no.parquet", "--column", "z"], "does not exist"),
        (["bad.parquet", "--column", "z"], "cannot be read as Parquet"),
        (["gaps.parquet", "--column", "z"], "1 values that are missing, NaN or infinite"),
        (["names.parquet", "--column", "z"], "must be numbers; it is of type String"),
    ],
)
def test_files_that_cannot_be_counted(here, arguments, words):
    (here / "bad.parquet").write_text("no table")
    pq.write_table(pa.table({"z": [0.1, None]}), here / "gaps.parquet")
    pq.write_table(pa.table({"z": ["a", "b"]}), here / "names.parquet")
    ran = run("count", *arguments, *TOLD, "-o", "counts.csv")
    assert ran.exit_code == 2
    assert words in " ".join(ran.output.split())
    assert not (here / "counts.csv").exists()


def test_gaps_are_dropped_where_that_is_asked_for(here):
    pq.write_table(pa.table({"z": [0.1, None]}), here / "gaps.parquet")
    ran = run("count", "gaps.parquet", "--missing", "drop", *TOLD, "-o", "counts.csv")
    assert ran.exit_code == 0, ran.output
    assert "1 of 2 values of the column 'z' are missing" in " ".join(ran.output.split())


def counts_of(folder):
    posterior = privmix.load(folder / "fit.nc")
    assert posterior.model.mechanism.is_counted
    return posterior.plan.z


def test_several_files_are_fitted_as_counts(here):
    ran = run("fit", "0.parquet", "1.parquet", "--column", "z", *TOLD, "-o", "fit.nc", *SHORT)
    assert ran.exit_code == 0, ran.output
    assert np.array_equal(counts_of(here), Counted(LAPLACE).count(np.concatenate([released(0), released(1)])))


def test_tables_of_several_days_are_fitted_together(here):
    for k in (0, 1):
        privmix.count(pq.read_table(here / f"{k}.parquet"), "z", LAPLACE).save(here / f"{k}.csv")
    ran = run("fit", "0.csv", "1.csv", "-o", "fit.nc", *SHORT)
    assert ran.exit_code == 0, ran.output
    assert counts_of(here).sum() == 300


def test_large_release_is_counted_and_its_checksum_compared(here):
    z = np.concatenate([released(0), released(1)])
    privmix.Release(z, LAPLACE).save(here / "release.parquet")
    ran = run("fit", "release.parquet", "-o", "fit.nc", *SHORT)
    assert ran.exit_code == 0, ran.output
    assert np.array_equal(counts_of(here), Counted(LAPLACE).count(z))
    table = pq.read_table(here / "release.parquet")
    pq.write_table(pa.table({"z": z[::-1]}).replace_schema_metadata(table.schema.metadata), here / "changed.parquet")
    ran = run("fit", "changed.parquet", "-o", "other.nc", *SHORT)
    assert "their checksum differs" in " ".join(ran.output.split())


def test_large_release_that_does_not_come_in_counts_is_read(here):
    haar = HaarWavelet(levels=1, epsilon=5.0, bounds=(0.0, 1.0))
    privmix.Release(haar.privatize(np.linspace(0.0, 1.0, 250), seed=1), haar).save(here / "haar.parquet")
    release = large.read_releases([here / "haar.parquet"], None, {}, large.Layout(), large.Processing(), show=False)
    assert release.mechanism == haar


def test_options_of_a_table_that_is_read_are_refused(here):
    ran = run("fit", "0.parquet", "1.parquet", "--column", "z", "--clamped-at", 0, *TOLD, "-o", "fit.nc", *SHORT)
    assert "--clamped-at is for one table that is read as it is" in " ".join(ran.output.split())


def test_progress_is_told_soon_and_then_less_often(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 2.5, 3.0, 6.0, 6.1])
    monkeypatch.setattr(large.time, "monotonic", lambda: next(clock))
    show = large.Counting()
    for done in (1, 2, 3, 4, 5):
        show(1_000_000 * done, 5_000_000)
    told = capsys.readouterr().err.splitlines()
    assert [line.split()[2] for line in told] == ["2,000,000", "4,000,000", "5,000,000"]


def test_what_files_say_of_themselves_is_not_overridden(here):
    """A false guarantee would be written: records at ε = 10 do not keep ε = 1 because somebody says so."""
    for k in (0, 1):
        privmix.Release(released(k), LAPLACE).save(here / f"day{k}.csv")
    false = [*TOLD[:3], "1", *TOLD[4:]]
    ran = run("fit", "day0.csv", "day1.csv", "--column", "z", *false, "-o", "fit.nc", *SHORT)
    assert ran.exit_code == 2
    assert "day0.csv says itself what mechanism made it" in " ".join(ran.output.split())
    ran = run("count", "day0.csv", "day1.csv", "--column", "z", *false, "-o", "counts.csv")
    assert ran.exit_code == 2
    assert "day0.csv says that Laplace(epsilon=10.0" in " ".join(ran.output.split())
    assert run("count", "day0.csv", "day1.csv", "--column", "z", *TOLD, "-o", "counts.csv").exit_code == 0
    ran = run("count", "counts.csv", "--column", "count", *TOLD, "-o", "again.csv")
    assert "counts.csv is a table of counts already" in " ".join(ran.output.split())
    (here / "day1.csv").write_text((here / "day1.csv").read_text() + "0.5\n")
    ran = run("count", "day0.csv", "day1.csv", "--column", "z", *TOLD, "-o", "more.csv")
    assert "the records in day1.csv are not those that were saved" in " ".join(ran.output.split())


def test_no_record_counts_twice(here):
    privmix.Release(released(0), LAPLACE).save(here / "day.csv")
    privmix.Release(released(0), LAPLACE).save(here / "copy.csv")
    for sources in (["day.csv", "./day.csv"], ["day.csv", "copy.csv"]):
        for command in (["count", *sources, *TOLD, "-o", "c.csv"], ["fit", *sources, "-o", "fit.nc", *SHORT]):
            ran = run(*command)
            assert ran.exit_code == 2
            assert "has the records of another file here" in " ".join(ran.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "bins.csv", "more.csv", "--noise", "laplace", "--scale", "2"], "bins.csv is a table of bins"),
        (
            ["count", "plain.csv", "--mechanism", "unary-encoding", "--cells", "8", "--epsilon", "4"],
            "several numbers a record",
        ),
        (["count", "plain.csv", "--mechanism", "discrete-laplace", "--epsilon", "4"], "on a lattice"),
        (["count", "plain.csv", "--mechanism", "histogram", "--epsilon", "4"], "there is nothing to count"),
    ],
)
def test_what_no_fit_could_take_is_not_counted(here, arguments, words):
    (here / "plain.csv").write_text("z\n1\n2\n")
    (here / "bins.csv").write_text("lower,upper,count\n0,1,3\n1,2,9\n")
    (here / "more.csv").write_text("lower,upper,count\n0,1,3\n1,2,8\n")
    ran = run(*arguments, "--bounds", "0", "20", "-o", "c.csv" if arguments[0] == "count" else "fit.nc")
    assert ran.exit_code == 2
    assert words in " ".join(ran.output.split())


def test_infinite_numbers_are_dropped_from_text_files_too(here):
    (here / "inf.csv").write_text("views\n0.1\ninf\n\n0.2\n")
    assert "the column 'views' has 2 values" in " ".join(run("count", "inf.csv", *TOLD, "-o", "c.csv").output.split())
    assert run("count", "inf.csv", "--missing", "drop", *TOLD, "-o", "c.csv").exit_code == 0
    assert privmix.Release.load(here / "c.csv").records == 2


def test_no_row_of_a_large_file_is_held_to_see_what_it_is(here, monkeypatch):
    """A Parquet file that is counted in pieces may be larger than memory."""
    monkeypatch.setattr("privmix.release.files.read_parquet", lambda path: pytest.fail("all rows were read"))
    ran = run("fit", "0.parquet", "1.parquet", "--column", "z", *TOLD, "-o", "fit.nc", *SHORT)
    assert ran.exit_code == 0, ran.output
