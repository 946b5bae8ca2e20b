"""The commands for mechanisms that release all records at once, and for cells and square waves."""

import numpy as np
import pytest
from typer.testing import CliRunner

from privmix import Release, mechanisms
from privmix.cli import app
from privmix.cli.inputs import read_release
from privmix.release import read_histogram
from privmix.release.readers.table import Layout
from privmix.report.tables import mechanism_rows

N = 40
UNIT = ["--bounds", "0", "1"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run inside a folder that holds a table of confidential data."""
    monkeypatch.chdir(tmp_path)
    y = np.random.default_rng(1).beta(2.0, 5.0, N)
    (tmp_path / "data.csv").write_text("\n".join(["y", *map(repr, y.tolist())]) + "\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


CASES = [
    (
        ["histogram", "--bins", 64, "--noise", "laplace", "--epsilon", 1],
        mechanisms.NoisyHistogram(N, 64, epsilon=1.0, bounds=(0, 1)),
    ),
    (["histogram", "--epsilon", 2], mechanisms.NoisyHistogram(N, epsilon=2.0, bounds=(0, 1))),
    (
        ["histogram", "--bins", 5, "--noise", "discrete-laplace", "--scale", 3],
        mechanisms.NoisyHistogram(N, 5, "discrete laplace", scale=3.0, bounds=(0, 1)),
    ),
    (
        ["histogram", "--bins", 5, "--noise", "discrete-gaussian", "--epsilon", 1, "--delta", 1e-6],
        mechanisms.NoisyHistogram(N, 5, "discrete gaussian", epsilon=1.0, delta=1e-6, bounds=(0, 1)),
    ),
    (
        ["histogram", "--bins", 5, "--noise", "discrete-gaussian", "--rho", 0.5],
        mechanisms.NoisyHistogram(N, 5, "discrete gaussian", rho=0.5, bounds=(0, 1)),
    ),
    (
        ["smoothed-histogram", "--bins", 6, "--draws", 9, "--epsilon", 10],
        mechanisms.SmoothedHistogram(N, 6, 9, epsilon=10.0, bounds=(0, 1)),
    ),
    (["smoothed-histogram", "--epsilon", 10], mechanisms.SmoothedHistogram.growing(N, 10.0)),
    (
        ["randomized-response", "--cells", 8, "--epsilon", 1],
        mechanisms.RandomizedResponse(8, epsilon=1.0, bounds=(0, 1)),
    ),
    (["square-wave", "--epsilon", 1], mechanisms.SquareWave(epsilon=1.0, bounds=(0, 1))),
    (
        ["subset-selection", "--cells", 13, "--rho", 0.1, "--size", 4, "--staggered"],
        mechanisms.SubsetSelection(13, rho=0.1, size=4, bounds=(0, 1), staggered=True),
    ),
    (
        ["unary-encoding", "--cells", 4, "--epsilon", 1, "--probabilities", "symmetric"],
        mechanisms.UnaryEncoding(4, epsilon=1.0, bounds=(0, 1), probabilities="symmetric"),
    ),
    (["staircase", "--epsilon", 1], mechanisms.Staircase(epsilon=1.0, bounds=(0, 1))),
    (["duchi", "--rho", 1], mechanisms.Duchi(rho=1.0, bounds=(0, 1))),
]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("options", "mechanism"), CASES, ids=lambda v: v[0] if isinstance(v, list) else None)
def test_privatize_writes_a_release_that_fit_reads(here, options, mechanism, suffix):
    result = run("privatize", "data.csv", "--mechanism", *options, *UNIT, "-o", f"out.{suffix}")
    assert result.exit_code == 0, result.output
    made = Release.load(f"out.{suffix}")
    assert made.mechanism == mechanism
    assert made.records == N
    assert read_release(here / f"out.{suffix}", None, {}) == made
    public = f"The number of records, {N}, is public: it is part of the release."
    assert (public in result.stdout) is mechanism.is_global
    assert ("guarantee, one record replaced" in result.stdout) is mechanism.is_global


def test_published_table_is_one_of_counts(here):
    run("privatize", "data.csv", "--mechanism", "histogram", "--bins", 4, "--epsilon", 1, *UNIT, "-o", "out.csv")
    assert (here / "out.csv").read_text().startswith("lower,upper,count\n0.0,0.25,")
    assert read_histogram("out.csv")[0].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_rows_name_what_a_reader_needs():
    smoothed = dict(mechanism_rows(mechanisms.SmoothedHistogram(250, 8, 28, epsilon=10.0, bounds=(0, 1)), 250))
    assert smoothed["records (public)"] == "250"
    assert (smoothed["bins"], smoothed["released draws"], smoothed["uniform share"]) == ("8", "28", "0.0694")
    noisy = dict(mechanism_rows(mechanisms.NoisyHistogram(250, epsilon=1.0, bounds=(0, 1)), 250))
    assert (noisy["noise on each count"], noisy["scale of the noise"], noisy["bins"]) == ("laplace", "2", "64")
    local = dict(mechanism_rows(mechanisms.Laplace(epsilon=1.0, bounds=(0, 1)), 250))
    assert local["records"] == "250"


# Plain tables.


def test_fit_reads_a_plain_table_of_counts(here):
    (here / "table.csv").write_text("lower,upper,count\n0,10,55.5\n10,30,41\n30,100,-2\n")
    about = {"epsilon": 1.0, "records": 100_000, "noise": "laplace"}
    found = read_release(here / "table.csv", "histogram", about)
    assert found == Release([55.5, 41.0, -2.0], mechanisms.NoisyHistogram(100_000, [0, 10, 30, 100], epsilon=1.0))


def test_fit_reads_plain_columns_of_draws_and_cells(here):
    (here / "z.csv").write_text("z\n0\n1\n1\n")
    draws = read_release(
        here / "z.csv",
        "smoothed-histogram",
        {"epsilon": 1.0, "records": 50, "bins": 4, "bounds": (0.0, 1.0)},
    )
    assert draws.mechanism == mechanisms.SmoothedHistogram(50, 4, 3, epsilon=1.0, bounds=(0, 1))
    named = Layout("z")
    cells = read_release(
        here / "z.csv", "randomized-response", {"epsilon": 1.0, "cells": 2, "bounds": (0.0, 1.0)}, named
    )
    assert cells.mechanism == mechanisms.RandomizedResponse(2, epsilon=1.0, bounds=(0, 1))
    wave = read_release(here / "z.csv", "square-wave", {"epsilon": 1.0, "bounds": (0.0, 1.0)})
    assert wave.mechanism == mechanisms.SquareWave(epsilon=1.0, bounds=(0, 1))


HISTOGRAM = ["--mechanism", "histogram"]
OUT = ["-o", "out.csv"]
PRIVATIZE_ERRORS = {
    "bounds": (["data.csv", *HISTOGRAM, "--epsilon", 1, *OUT], "--bounds LO HI is missing: histogram needs"),
    "bounds with scale": (["data.csv", *HISTOGRAM, "--scale", 1, *OUT], "--bounds LO HI is missing"),
    "no budget": (["data.csv", *HISTOGRAM, *UNIT, *OUT], "exactly one of epsilon=, rho=, scale="),
    "two budgets": (["data.csv", *HISTOGRAM, "--epsilon", 1, "--rho", 1, *UNIT, *OUT], "exactly one of"),
    "one bin": (["data.csv", *HISTOGRAM, "--epsilon", 1, "--bins", 1, *UNIT, *OUT], "bins must be a whole number"),
    "noise": (["data.csv", *HISTOGRAM, "--epsilon", 1, "--noise", "cauchy", *UNIT, *OUT], "'cauchy' is not one of"),
    "draws": (["data.csv", *HISTOGRAM, "--epsilon", 1, "--draws", 3, *UNIT, *OUT], "--draws was given, but histogram"),
    "delta": (["data.csv", *HISTOGRAM, "--epsilon", 1, "--delta", 0.1, *UNIT, *OUT], "guarantee in ε alone"),
    "epsilon": (["data.csv", *HISTOGRAM, "--epsilon", 0, *UNIT, *OUT], "epsilon"),
    "no draws": (
        ["data.csv", "--mechanism", "smoothed-histogram", "--epsilon", 1, "--draws", 0, *UNIT, *OUT],
        "draws must be a whole number of at least 1; got 0",
    ),
    "impossible share": (
        ["data.csv", "--mechanism", "smoothed-histogram", "--epsilon", 9999, "--draws", 2, *UNIT, *OUT],
        "needs epsilon/draws <= 700",
    ),
    "noise of the smoothed": (
        ["data.csv", "--mechanism", "smoothed-histogram", "--epsilon", 1, "--noise", "laplace", *UNIT, *OUT],
        "--noise was given, but smoothed-histogram does not take it",
    ),
    "cells": (["data.csv", "--mechanism", "randomized-response", "--epsilon", 1, *UNIT, *OUT], "--cells K is missing"),
    "one cell": (
        ["data.csv", "--mechanism", "randomized-response", "--cells", 1, "--epsilon", 1, *UNIT, *OUT],
        "cells must be a whole number of at least 2; got 1",
    ),
    "cells of laplace": (
        ["data.csv", "--mechanism", "laplace", "--cells", 4, "--epsilon", 1, *UNIT, *OUT],
        "--cells was given, but laplace does not take it",
    ),
    "bounds of the wave": (
        ["data.csv", "--mechanism", "square-wave", "--epsilon", 1, *OUT],
        "--bounds LO HI is missing",
    ),
    "no epsilon": (["data.csv", "--mechanism", "square-wave", *UNIT, *OUT], "SquareWave needs epsilon="),
    "text": (["bad.csv", *HISTOGRAM, "--epsilon", 1, *UNIT, *OUT], "row 2 of column 'y' in bad.csv is 'x'"),
}


def check_error(result, message):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("case", PRIVATIZE_ERRORS)
def test_privatize_errors_are_one_line_and_leave_nothing(here, case):
    (here / "bad.csv").write_text("y\n0.5\nx\n")
    before = names(here)
    arguments, message = PRIVATIZE_ERRORS[case]
    check_error(run("privatize", *arguments), message)
    assert names(here) == before


FIT = ["-o", "fit.nc"]
NINE = ["--records", 9, "--epsilon", 1, *UNIT]
FIT_ERRORS = {
    "records": (
        ["table.csv", *FIT, *HISTOGRAM, "--epsilon", 1],
        "--records N is missing: histogram needs it",
    ),
    "bad records": (["table.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 0], "records must be the number"),
    "bins": (["table.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9, "--bins", 3], "table.csv tells it"),
    "column": (["table.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9, "--column", "z"], "no column 'z'"),
    "bounds": (
        ["table.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9, "--bounds", 0, 5],
        "the edges of the bins run from 0 to 2, but bounds=(0.0, 5.0)",
    ),
    "no mechanism": (["table.csv", *FIT, "--records", 9], "--records describes a table of z, for which --mechanism"),
    "no table": (["data.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9], "has no column 'lower'; it has 'y'"),
    "gap": (["gap.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9], "must touch"),
    "fractions": (
        ["table.csv", *FIT, *HISTOGRAM, "--noise", "discrete-laplace", "--epsilon", 1, "--records", 9],
        "row 1 of column 'count' in table.csv is",
    ),
    "records of laplace": (
        ["data.csv", *FIT, "--mechanism", "laplace", "--epsilon", 1, *UNIT, "--records", 9],
        "--records was given, but laplace does not take it",
    ),
    "draws outside": (
        ["table.csv", *FIT, "--mechanism", "smoothed-histogram", "--column", "count", *NINE],
        "SmoothedHistogram releases numbers from 0 to 1",
    ),
    "described": (["out.csv", *FIT, *HISTOGRAM, "--epsilon", 1, "--records", 9], "says itself what mechanism made it"),
    "cut": (["cut.csv", *FIT], "cut.csv: the columns lower and upper are not the edges"),
}


@pytest.mark.parametrize("case", FIT_ERRORS)
def test_fit_errors_are_one_line_and_leave_nothing(here, case):
    (here / "table.csv").write_text("lower,upper,count\n0,1,3.5\n1,2,4\n")
    (here / "gap.csv").write_text("lower,upper,count\n0,1,3.5\n1.5,2,4\n")
    for name in ("out.csv", "cut.csv"):
        Release([3.5, 4.0], mechanisms.NoisyHistogram(9, [0, 1, 2], epsilon=1.0)).save(here / name)
    (here / "cut.csv").write_text("lower,upper,count\n0.0,1.0,3.5\n")
    before = names(here)
    arguments, message = FIT_ERRORS[case]
    check_error(run("fit", *arguments), message)
    assert names(here) == before
