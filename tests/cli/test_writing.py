"""What is printed after a file was written cannot fail, and a file that exists is not replaced unasked."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from privmix import Release
from privmix.cli import app
from privmix.cli.outputs import PLAIN, plain

LAPLACE = ["--mechanism", "laplace", "--epsilon", "10", "--bounds", "-10", "10"]
PRIVATIZE = ["privatize", "raw.csv", "--column", "y", *LAPLACE, "--output", "out.csv"]


@pytest.fixture
def here(tmp_path):
    (tmp_path / "raw.csv").write_text("y\n1.5\n-2.0\n0.25\n")
    return tmp_path


def run(here, *arguments, **more):
    command = [sys.executable, "-m", "privmix", *arguments]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=120, check=False, **more)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_output_that_is_not_utf8_is_plain(here, encoding):
    found = run(here, *PRIVATIZE, env={**os.environ, "PYTHONIOENCODING": encoding}, encoding=encoding)
    assert (found.returncode, found.stderr) == (0, "")
    assert "epsilon" in found.stdout
    assert "?" not in found.stdout
    assert len(Release.load(here / "out.csv")) == 3


def test_a_closed_pipe_does_not_make_a_written_release_a_failure(here):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "privmix", *PRIVATIZE]
    found = subprocess.run(command, cwd=here, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writer)
    assert found.returncode == 0, found.stderr
    assert len(Release.load(here / "out.csv")) == 3


def test_every_character_has_a_plain_form():
    def of(text):
        return plain(UnicodeEncodeError("ascii", text, 0, len(text), "not in range"))

    assert of("ε") == ("epsilon", 1)
    assert of("ρδα") == ("rhodeltaalpha", 3)
    assert of("é²₀") == ("e20", 3)
    assert of("".join(PLAIN)) == ("".join(PLAIN.values()), len(PLAIN))
    assert of("\u2603") == ("?", 1)


def test_a_release_is_replaced_only_by_force(here):
    assert run(here, *PRIVATIZE).returncode == 0
    first = (here / "out.csv").read_bytes()
    again = run(here, *PRIVATIZE)
    assert again.returncode == 2
    assert again.stderr == ("error: out.csv exists already. Choose another path, or give --force to replace it.\n")
    assert (here / "out.csv").read_bytes() == first
    forced = run(here, *PRIVATIZE, "--force")
    assert forced.returncode == 0
    assert "their budgets add up" in forced.stderr
    assert (here / "out.csv").read_bytes() != first


@pytest.mark.parametrize(
    ("taken", "arguments"),
    [
        ("fit.nc", "fit out.csv -o fit.nc"),
        ("fit.png", "fit out.csv -o fit.nc"),
        ("page.html", "fit out.csv -o fit.nc --report page.html"),
        ("page.html", "report fit.nc -o page.html"),
    ],
)
def test_nothing_is_replaced_unasked(here, taken, arguments, monkeypatch):
    monkeypatch.chdir(here)
    (here / taken).write_text("kept")
    found = CliRunner().invoke(app, arguments.split())
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: {taken} exists already.")
    assert (here / taken).read_text() == "kept"
