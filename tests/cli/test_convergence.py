"""Chains that have not converged cannot be missed: order of the output, exit codes, pictures, pages; and going on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import Release, mechanisms
from privmix.cli import app
from privmix.cli import fit as fit_module
from privmix.cli.fit import going_on

SHORT = ["--draws", "40", "--warmup", "20", "--thin", "1", "--chains", "2", "--seed", "1", "--sampler", "neal5"]


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = np.random.default_rng(1).normal(0.0, 3.0, 30)
    made = Release.from_data(y, mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0)), seed=2)
    made.save(tmp_path / "release.csv")
    return made


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_strict_has_an_exit_code_of_its_own_and_writes_all_the_same(release):
    result = run("fit", "release.csv", "--output", "fit.nc", *SHORT, "--strict")
    assert result.exit_code == 3
    assert privmix.load("fit.nc").draws == 40
    assert "wrote fit.nc and fit.png" in result.stdout
    assert run("fit", "release.csv", "--output", "fit.nc", "--force", *SHORT).exit_code == 0


def test_strict_is_silent_where_chains_converged(release, monkeypatch):
    monkeypatch.setattr(fit_module, "doubt_of", lambda findings: "")
    assert run("fit", "release.csv", "--output", "fit.nc", *SHORT, "--strict").exit_code == 0


def test_exit_codes_are_documented():
    told = " ".join(run("fit", "--help").stdout.split())
    assert "3 for chains that have not converged under --strict" in told
    assert "Exit with code 3" in told


def test_the_warning_comes_before_all_else(release):
    result = run("fit", "release.csv", "--output", "fit.nc", *SHORT)
    lines = [line for line in result.output.splitlines() if not line.startswith("progress: ")]
    assert lines[0].startswith("warning: ")
    assert any(line.startswith("warning: chains: the worst R-hat is") for line in lines[:2])
    assert not any(line.startswith("warning: ") for line in lines[3:])


def test_the_picture_says_that_its_band_is_not_to_be_trusted(release):
    run("fit", "release.csv", "--output", "fit.nc", "--picture", "fit.svg", *SHORT)
    text = Path("fit.svg").read_text()
    assert "chains are too short: this band is not to be trusted" in text


def test_off_a_terminal_it_says_that_it_compiles(release):
    result = run("fit", "release.csv", "--output", "fit.nc", *SHORT)
    first = result.stderr.splitlines()[0]
    assert first.startswith("progress: 2 chains of 60 sweeps over 30 records; what this machine has not compiled yet")
    quiet = run("fit", "release.csv", "--output", "fit.nc", "--force", "--no-progress", *SHORT)
    assert "progress:" not in quiet.output


def test_resume_goes_on_where_the_chains_ended(release):
    run("fit", "release.csv", "--output", "fit.nc", *SHORT)
    short = privmix.load("fit.nc")
    result = run("resume", "fit.nc", "--draws", "25")
    assert result.exit_code == 0, result.output
    assert "wrote fit.nc and fit.png" in result.stdout
    longer = privmix.load("fit.nc")
    assert longer.draws == 65
    np.testing.assert_array_equal(longer.n_clusters, short.resume(25).n_clusters)


def test_resume_writes_elsewhere_and_replaces_by_force_alone(release):
    run("fit", "release.csv", "--output", "fit.nc", *SHORT)
    assert run("resume", "fit.nc", "--draws", "5", "--output", "more.nc", "--report", "more.html").exit_code == 0
    assert (privmix.load("fit.nc").draws, privmix.load("more.nc").draws) == (40, 45)
    again = run("resume", "fit.nc", "--draws", "5", "--output", "more.nc")
    assert again.exit_code == 2
    assert "error: more.nc exists already" in again.stderr
    page = run("resume", "fit.nc", "--draws", "5", "--report", "more.html")
    assert (page.exit_code, "more.html exists already" in page.stderr) == (2, True)


def test_limits_are_options(release):
    result = run("fit", "release.csv", "--output", "fit.nc", *SHORT, "--until-ess", "1e9", "--minutes", "1e-6")
    assert result.exit_code == 0, result.output
    assert "warning: the limits were not reached in 1e-06 minutes: " in result.stderr
    assert "below 1e+09" in result.stderr


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        ((None, None, None), True, {"until": {}, "minutes": 5.0}),
        ((None, None, None), False, {}),
        ((None, 900.0, None), False, {"until": {"ess": 900.0}, "minutes": 5.0}),
        ((1.05, None, 2.0), False, {"until": {"r_hat": 1.05}, "minutes": 2.0}),
    ],
)
def test_a_fit_goes_on_unless_its_draws_are_given(given, wanted, expected):
    assert going_on(*given, wanted=wanted) == expected


def test_shells_can_complete_commands_and_options():
    environment = {**os.environ, "_PRIVMIX_COMPLETE": "complete_bash", "COMP_CWORD": "1", "COMP_WORDS": "privmix re"}
    done = subprocess.run([sys.executable, "-m", "privmix"], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["resume", "report"]
