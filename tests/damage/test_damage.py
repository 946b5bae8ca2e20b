"""Damaged files, two hundred of them here and thousands in `make test-long`: none crashes, none is believed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privmix
from privmix import PrivateMixture, Release, mechanisms, samplers

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
    assert found["edited refused"] > 0.2 * count


def test_damaged_files_are_refused(folder):
    check(damage(folder, 0, 200), 200)


@pytest.mark.long
def test_thousands_of_damaged_files_are_refused(folder):
    check(damage(folder, 1000, 3000), 3000)
