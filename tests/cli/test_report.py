"""`privmix report` and `fit --report`: a page, or one line that says what is wrong with the file."""

import json

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import Release, mechanisms
from privmix.cli import app
from privmix.posterior.storage import SEAL, seal_of

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
QUICK = ["--draws", "40", "--warmup", "20", "--thin", "1", "--chains", "2", "--seed", "1"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "fit.nc"
    z = MECHANISM.privatize(np.random.default_rng(1).normal(0.0, 3.0, 30), seed=2)
    privmix.fit(z, MECHANISM, draws=40, warmup=20, thin=1, chains=2, seed=1).save(path)
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_report_writes_a_page(saved, here):
    result = run("report", saved, "-o", "report.html", "--quick", "--level", "0.8", "--title", "My & survey")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert result.stdout == "wrote report.html\n"
    text = (here / "report.html").read_text(encoding="utf-8")
    assert "<h1>My &amp; survey</h1>" in text
    assert "80% pointwise band" in text
    assert names(here) == ["report.html"]


def test_fit_writes_a_report_too(here, monkeypatch):
    monkeypatch.setattr("privmix.report.content.REFIT_SECONDS", 0.0)
    y = np.random.default_rng(1).normal(0.0, 3.0, 30)
    Release.from_data(y, MECHANISM, seed=2).save("release.csv")
    result = run("fit", "release.csv", "-o", "fit.nc", "--report", "report.html", *QUICK)
    assert result.exit_code == 0, result.output
    assert "wrote fit.nc, fit.png and report.html" in result.stdout
    assert "ε-differential privacy, ε = 10" in (here / "report.html").read_text(encoding="utf-8")


def test_help_has_an_example():
    result = run("report", "--help")
    assert result.exit_code == 0
    assert "Example: privmix report fit.nc --output report.html" in result.stdout


def refused(result, message, folder, expected):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert names(folder) == expected


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("report.pdf", "ends in '.pdf', which names no known format. Use .html or .htm."),
        ("missing/report.html", "the output folder missing does not exist"),
        ("folder.html", "is a folder, but a file is to be written there"),
    ],
)
def test_bad_outputs(saved, here, output, message):
    (here / "folder.html").mkdir()
    refused(run("report", saved, "-o", output), message, here, ["folder.html"])


def test_bad_report_of_fit_is_refused_before_the_work(here):
    result = run("fit", "nothing.csv", "-o", "fit.nc", "--report", "report.txt")
    refused(result, "report.txt ends in '.txt'", here, [])


def test_missing_file(here):
    refused(run("report", "nothing.nc", "-o", "report.html"), "there is no file nothing.nc", here, [])


def test_bad_level(saved, here):
    refused(run("report", saved, "-o", "r.html", "--level", "95"), "level must be between 0 and 1; got 95", here, [])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_cut_files(saved, here, share):
    whole = saved.read_bytes()
    (here / "cut.nc").write_bytes(whole[: int(share * len(whole))])
    refused(run("report", "cut.nc", "-o", "report.html"), "is not a posterior of privmix", here, ["cut.nc"])


def test_other_files(here):
    (here / "table.nc").write_text("y\n1\n2\n")
    refused(run("report", "table.nc", "-o", "report.html"), "is not a posterior of privmix", here, ["table.nc"])


@pytest.mark.parametrize("group", ["posterior", "sample_stats", "observed_data", "chain_state"])
def test_files_without_a_group(saved, here, group):
    (here / "part.nc").write_bytes(saved.read_bytes())
    with h5py.File("part.nc", "a") as file:
        del file[group]
    refused(run("report", "part.nc", "-o", "report.html"), "is not a posterior of privmix", here, ["part.nc"])


def test_damaged_description(saved, here):
    (here / "fit.nc").write_bytes(saved.read_bytes())
    with h5py.File("fit.nc", "a") as file:
        about = json.loads(file.attrs["privmix"])
        about["model"]["mechanism"]["class"] = "Nothing"
        file.attrs["privmix"] = json.dumps(about)
    content = (here / "fit.nc").read_bytes().partition(SEAL)[0]
    (here / "fit.nc").write_bytes(content + seal_of(content))
    refused(run("report", "fit.nc", "-o", "report.html"), "Nothing", here, ["fit.nc"])


def test_file_from_a_newer_version(saved, here):
    (here / "fit.nc").write_bytes(saved.read_bytes())
    with h5py.File("fit.nc", "a") as file:
        file.attrs["privmix_format"] = 99
    refused(run("report", "fit.nc", "-o", "report.html"), "has format 99; this version", here, ["fit.nc"])
