"""Studies that are killed, interrupted or lose a worker in the middle: real processes, real signals."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import toy_study

from privmix.studies.runner.local import _deaf_to_ctrl_c
from privmix.studies.runner.seeds import cell_name
from processes import PATIENCE, dask_cluster, start, wait_for

HERE = Path(__file__).parent
# Slow enough that a signal comes in the middle: 16 cells of .3 s on two workers.
CONFIGURATION = toy_study.Toy(replicates=4, pause=0.3)
COMMAND = ["study", "toy_study:study", "--output", "toy", "--set", "pause=0.3", "--workers", "2"]
# A process started in the background may ignore SIGINT: hear it again.
START = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('privmix', run_name='__main__')"
)


def start_study(folder, *arguments):
    return start(folder, sys.executable, "-c", START, *COMMAND, *arguments, path=[HERE], start_new_session=True)


def finished(folder):
    return {path.name: path.stat() for path in (folder / "toy" / "cells").glob("[!.]*.npz")}


def complete(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out, err


def assert_results_undisturbed(folder):
    """Compare every cell with what its function gives here and now, bit for bit."""
    assert len(finished(folder)) == len(CONFIGURATION.cells()) == 16
    quick = toy_study.Toy(replicates=4)
    for coordinates in CONFIGURATION.cells():
        expected = toy_study.study.run_cell(quick, coordinates)
        with np.load(folder / "toy" / "cells" / f"{cell_name(coordinates)}.npz") as held:
            assert set(held.files) == set(expected)
            for name, value in expected.items():
                np.testing.assert_array_equal(held[name], value, strict=True)


def members(group):
    """Return the processes of a group that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def assert_workers_follow(process):
    """Check that no worker outlives a run that was killed; end those that do."""
    deadline = time.monotonic() + 20.0
    while members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = members(process.pid)
    if left:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not left, "workers outlive the run"


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


@needs_proc
def test_a_killed_study_goes_on_and_repeats_nothing(tmp_path):
    process = start_study(tmp_path)
    wait_for(lambda: len(finished(tmp_path)) >= 4, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert_workers_follow(process)
    before = finished(tmp_path)
    assert 4 <= len(before) < 16
    out, _ = complete(start_study(tmp_path))
    assert f"{16 - len(before)} cells finished, {len(before)} were finished before, 0 failed." in out
    after = finished(tmp_path)
    assert {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in before.items()} == {
        name: (after[name].st_ino, after[name].st_mtime_ns) for name in before
    }
    log = [json.loads(line) for line in (tmp_path / "toy" / "log.jsonl").read_text().splitlines()]
    repeated = [event["cell"] for event in log[len(before) :] if f"{event['cell']}.npz" in before]
    assert len(repeated) <= 1, "a cell may be written and not yet in the log when the kill comes"
    assert len({event["cell"] for event in log}) >= 15
    assert_results_undisturbed(tmp_path)
    assert not list((tmp_path / "toy").rglob("*.part"))


@needs_proc
@pytest.mark.parametrize("least", [pytest.param(0, marks=pytest.mark.long), 2])
def test_ctrl_c_leaves_finished_cells(least, tmp_path):
    process = start_study(tmp_path)
    # The run, the tracker of its resources and two workers, which may be starting still.
    wait_for(lambda: len(finished(tmp_path)) >= least and len(members(process.pid)) >= 4, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted: finished cells are kept in toy; the same command goes on."
    assert "Traceback" not in err
    assert least <= len(finished(tmp_path)) < 16


def test_ctrl_c_while_a_worker_starts_is_heard_afterwards():
    reached = []

    def start():
        with _deaf_to_ctrl_c():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert reached == ["the end"]


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_results(tmp_path):
    with dask_cluster(tmp_path, [HERE]) as (address, workers):
        study = start_study(tmp_path, "--scheduler", address)
        wait_for(lambda: len(finished(tmp_path)) >= 4, study)
        workers[0].send_signal(signal.SIGKILL)
        assert len(finished(tmp_path)) < 14
        out, err = complete(study)
    assert "16 cells finished, 0 failed." in out
    assert "is gone; its cells are begun again elsewhere." in err
    assert_results_undisturbed(tmp_path)


def test_a_scheduler_that_is_not_there_is_said_so(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from privmix.studies import run_study
    from privmix.studies.runner import cluster

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        run_study(toy_study.study, CONFIGURATION, tmp_path / "toy", scheduler="tcp://127.0.0.1:9")
