"""`privmix fit` on plain tables: noise by name, scales in a column, what was done to the values."""

import numpy as np
import pytest
from typer.testing import CliRunner

from privmix.cli import app
from privmix.cli.inputs import read_release
from privmix.mechanisms import Clamped, DiscreteLaplace, Gaussian, Laplace, NoisyHistogram, Rounded, Withheld
from privmix.release import Release
from privmix.release.readers.table import Layout, Processing

TABLE = "lower,upper,count\n0,1,3.5\n1,2,0\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text(TABLE)
    (tmp_path / "z.csv").write_text("estimate,std_dev\n5,1\n10,2\n")
    (tmp_path / "few.csv").write_text("z\n100\n\n95\n")
    return tmp_path


def test_noise_alone_names_the_mechanism_of_bins_or_records(here):
    about = {"noise": "laplace", "scale": 2.0}
    found = read_release(here / "counts.csv", None, about | {"records": 9})
    assert found == Release([3.5, 0.0], NoisyHistogram(9, [0, 1, 2], scale=2.0))
    found = read_release(here / "few.csv", None, about, done=Processing(withheld_below=90.0))
    assert found == Release([100.0, np.nan, 95.0], Withheld(Laplace(scale=2.0), below=90.0))
    done = Processing(withheld_below=3.0, withheld_unseen=True)
    found = read_release(here / "z.csv", None, about, Layout("estimate"), done)
    assert found == Release([5.0, 10.0], Withheld(Laplace(scale=2.0), below=3.0, known=False))


def test_scales_of_a_column_and_steps_of_the_options(here):
    layout, done = Layout("estimate", "std_dev"), Processing(0.0, 5.0)
    found = read_release(here / "z.csv", None, {"noise": "gaussian"}, layout, done)
    expected = Rounded(Clamped(Gaussian(scale=np.array([1.0, 2.0])), lower=0.0), to=5.0)
    assert found == Release([5.0, 10.0], expected)


def test_discrete_noise_of_records_is_named_like_that_of_counts(here):
    (here / "whole.csv").write_text("z\n3\n-4\n")
    found = read_release(here / "whole.csv", None, {"noise": "discrete-laplace", "scale": 2.0})
    assert found == Release([3.0, -4.0], DiscreteLaplace(scale=2.0))


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


OUT = ["-o", "fit.nc"]
ERRORS = {
    "clamp": (["z.csv", "--noise", "laplace", "--scale", 1, "--column", "estimate", "--clamped-at", 7], "row 1 of"),
    "withheld": (["few.csv", "--noise", "laplace", "--scale", 1, "--withheld-below", 96], "row 3 of column 'z'"),
    "two scales": (
        ["z.csv", "--noise", "gaussian", "--scale", 1, "--column", "estimate", "--scale-column", "std_dev"],
        "--scale was given, but z.csv tells it",
    ),
    "unseen": (
        ["z.csv", "--noise", "laplace", "--scale", 1, "--column", "estimate", "--withheld-unseen"],
        "Give withheld_below too",
    ),
    "no mechanism": (["few.csv", "--withheld-below", 90], "--withheld-below describes a table of z"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_line(here, case):
    arguments, message = ERRORS[case]
    result = run("fit", *arguments, *OUT)
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
