import os

import pytest

from privmix.files import whole_file, whole_files


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
