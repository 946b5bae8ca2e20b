import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import privmix
from privmix.files import whole_file, whole_files

SOURCE = str(Path(privmix.__file__).parents[1])


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "fit.nc"
    path.write_text("old")
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_content_reaches_the_disk_before_the_file_is_named(tmp_path, monkeypatch):
    steps = []
    monkeypatch.setattr(os, "fsync", lambda number: steps.append("flush"))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("name"), replace(*paths)))
    with whole_files(tmp_path / "a", tmp_path / "b") as fresh:
        for temporary in fresh:
            temporary.write_text("x")
    assert steps == ["flush", "flush", "name", "name"]


def interrupted(path):
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "fit.nc"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"fit\.nc cannot be written: the folder .*absent does not exist\."),
        whole_file(tmp_path / "absent" / "fit.nc"),
    ):
        pass


BEGIN = (
    "import sys; from pathlib import Path; from privmix.files import whole_files\n"
    "with whole_files(*map(Path, sys.argv[1:])) as fresh:\n"
    "    for temporary in fresh: temporary.write_text('half')\n"
    "    print('begun', flush=True); sys.stdin.read()"
)


@pytest.mark.skipif(os.name != "posix", reason="asks whether a process lives")
def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    paths = [str(tmp_path / "fit.nc"), str(tmp_path / "other.nc")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": SOURCE}}
    for killed in (True, False):
        with subprocess.Popen([sys.executable, "-c", BEGIN, *paths], **pipes) as process:
            assert process.stdout.readline() == b"begun\n"
            if killed:
                process.send_signal(signal.SIGKILL)
                process.wait()
            left = len(list(tmp_path.glob(".*.part")))
            with whole_file(tmp_path / "fit.nc") as temporary:
                temporary.write_text("new")
            assert (left, len(list(tmp_path.glob(".*.part")))) == ((2, 1) if killed else (2, 2))
            process.kill()
        (tmp_path / "other.nc").write_text("old")
        with whole_files(*map(Path, paths)) as fresh:
            for temporary in fresh:
                temporary.write_text("new")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.nc", "other.nc"]
