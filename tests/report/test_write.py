"""Reports of awkward fits, and paths that cannot be written: a clear error, and what was there stays."""

import numpy as np
import pytest

import privmix
from privmix import PrivateMixture, mechanisms, samplers
from privmix.report import render, write
from report.reading import parsed, words

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(0.0, 3.0, 20), seed=2)
SHORT = {"warmup": 10, "thin": 1, "seed": 1}


@pytest.fixture(autouse=True)
def rough_prior(monkeypatch):
    """The prior mean is not looked at here."""
    monkeypatch.setattr("privmix.plots.density.PRIOR_DRAWS", 1000)


def text_of(posterior):
    return words(parsed(render(posterior, informativeness=False)))


def test_one_chain():
    text = text_of(privmix.fit(Z, MECHANISM, draws=120, chains=1, **SHORT))
    assert "there is one chain".capitalize() in text
    assert "1 chains" not in text


def test_few_draws():
    assert "3 draws a chain are too few" in text_of(privmix.fit(Z, MECHANISM, draws=3, chains=2, **SHORT))


def test_one_record():
    assert "1 records" not in text_of(privmix.fit(Z[:1], MECHANISM, draws=20, chains=2, **SHORT))


def test_no_guarantee():
    posterior = PrivateMixture(mechanisms.Identity()).sample(Z, samplers.Slice(), draws=20, chains=2, **SHORT)
    text = text_of(posterior)
    assert "No guarantee is known for this release: it may give any record away." in text
    assert "The guarantee holds" not in text
    assert "release (noisy)" not in text


def test_no_allocations():
    text = text_of(privmix.fit(Z, MECHANISM, draws=20, chains=2, allocations=False, **SHORT))
    assert "were not kept in this fit" in text


def test_many_records_leave_the_search_out(posterior, monkeypatch):
    monkeypatch.setattr("privmix.report.clusters.MOST_RECORDS", 39)
    assert "With 40 records the search for clusters takes too long" in text_of(posterior)


def test_write_replaces_a_file_by_a_whole_one(posterior, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write(posterior, path, informativeness=False)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("missing/report.html", FileNotFoundError, "the folder .*missing does not exist. Create it"),
        ("folder.html", IsADirectoryError, "is a folder, but a file is to be written there"),
        ("report.docx", ValueError, r"ends in '.docx', but a report is a page of HTML. Use .html"),
        ("file/report.html", FileNotFoundError, "does not exist"),
    ],
)
def test_bad_paths_are_refused_before_the_work(tmp_path, name, error, message):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").write_text("kept")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error, match=message):
        write(None, tmp_path / name)  # no posterior is looked at
    assert sorted(tmp_path.rglob("*")) == before


def test_folder_without_rights(tmp_path, monkeypatch):
    monkeypatch.setattr("privmix.report.page.os.access", lambda *_: False)
    with pytest.raises(PermissionError, match="may not be written to"):
        write(None, tmp_path / "report.html")


def test_full_disk_leaves_the_old_report(posterior, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    monkeypatch.setattr("privmix.report.page.render", lambda *_, **__: "x" * 1000)
    with pytest.raises(OSError, match=r"report\.html cannot be written: the disk is full \(.*\)\. What was there"):
        write(posterior, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_bad_level(posterior, level):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1; got {level!r}"):
        render(posterior, level=level)


def test_bad_title(posterior):
    with pytest.raises(TypeError, match="title must be text; got 3"):
        render(posterior, title=3)
