"""A disk without room: an error that says so, no debris, and draws that can be saved elsewhere."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import privmix
from privmix import PrivateMixture, mechanisms, samplers

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))


@contextmanager
def no_large_files(folder):
    """Let no file grow beyond 4 kB, as on a disk with little room."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield "files may not be so big"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(folder):
    """Put a disk of 16 kB into the place of a folder."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield "the disk is full"
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("full", [no_large_files, small_disk])
def test_full_disk_is_an_error_and_the_draws_live_on(tmp_path, full):
    """A process of its own, because the first try ended it by a segmentation fault."""
    (tmp_path / "here").mkdir()
    z = MECHANISM.privatize(np.linspace(-3.0, 4.0, 12), seed=1)
    posterior = PrivateMixture(MECHANISM).sample(z, samplers.Neal5(), draws=20, warmup=10, thin=1, chains=2, seed=1)
    posterior.save(tmp_path / "elsewhere.nc")
    save = (
        "import sys, privmix\nposterior = privmix.load(sys.argv[1])\n"
        "try:\n    posterior.save(sys.argv[2])\n"
        "except OSError as error:\n    print(error, posterior.draws)"
    )
    with full(tmp_path / "here") as reason:
        command = [sys.executable, "-c", save, tmp_path / "elsewhere.nc", tmp_path / "here" / "fit.nc"]
        environment = {**os.environ, "PYTHONPATH": str(Path(privmix.__file__).parents[1])}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert list((tmp_path / "here").iterdir()) == []
    assert (ended.returncode, ended.stderr) == (0, "")
    needed = (
        rf"fit\.nc cannot be written: {reason} \(0\.\d MB are needed, [\d.,]+ MB are free\)\. What was there before is"
    )
    assert re.search(needed + r" unchanged\. Make room, or choose another folder\. 20$", ended.stdout.rstrip())
