"""The page of a plan as text: valid, self-contained, readable without scripts, and its numbers are the plan's."""

import json
import re

import numpy as np
import pytest

import privmix
from privmix.mechanisms import Laplace, RandomizedResponse
from privmix.planning import words as told
from privmix.planning.grid import make_grid
from privmix.planning.page import render
from report.reading import find, parsed, words


@pytest.fixture(scope="module")
def tree(page):
    return parsed(page)


@pytest.fixture(scope="module")
def data(tree):
    return json.loads(find(tree, "plan-data").text)


def test_page_is_valid_and_fetches_nothing(page, tree):
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) | set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)
    assert not re.search(r"https?:|[\"'(]//|@import|<script[^>]+src|<iframe", page)


def test_title_is_escaped(tree):
    assert next(tree.iter("h1")).text == next(tree.iter("title")).text == "A <b>plan</b> & more"


def test_without_scripts_the_planned_setting_is_told(tree, small):
    text = words(tree)
    assert told.why(small) in text
    assert told.planned_protocol(small) == words(find(tree, "protocol"))
    for line in (*told.assumptions(small), *told.needed(small, 0.15)):
        assert line in text
    rows = [[words(cell) for cell in row] for row in tree.iter("tr")]
    for row in small.rows:
        assert told.row_in_words(row) in rows
    assert find(tree, "sliders").get("hidden") is not None
    assert words(find(tree, "best-heading")) == told.named(small.recommended)
    assert words(find(tree, "other-heading")) == "Laplace"


def test_nodes_are_plans_of_their_own(data, small):
    """The grid away from the plan says what a plan made there says."""
    assert data["at"] == [1, 1]
    assert data["numbers"] == [2000, 20_000, 200_000]
    assert data["budgets"] == ["ε = 0.5", "ε = 1", "ε = 2"]
    y = 0.5 * (np.linspace(0.0, 100.0, 193)[:-1] + np.linspace(0.0, 100.0, 193)[1:])
    again = privmix.plan(
        (0.0, 100.0),
        epsilon=2.0,
        n=2000,
        shape=lambda at: np.interp(at, y, small.shapes[0].probability),
        only=(Laplace, RandomizedResponse),
    )
    node = dict(zip(data["names"], data["nodes"][2][0]["l1"], strict=True))
    for row in again.rows:
        assert node[row.name] == pytest.approx(row.l1, rel=0.01)
    here = dict(zip(data["names"], data["nodes"][1][1]["l1"], strict=True))
    assert here == {row.name: pytest.approx(row.l1, rel=1e-3) for row in small.rows}


def test_bands_are_those_predicted(data, small):
    band = data["nodes"][1][1]["bands"][0]
    expected = small.predictions(small.rows[0])[0]
    width = 100.0 / 192
    np.testing.assert_allclose(band["mean"], (expected.density / width).reshape(-1, 2).mean(axis=1), rtol=2e-3)
    upper = ((expected.density + expected.band) / width).reshape(-1, 2).mean(axis=1)
    np.testing.assert_allclose(band["upper"], upper, rtol=2e-3)
    assert min(band["lower"]) >= 0.0
    assert band["heading"] == told.named(small.recommended)


def test_frames_map_values_to_the_drawn_lines(tree, data):
    """The script's scales put means and curves where the pictures have them."""
    frame = data["frames"]["best"]
    path = next(p for p in find(tree, "best-mean").iter() if p.get("d"))
    drawn = np.array(re.findall(r"[ML] (\S+) (\S+)", path.get("d")), dtype=float)
    x = np.interp(data["y"], frame["xlim"], (frame["left"], frame["right"]))
    share = (np.array(data["nodes"][1][1]["bands"][0]["mean"]) - frame["ylim"][0]) / np.ptp(frame["ylim"])
    up = frame["bottom"] + share * (frame["top"] - frame["bottom"])
    for at, height in drawn:
        assert np.interp(at, x, up) == pytest.approx(height, abs=0.5)
    frame = data["frames"]["curves"]
    path = next(p for p in find(tree, "curves-line-0").iter() if p.get("d"))
    drawn = np.array(re.findall(r"[ML] (\S+) (\S+)", path.get("d")), dtype=float)
    share = np.log10(np.array(data["numbers"]) / frame["xlim"][0]) / np.log10(frame["xlim"][1] / frame["xlim"][0])
    np.testing.assert_allclose(drawn[:, 0], frame["left"] + share * (frame["right"] - frame["left"]), atol=0.01)


def test_a_panel_is_scaled_to_the_whole_of_it(small_grid, monkeypatch):
    monkeypatch.setattr("privmix.planning.grid.BUDGETS", (1.0,))
    monkeypatch.setattr("privmix.planning.grid.PEOPLE", (1.0,))
    plan = privmix.plan((0.0, 1.0), epsilon=1.0, n=500, only=(RandomizedResponse,))
    grid = make_grid(plan)
    assert grid.nodes[0][0][0].l1 == pytest.approx(plan.rows[0].l1)
    text = words(parsed(render(plan)))
    assert "3 of 6 shapes" in text
    assert "nothing else was compared" in text


def test_few_people_and_large_budgets_keep_to_what_can_be(monkeypatch):
    monkeypatch.setattr("privmix.planning.grid.BUDGETS", (1.0,))
    grid = make_grid(privmix.plan((0.0, 1.0), epsilon=3.0, n=20, shape=lambda y: 1.0 + y, only=(Laplace,)))
    assert grid.numbers[0] == 10
    assert grid.numbers[grid.at[1]] == 20
    assert len(grid.numbers) == len(set(grid.numbers))


def test_report_writes_a_page_and_refuses_bad_paths(small, small_grid, tmp_path):
    small.report(tmp_path / "plan.html")
    assert "A density from 20,000 people at ε = 1" in (tmp_path / "plan.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"ends in '.docx'"):
        small.report(tmp_path / "plan.docx")
    with pytest.raises(TypeError, match="title must be text; got 3"):
        small.report(tmp_path / "plan.html", title=3)
