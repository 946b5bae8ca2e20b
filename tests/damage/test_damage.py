"""Damaged files, two hundred of them here and thousands in `make test-long`: none crashes, none is believed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import PrivateMixture, Release, mechanisms, samplers
from privmix.cli import app
from record import note

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Y = np.random.default_rng(1).normal(1.0, 2.0, 12)
RUN = {"draws": 10, "warmup": 5, "thin": 1, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with releases and fits that are whole."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("files")
    release = Release.from_data(Y, MECHANISM, seed=1, notes="whole")
    for name in ("a.csv", "a.parquet"):
        release.save(folder / name)
    histogram = mechanisms.NoisyHistogram(12, bins=[-10.0, -1.0, 2.0, 10.0], epsilon=2.0)
    Release.from_data(Y, histogram, seed=1).save(folder / "b.csv")
    for sampler in (samplers.Neal5(), samplers.Slice()):
        PrivateMixture(MECHANISM).sample(release, sampler, **RUN).save(folder / f"{type(sampler).__name__}.nc")
    return folder


def damage(folder, first, count):
    """Return how often each kind of damage came to what, or where the process crashed."""
    command = [sys.executable, "-X", "faulthandler", str(Path(__file__).parent / "run.py"), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(privmix.__file__).parents[1])}
    ended = subprocess.run(
        [*command, str(first), str(count)], capture_output=True, text=True, env=environment, timeout=3600
    )
    assert ended.returncode == 0, f"seed {(folder / 'last').read_text()}:\n{ended.stderr[-3000:]}"
    return json.loads(ended.stdout)


def check(found, count):
    assert not [outcome for outcome in found if "RAISED" in outcome or "ELSE" in outcome]
    assert sum(found.values()) == count
    assert found["fit refused"] > 0.1 * count
    assert found["edited refused"] > 0.1 * count


def test_damaged_files_are_refused(folder):
    check(damage(folder, 0, 200), 200)


def cut(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


@pytest.mark.parametrize(
    ("name", "damaged", "command"),
    [
        ("a.csv", lambda path: cut(path, 0.99), ["fit"]),
        ("a.csv.json", lambda path: path.write_text("[" * 100_000), ["fit"]),
        ("a.csv.json", lambda path: path.write_text('{"format_version": ' + "9" * 400 + "}"), ["fit"]),
        ("a.parquet", lambda path: cut(path, 0.5), ["fit"]),
        ("Neal5.nc", lambda path: cut(path, 0.5), ["report"]),
        (
            "Neal5.nc",
            lambda path: path.write_bytes(path.read_bytes().replace(b"privmix sha", b"privmix shb")),
            ["report"],
        ),
    ],
)
def test_a_damaged_file_gives_one_line_and_exit_code_2(folder, tmp_path, name, damaged, command):
    for path in folder.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    damaged(tmp_path / name)
    output = tmp_path / ("out.nc" if command == ["fit"] else "out.html")
    source = tmp_path / name.removesuffix(".json")
    result = CliRunner().invoke(app, [*command, str(source), "--output", str(output)])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert not output.exists()


@pytest.mark.long
def test_thousands_of_damaged_files_are_refused(folder):
    found = damage(folder, 1000, 3000)
    check(found, 3000)
    refused = sum(count for outcome, count in found.items() if "refused" in outcome)
    note("3,000 damaged files", "releases and fits", "", f"{refused:,} refused, the others sound")
