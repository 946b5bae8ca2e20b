"""The runner: files, seeds, resuming, refusals and workers that die."""

import csv
import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import toy_study

from privmix.studies import Configuration, Results, configure, derive_seed, draw_figures, grid, run_study
from privmix.studies.runner import Store
from privmix.studies.runner.run import in_order
from privmix.studies.runner.seeds import cell_name

STUDY, SMALL = toy_study.study, toy_study.Toy(replicates=2)


def contents(folder):
    """Return the results of every cell."""
    return {path.name: dict(np.load(path)) for path in sorted((folder / "cells").glob("*.npz"))}


def assert_same(first, second):
    assert list(first) == list(second)
    for name, values in first.items():
        assert list(values) == list(second[name])
        for key, array in values.items():
            np.testing.assert_array_equal(array, second[name][key], strict=True)


def events(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that ran undisturbed on two processes."""
    folder = tmp_path_factory.mktemp("finished") / "toy"
    report = run_study(STUDY, SMALL, folder, workers=2)
    assert (report.before, report.done, report.failed) == (0, 8, {})
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(finished, tmp_path / "toy"))


def test_cells_are_what_the_cell_function_gives_alone(finished):
    """In a grid, on two processes, and alone in this process: the same numbers."""
    held = contents(finished)
    for coordinates in SMALL.cells():
        values = held[f"{cell_name(coordinates)}.npz"]
        name = json.dumps(["toy", 1, {k: _text(v) for k, v in coordinates.items()}], sort_keys=True)
        entropy = int(hashlib.sha256(name.encode()).hexdigest(), 16)
        rng = np.random.default_rng(np.random.SeedSequence(entropy))
        np.testing.assert_array_equal(values["draws"], coordinates["scale"] * rng.standard_normal(5))


def _text(value):
    return value if isinstance(value, str) else f"{value:g}"


def test_seeds_differ_between_cells_and_not_between_spellings():
    seeds = {derive_seed("toy", 1, **cell).entropy for cell in toy_study.Toy(replicates=50).cells()}
    assert len(seeds) == 200
    assert derive_seed("toy", 1, a=1, b="x").entropy == derive_seed("toy", 1, b="x", a=1.0).entropy
    assert derive_seed("toy", 1, a=1).entropy != derive_seed("toy", 2, a=1).entropy
    assert derive_seed("toy", 1, a=1).entropy != derive_seed("toy", 1, a=0.1).entropy


@pytest.mark.parametrize("value", ["a/b", "", ".hidden", float("nan"), None, True, [1]])
def test_coordinates_that_cannot_name_a_file_are_refused(value):
    with pytest.raises(ValueError, match="the coordinate a must be a finite number or a name"):
        cell_name({"a": value})


def test_a_finished_study_does_nothing_and_grows_by_replicates(finished, copy):
    folder = copy
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    assert run_study(STUDY, SMALL, folder).done == 0
    report = run_study(STUDY, toy_study.Toy(replicates=3), folder, workers=1)
    assert (report.before, report.done) == (8, 4)
    assert {name: (folder / "cells" / name).stat().st_mtime_ns for name in before} == before
    assert_same(contents(finished), {k: v for k, v in contents(folder).items() if k in before})


def test_other_settings_and_other_studies_are_refused(finished):
    with pytest.raises(ValueError, match=r"was begun with size = 5, and now size = 6 was asked for"):
        run_study(STUDY, toy_study.Toy(replicates=2, size=6), finished)
    other = toy_study.Study("toy", "", toy_study.Toy, toy_study.cell, toy_study.figures, version=2)
    with pytest.raises(ValueError, match="holds the study toy, version 1; this is toy, version 2"):
        run_study(other, SMALL, finished)


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="holds files, but no study"):
        run_study(STUDY, SMALL, tmp_path)


def test_two_runs_do_not_share_a_folder(finished):
    with Store(finished, STUDY).lock(), pytest.raises(ValueError, match="another run works in"):
        run_study(STUDY, SMALL, finished)


def test_other_packages_are_told(copy):
    path = copy / "study.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "packages": {"numpy": "1.0"}}))
    with pytest.warns(UserWarning, match="numpy 1.0 →"):
        run_study(STUDY, SMALL, copy)


def test_a_worker_that_dies_is_replaced_and_its_cell_begun_again(finished, tmp_path, capfd):
    trap = tmp_path / "once"
    trap.touch()
    report = run_study(STUDY, toy_study.Toy(replicates=2, trap=str(trap)), tmp_path / "toy", workers=2)
    assert (report.done, report.failed) == (8, {})
    assert not trap.exists()
    assert "kind=odd,replicate=1 died, killed or out of memory; the cell is begun again" in capfd.readouterr().err
    assert_same(contents(finished), contents(tmp_path / "toy"))


def test_a_cell_that_always_kills_its_worker_fails_alone(tmp_path):
    configuration = toy_study.Toy(replicates=2, scales=(1.0,), trap=str(tmp_path / "always"))
    report = run_study(STUDY, configuration, tmp_path / "toy", workers=2)
    assert report.done == 3
    assert report.failed == {"scale=1,kind=odd,replicate=1": "3 workers died on it."}


def test_a_cell_that_raises_fails_alone_and_says_why(tmp_path, capfd):
    configuration = toy_study.Toy(replicates=2, scales=(1.0,), trap=str(tmp_path / "fails"))
    report = run_study(STUDY, configuration, tmp_path / "toy", workers=1)
    assert report.done == 3
    assert list(report.failed) == ["scale=1,kind=odd,replicate=1"]
    assert "failed: ZeroDivisionError: a trap" in capfd.readouterr().err
    failed = [event for event in events(tmp_path / "toy") if event["event"] == "failed"]
    assert "toy_study.py" in failed[0]["trace"]


def test_figures_come_from_results_alone_and_from_some_of_them(finished, copy):
    results = draw_figures(STUDY, finished)
    assert results.describe() == ""
    with (finished / "results.csv").open() as table:
        rows = list(csv.DictReader(table))
    held = contents(finished)
    assert [row["kind"] for row in rows] == [cell["kind"] for cell in SMALL.cells()]
    assert float(rows[0]["mean"]) == pytest.approx(held["scale=1,kind=plain,replicate=0.npz"]["mean"], rel=5e-6)
    (copy / "cells" / "scale=1,kind=odd,replicate=0.npz").unlink()
    results = draw_figures(STUDY, copy)
    assert results.describe() == "7 of 8 cells"
    left = ("plain,replicate=0", "plain,replicate=1", "odd,replicate=1")
    first = [held[f"scale=1,kind={name}.npz"]["mean"] for name in left]
    text = (copy / "figures" / "means.txt").read_text()
    assert float(text.splitlines()[0].split()[1]) == np.median(first)


def test_a_broken_file_is_named(copy):
    (copy / "cells" / "scale=1,kind=odd,replicate=0.npz").write_bytes(b"PK half a file")
    with pytest.raises(ValueError, match=r"kind=odd,replicate=0.npz cannot be read .* Delete it"):
        Results.load(Store(copy, STUDY))


def test_order_is_by_replicate_and_mixed_within():
    cells = toy_study.Toy(replicates=3, scales=(1.0, 2.0, 3.0, 4.0)).cells()
    ordered = in_order(cells)
    assert sorted(map(cell_name, ordered)) == sorted(map(cell_name, cells))
    assert [cell["replicate"] for cell in ordered] == [0] * 8 + [1] * 8 + [2] * 8
    assert [cell["scale"] for cell in ordered[:8]] != sorted(cell["scale"] for cell in ordered[:8])
    with pytest.raises(ValueError, match="more than once"):
        in_order([{"a": 1}, {"a": 1.0}])


@dataclass(frozen=True)
class Axes(Configuration):
    replicates: int = grid(2)
    names: tuple[str, ...] = grid(("b", "a"), "name")
    few: tuple[int, ...] = grid((1,))
    scales: tuple[float, ...] = grid((1.0, 2.0), "scale")


def test_cells_are_all_combinations_of_the_axes_unless_said_otherwise():
    cells = Axes().cells()
    assert cells[:3] == [
        {"name": "b", "scale": 1.0, "replicate": 0},
        {"name": "b", "scale": 1.0, "replicate": 1},
        {"name": "b", "scale": 2.0, "replicate": 0},
    ]
    assert len(cells) == 8
    assert set(Axes().settings()) == set(), "an axis is no setting of a cell"


def test_settings_are_checked():
    assert configure(toy_study.Toy, small=True, scales=[3]) == toy_study.Toy(replicates=1, scales=(3.0,))
    with pytest.raises(ValueError, match="has no setting 'draws'; it has replicates, scales, size"):
        configure(toy_study.Toy, draws=5)
    with pytest.raises(ValueError, match=r"size must be like 5, of type int; got 2\.5"):
        configure(toy_study.Toy, size=2.5)
    with pytest.raises(ValueError, match="replicates must be a whole number of at least 1; got 0"):
        configure(toy_study.Toy, replicates=0)
