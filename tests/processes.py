"""Real processes for tests: commands in a folder of their own, and a Dask cluster of two workers on this machine."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import privmix

PATIENCE = 120.0
SOURCE = Path(privmix.__file__).parents[1]


def start(folder, *command, path=(), **more):
    """Start a command in a folder, with privmix and further folders to import from."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [SOURCE, *path]))}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def wait_for(condition, process):
    """Wait until something is the case; fail with what the process said if it ends or takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"it did not come to it: {process.communicate()}")
        time.sleep(0.02)


@contextmanager
def dask_cluster(folder, path=()):
    """Give the address of a Dask scheduler and its two worker processes; end them all."""
    pytest.importorskip("distributed")
    options = ("--port", "0", "--no-dashboard", "--scheduler-file", "where.json")
    processes = [start(folder, sys.executable, "-m", "dask", "scheduler", *options, path=path)]
    try:
        wait_for(lambda: _address(folder) is not None, processes[0])
        # Without a nanny, which would start a killed worker again.
        options = (_address(folder), "--nthreads", "1", "--no-nanny", "--no-dashboard")
        processes += [start(folder, sys.executable, "-m", "dask", "worker", *options, path=path) for _ in range(2)]
        yield _address(folder), processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _address(folder):
    try:
        return json.loads((folder / "where.json").read_text())["address"]
    except (OSError, ValueError):
        return None
