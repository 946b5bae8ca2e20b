"""`privmix plan`, and what `privmix privatize` recommends where no mechanism is named."""

import re
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import Release, mechanisms
from privmix.cli import app
from privmix.cli.plan import as_options, recommend

PLAN = ["plan", "--bounds", "0", "100", "--people", "2000"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Run inside a folder with a pilot, over two mechanisms and one histogram."""
    monkeypatch.chdir(tmp_path)
    few = ["Laplace", "RandomizedResponse", "NoisyHistogram"]
    monkeypatch.setattr("privmix.mechanisms.__all__", few)
    y = np.random.default_rng(1).normal(40.0, 9.0, 300)
    rows = [f"{value!r},{value / 2!r}" for value in y.tolist()]
    (tmp_path / "pilot.csv").write_text("\n".join(["y,half", *rows]) + "\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def one_line(text):
    return " ".join(text.split())


def test_plan_prints_table_recommendation_needs_and_assumptions():
    result = run(*PLAN, "--epsilon", "1", "--shape", "pilot.csv", "--column", "y", "--want-l1", "0.2")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    lines = result.stdout.splitlines()
    table = [line for line in lines if line[:1] in "┏┃┡│└"]
    assert max(map(len, table)) <= 80
    y = np.loadtxt("pilot.csv", delimiter=",", skiprows=1)[:, 0]
    made = privmix.plan((0.0, 100.0), epsilon=1.0, n=2000, shape=y)
    for row in made.rows:
        line = next(line for line in table if row.name in line)
        assert f"{row.l1:.2f}" in line
    assert re.search(r"Recommended: RandomizedResponse \(\d+ cells.*\) has the least expected L1 error", result.stdout)
    assert "instead of 2,000." in result.stdout
    assert re.search(
        r"RandomizedResponse needs for L1 = 0.2: [\d,]+ people at ε = 1; or ε = [\d.]+ with", result.stdout
    )
    assert "For the protocol: Each person's value (range 0 to 100) is released once by" in result.stdout
    for words in ("Local model", "One release a person", "without looking at the data", "public, or paid for"):
        assert words in result.stdout
    assert "a smoothed sample of 300 numbers" in result.stdout


def test_numbers_are_never_broken_in_a_narrow_window(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = run(*PLAN, "--epsilon", "1", "--shape", "pilot.csv", "--column", "y")
    assert re.search(r"0\.\d+–0\.\d+", result.stdout)
    assert not re.search(r"0\.\d*\s*│.*\n.*–", result.stdout)


def test_a_trusted_holder_is_told_what_trust_is_worth():
    result = run(*PLAN, "--epsilon", "1", "--trusted", "--shape", "pilot.csv", "--column", "y")
    assert result.exit_code == 0, result.output
    assert "Recommended: NoisyHistogram" in result.stdout
    assert "A trusted holder releases all values" in result.stdout


def test_a_budget_of_zcdp():
    result = run(*PLAN, "--rho", "0.5", "--shape", "pilot.csv", "--column", "half")
    assert result.exit_code == 0, result.output
    assert "2,000 people, ρ = 0.5" in result.stdout


def test_plan_writes_its_page(here, monkeypatch):
    monkeypatch.setattr("privmix.planning.grid.BUDGETS", (1.0,))
    monkeypatch.setattr("privmix.planning.grid.PEOPLE", (0.1, 1.0))
    arguments = [*PLAN, "--epsilon", "1", "--shape", "pilot.csv", "--column", "y", "--report", "plan.html"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("wrote plan.html\n")
    assert "A density from 2,000 people at ε = 1" in (here / "plan.html").read_text(encoding="utf-8")
    again = run(*arguments)
    assert again.exit_code == 2
    assert "plan.html exists already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*PLAN], "exactly one of epsilon=, rho="),
        ([*PLAN, "--epsilon", "0"], "epsilon=0.0, but needs epsilon > 0"),
        ([*PLAN, "--epsilon", "1", "--rho", "1"], "exactly one of epsilon=, rho="),
        (["plan", "--epsilon", "1", "--people", "10"], "Missing option '--bounds'"),
        (["plan", "--bounds", "1", "0", "--epsilon", "1", "--people", "10"], "bounds"),
        (
            ["plan", "--bounds", "0", "1", "--epsilon", "1", "--people", "0"],
            "whole number of people, at least 1",
        ),
        ([*PLAN, "--epsilon", "1", "--shape", "missing.csv"], "missing.csv"),
        ([*PLAN, "--epsilon", "1", "--shape", "pilot.csv"], "column"),
        ([*PLAN, "--epsilon", "1", "--column", "y"], "--column names a column of --shape, which was not given"),
        ([*PLAN, "--epsilon", "1", "--report", "plan.pdf"], "Use .html or .htm"),
        ([*PLAN, "--epsilon", "1", "--shape", "pilot.csv", "--column", "y", "--want-l1", "2"], "below 2; got 2.0"),
    ],
)
def test_mistakes_get_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_privatize_without_a_mechanism_recommends_one_and_the_command_runs(here):
    given = ["privatize", "pilot.csv", "--column", "y", "--output", "out file.csv"]
    result = run(*given, "--epsilon", "1", "--bounds", "0", "100")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "--mechanism is missing. For 300 records at ε = 1 RandomizedResponse" in result.stderr
    assert "(Laplace: 0." in result.stderr
    assert "A trusted holder's release of all records, --mechanism histogram, leaves 0." in result.stderr
    assert not (here / "out file.csv").exists()
    command = shlex.split(result.stderr.partition("Run: ")[2])
    assert command[:2] == ["privmix", "privatize"]
    assert run(*command[1:]).exit_code == 0
    made = Release.load("out file.csv")
    assert isinstance(made.mechanism, mechanisms.RandomizedResponse)
    assert made.guarantee.epsilon == 1.0


def test_a_hardened_recommendation_can_be_hardened(here):
    """The command that it gives must not release with floating-point noise."""
    given = ["privatize", "pilot.csv", "--column", "y", "--output", "out.csv", "--hardened", "--notes", "a survey"]
    result = run(*given, "--epsilon", "1", "--bounds", "0", "100")
    assert "RandomizedResponse" in result.stderr
    assert "of those with a hardened form" in result.stderr
    command = shlex.split(result.stderr.partition("Run: ")[2])
    assert {"--hardened", "--notes", "a survey"} <= set(command)
    assert "--staggered" not in command
    pytest.importorskip("opendp")
    assert run(*command[1:]).exit_code == 0
    assert "OpenDP" in Release.load("out.csv").mechanism.drawn_by


def test_a_recommendation_uses_nothing_but_the_number_of_records(here):
    """Other values of as many records, the same answer."""
    given = ["privatize", "pilot.csv", "--output", "out.csv", "--epsilon", "1", "--bounds", "0", "100"]
    first, second = run(*given, "--column", "y"), run(*given, "--column", "half")
    assert first.stderr == second.stderr.replace("--column half", "--column y")


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0}, {"bounds": (0.0, 1.0)}, {"bounds": (0.0, 1.0), "delta": 1e-6}])
def test_a_recommendation_says_what_it_needs(given):
    text = recommend([], 100, given)
    assert text.startswith("--mechanism is missing. Name one; or give --bounds LO HI and one of --epsilon and --rho")


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (mechanisms.Laplace(epsilon=0.1, bounds=(-1.5, 2.0)), "laplace --epsilon 0.1 --bounds -1.5 2"),
        (mechanisms.Laplace(rho=0.5, bounds=(0.0, 1.0)), "laplace --bounds 0 1 --rho 0.5"),
        (
            mechanisms.RandomizedResponse(7, epsilon=1.0, bounds=(0.0, 1.0)),
            "randomized-response --cells 7 --epsilon 1 --bounds 0 1",
        ),
        (
            mechanisms.NoisyHistogram(50, bins=8, noise="discrete laplace", epsilon=1.0, bounds=(0.0, 1.0)),
            "histogram --epsilon 1 --bounds 0 1 --bins 8 --noise discrete-laplace",
        ),
    ],
)
def test_a_mechanism_as_options(mechanism, words):
    assert " ".join(as_options(mechanism)) == f"--mechanism {words}"
