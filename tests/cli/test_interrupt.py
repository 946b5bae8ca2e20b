"""Ctrl-C during a fit, in a process and a terminal of its own."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import privmix
from privmix import Release, mechanisms

pty = pytest.importorskip("pty")

# A process started in the background may ignore SIGINT, and so would its children: hear it again.
START = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('privmix', run_name='__main__')"
)
SOURCE = Path(privmix.__file__).parents[1]
PATIENCE = 120.0


@pytest.fixture
def release(tmp_path):
    y = np.random.default_rng(1).normal(0.0, 3.0, 200)
    path = tmp_path / "release.csv"
    Release.from_data(y, mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0)), seed=2).save(path)
    return path


def interrupt_when(words, folder, *arguments, how=signal.SIGINT):
    """Start a fit, send Ctrl-C once its progress shows the words; return exit code, stdout and stderr."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-c", START, "fit", "release.csv", "--output", "fit.nc", "--chains", "2", *arguments]
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm", "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(command, cwd=folder, stdout=terminal, stderr=subprocess.PIPE, env=environment)
    os.close(terminal)
    try:
        seen = read_until(master, words.encode())
        process.send_signal(how)
        shown = read_until(master)
        stderr = process.stderr.read().decode()
        return process.wait(PATIENCE), (seen + shown).decode(), stderr
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        os.close(master)


def read_until(master, words=None):
    """Read a terminal until it shows the words, or until its other end is closed."""
    seen, deadline = b"", time.monotonic() + PATIENCE
    while words is None or words not in seen:
        ready, _, _ = select.select([master], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"the command went silent after {seen!r}"
        try:
            seen += os.read(master, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
    return seen


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_was_drawn(release, how):
    # A draw takes some 50 ms: thousands would take minutes.
    code, shown, stderr = interrupt_when(
        "clusters", release.parent, "--draws", "9000", "--thin", "5000", "--warmup", "5", how=how
    )
    assert code == 130, stderr
    posterior = privmix.load(release.parent / "fit.nc")
    assert 1 <= posterior.draws < 9000
    assert posterior.n_clusters.shape == (posterior.chains, posterior.draws)
    assert posterior.datatree.attrs["complete"] == 0
    assert "warning: interrupted: " in stderr
    assert "interrupted: fit.nc holds the draws that were made before" in stderr
    assert "wrote fit.nc and fit.png" in shown
    assert sorted(path.name for path in release.parent.iterdir()) == [
        "fit.nc",
        "fit.png",
        "release.csv",
        "release.csv.json",
    ]


def test_ctrl_c_before_any_draw_writes_nothing(release):
    (release.parent / "fit.nc").write_text("old")
    code, _, stderr = interrupt_when("warm-up", release.parent, "--force", "--draws", "10", "--warmup", "100000000")
    assert code == 130, stderr
    assert stderr.endswith("\ninterrupted before any draw was kept: nothing was written.\n")
    assert (release.parent / "fit.nc").read_text() == "old"
    assert not (release.parent / "fit.png").exists()


COMPILES_FOR_LONG = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from privmix.cli.app import main
from privmix.engine import chains
def compile_block(model, sampler):
    print("compiling", flush=True)
    time.sleep(600.0)
chains.compile_block = compile_block
sys.argv[1:] = ["fit", "release.csv", "--output", "fit.nc", "--sampler", "neal5"]
main()
"""


def test_ctrl_c_does_not_wait_for_the_compiler(release):
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILES_FOR_LONG],
        cwd=release.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    try:
        assert process.stdout.readline() == b"compiling\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert stderr.endswith(b"interrupted before any draw was kept: nothing was written.\n")
