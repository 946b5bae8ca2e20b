"""Bands over many data sets from the prior, and the memory that a large density takes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from long.test_joint_long import note

ROOT = Path(__file__).parents[2]


def run(module, *arguments):
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_bands_cover_what_they_promise(tmp_path):
    """Limits of four standard errors around 90%, over 80 data sets."""
    file = tmp_path / "rows.json"
    run("coverage", "--data-sets", 80, "--thin", 5, "--keep", file)
    rows = json.loads(file.read_text())
    pointwise = sum(row["pointwise"] for row in rows) / len(rows)
    simultaneous = sum(row["order statistics"] for row in rows) / len(rows)
    note(f"| 90% bands, 80 data sets | pointwise {pointwise:.1%} | simultaneous {simultaneous:.1%} | |")
    assert 0.85 < pointwise < 0.95
    assert 0.76 < simultaneous <= 1.0


@pytest.mark.long
def test_a_large_density_takes_less_than_a_gigabyte():
    text = run("memory")
    found = re.search(r"peak (\d+) MB", text)
    note(f"| memory | density of 2,000 points from 100,000 draws | {found[0]} | |")
    assert int(found[1]) < 1000
