"""One cell of every study, its figures from it, and the contract that all studies keep."""

import json
import os
import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from privmix.cli import app
from privmix.studies import Results, find_study, run_study, study_names
from privmix.studies.defaults import OF_ACCURACY, shared_cells
from privmix.studies.laplace import data
from privmix.studies.runner import Result, draw_figures
from privmix.studies.runner.run import in_order
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import Target

TINY = {"draws": 40, "points": 40}
# A cheap cell of each, and what it must find.
CELLS = {
    "laplace": {"records": 50, "epsilon": 50.0, "sampler": "slice", "replicate": 0},
    "wavelet": {"mechanism": "haar4-tight", "epsilon": 250.0, "fit": "neal5", "replicate": 0},
    "gaussian": {"calibration": "analytic", "delta": 0.1, "epsilon": 50.0, "sampler": "neal5", "replicate": 0},
    "donors": {"mechanism": "laplace", "fit": "slice", "replicate": 0},
    "mechanisms": {"mechanism": "laplace", "records": 100, "epsilon": 10.0, "replicate": 0},
    "global": {"base": "gamma2", "factor": 4, "epsilon": 10.0, "fit": "neal5", "replicate": 0},
    "accuracy": {"target": "normals", "records": 100, "epsilon": 10.0, "method": "ours-laplace", "replicate": 0},
    "planned": {"target": "normals", "family": "SquareWave", "epsilon": 4.0, "records": 200, "replicate": 0},
    "recommended": {"target": "normals", "way": "first", "epsilon": 4.0, "records": 500, "replicate": 0},
    "people": {"target": "normals", "family": "SquareWave", "epsilon": 4.0, "wanted": 0.2, "replicate": 0},
    "defaults": {"target": "inflated", "records": 100, "release": "laplace10", "variant": "cut", "replicate": 0},
}
NUMBERS = {"acceptance", "ess", "r_hat", "clusters", "l1", "covered"}


def test_every_study_is_found_by_its_file_and_has_a_cell_here():
    assert set(CELLS) == set(study_names())
    assert all(find_study(name).name == name for name in study_names())


@pytest.mark.parametrize("name", CELLS)
def test_one_cell_and_its_figures(name, tmp_path):
    study = find_study(name)
    configuration = replace(study.configuration.small(), **TINY)
    values = study.run_cell(configuration, CELLS[name])
    assert 0.0 < values["l1"] < 2.0
    if name != "accuracy":  # baselines have neither chains nor bands
        assert set(values) >= NUMBERS | {"mean", "lower", "upper"}
        assert (values["lower"] <= values["upper"]).all()
        assert 0.0 < values["acceptance"] <= 1.0
    found = Results(configuration, (Result(CELLS[name], values),), 1, 9)
    study.figures(found, tmp_path)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert all(path.stat().st_size > 5000 for path in pictures)
    assert f"{values['l1']:.3g}" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_tables_hold_medians_in_the_order_of_the_grid(tmp_path):
    found = {("b", 1.0): [0.1, 0.3, 0.31], ("b", 5.0): [0.04], ("a", 5.0): [np.nan, 2.0]}
    cells = [
        Result({"method": method, "epsilon": epsilon, "replicate": r}, {"l1": np.array(value)})
        for (method, epsilon), values in found.items()
        for r, value in enumerate(values)
    ]
    results = Results(None, tuple(cells), 6, 7)
    write_tables(results, tmp_path / "tables.md", {"method": {"a": "first"}}, "epsilon", ["l1"])
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").splitlines() == [
        "Medians over 3 data sets. 6 of 7 cells",
        "",
        "## L1 error",
        "",
        "| method | epsilon = 1.0 | epsilon = 5.0 |",
        "|---|---|---|",
        "| b | 0.3 | 0.04 |",
        "| first |  | 2 |",
        "",
    ]


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if k % 3 else n for k, n in enumerate(CELLS)])
def test_cells_do_not_read_the_grid(name):
    """A finished cell stays valid when the grid grows: its result must not depend on fields marked as grid."""
    study = find_study(name)
    small, whole = study.configuration.small(), study.configuration()
    held = Watched(replace(small, **TINY))
    study.run_cell(held, CELLS[name])
    axes = {one.name for one in fields(whole) if one.metadata.get("grid")}
    assert "replicates" in axes
    assert held.seen, "the spy sees nothing"
    assert not held.seen & axes


class Watched:
    """A configuration that notes which fields are read."""

    def __init__(self, configuration):
        self._configuration, self.seen = configuration, set()

    def __getattr__(self, name):
        self.seen.add(name)
        return getattr(self._configuration, name)


@pytest.mark.parametrize("name", CELLS)
def test_grids_are_sound_and_studies_travel(name):
    study = find_study(name)
    for configuration in (study.configuration(), study.configuration.small()):
        ordered = in_order(configuration.cells())  # refuses names that come twice or cannot name a file
        assert ordered[0]["replicate"] == 0
        assert len(ordered) % configuration.replicates == 0
        assert json.loads(json.dumps(configuration.as_dict())) == configuration.as_dict()
    assert pickle.loads(pickle.dumps(study)) == study


def test_samplers_of_a_study_see_the_same_release():
    """Comparisons are paired: only the chains differ between samplers."""
    first, again, other, louder = data(50, 1.0, 0), data(50, 1.0, 0), data(50, 1.0, 1), data(50, 2.0, 0)
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[1] != other[1]).all()
    np.testing.assert_array_equal(first[0], louder[0])


def test_variants_of_the_default_are_compared_on_the_releases_that_all_have(tmp_path):
    cells = [("a", "cut", 0), ("a", "cut", 1), ("b", "cut", 2), ("a", "new", 1), ("b", "new", 2)]
    held = [
        Result({"target": t, "variant": v, "replicate": r, "release": "x"}, {"l1": np.array(float(r))})
        for t, v, r in cells
    ]
    chosen = shared_cells(Results(None, tuple(held), 5, 6))
    assert chosen.cells == tuple(held[1:])
    assert np.isnan(chosen.mean("nothing"))
    write_tables(chosen, tmp_path / "panel.md", {"variant": {}}, "release", ["l1"], means_over="target")
    lines = (tmp_path / "panel.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "Means over 2 values of target and 2 data sets. 5 of 6 cells"
    assert lines[-3:] == ["| cut | 1.5 |", "| new | 1.5 |", ""]


def test_targets_that_defaults_shares_with_accuracy_have_the_same_data(monkeypatch):
    asked = []
    monkeypatch.setattr(Target, "release", lambda self, name, made, **more: asked.append((self, name, made, more)))
    for here, there in OF_ACCURACY.items():
        variant = CELLS["defaults"] | {"target": here}
        for name, cell in {"defaults": variant, "accuracy": CELLS["accuracy"] | {"target": there}}.items():
            with pytest.raises(TypeError):  # nothing was released
                find_study(name).run_cell(None, cell)
        assert asked[-1] == asked[-2]
    assert len(asked) == 6


def invoke(*arguments):
    return CliRunner().invoke(app, ["study", *arguments])


def test_command_line_lists_the_studies():
    shown = invoke("list")
    assert shown.exit_code == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()[::2]] == list(study_names())
    assert "4,000 cells" in shown.stdout


def test_command_line_runs_goes_on_and_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    folder = str(tmp_path / "toy")
    done = invoke("toy_study:study", "--replicates", "1", "--set", "scales=[1]", "--output", folder, "--workers", "1")
    assert done.exit_code == 0, done.output
    assert "2 cells finished, 0 failed." in done.stdout
    again = invoke("toy_study:study", "--replicates", "1", "--set", "scales=[1]", "--output", folder)
    assert "0 cells finished, 2 were finished before, 0 failed." in again.stdout
    os.remove(tmp_path / "toy" / "figures" / "means.txt")
    drawn = invoke("toy_study:study", "--figures-only", "--output", folder)
    assert drawn.exit_code == 0, drawn.output
    assert (tmp_path / "toy" / "figures" / "means.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no study 'nothing'. There are accuracy, defaults, donors, gaussian, global, laplace"),
        (["laplace", "--set", "draws"], "--set needs NAME=VALUE"),
        (["laplace", "--set", "colour=red"], "the study has no setting 'colour'; it has replicates, draws"),
        (["laplace", "--figures-only", "--small"], "it takes --output alone"),
        (["laplace", "--figures-only", "--output", "none"], "none holds no study: study.json is missing"),
    ],
)
def test_command_line_refuses_in_a_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = invoke(*arguments)
    assert refused.exit_code == 2
    assert message in refused.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", CELLS)
def test_miniature_of_every_study(name, tmp_path):
    study = find_study(name)
    report = run_study(study, study.configuration.small(), tmp_path / name, workers=1)
    assert report.failed == {}
    assert draw_figures(study, tmp_path / name).describe() == ""
