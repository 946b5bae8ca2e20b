"""A plan as one self-contained page: what is recommended, sliders for budget and people, bands, curves, the table."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privmix.planning import words
from privmix.planning.experiment import edges_of
from privmix.planning.grid import MOST_SHAPES, Entry, Grid, make_grid
from privmix.plots.plan import plot_expected, plot_plan
from privmix.report.figures import picture_with_frame
from privmix.report.page import check_target, fill_page, write_page
from privmix.report.tables import versions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.planning.plan import Plan, Row
    from privmix.planning.predict import Prediction

# The pictures end at this multiple of the assumed density's highest point: wider bands say no more.
TOP = 1.9
# Cells that make one point of the pictures, so that the page stays small.
CELLS_A_POINT = 2


@dataclass(frozen=True)
class Picture:
    """A picture beside its heading and what is to be seen."""

    key: str
    heading: str
    svg: str


@dataclass(frozen=True)
class Content:
    """Everything that the page of a plan says."""

    title: str
    date: str
    why: str
    wanted: list[str]
    assumptions: list[str]
    protocol: str
    columns: dict[str, str]
    table: list[list[str]]
    bands: list[Picture]
    curves: str
    shape: str
    scaled: str
    data: dict[str, Any]
    versions: str


def write(plan: Plan, path: str | os.PathLike[str], want_l1: float | None = None, title: str = "") -> None:
    """Write the page of a plan; `Plan.report` documents the parameters."""
    target = Path(path)
    check_target(target)
    write_page(target, render(plan, want_l1, title))


def render(plan: Plan, want_l1: float | None = None, title: str = "") -> str:
    """Return the page of a plan as text; `Plan.report` documents the parameters."""
    if not isinstance(title, str):
        raise TypeError(f"title must be text; got {title!r}.")
    wanted = [] if want_l1 is None else words.needed(plan, want_l1)
    return fill_page("plan.html", "plan.js", "privmix.planning", it=_gather(plan, wanted, title))


def _gather(plan: Plan, wanted: list[str], title: str) -> Content:
    grid = make_grid(plan)
    bands, frames = _band_pictures(grid)
    curves, frames["curves"] = _curve_picture(grid, plan.n)
    spent = words.budget_in_words(plan.budget)
    return Content(
        title=title or f"A density from {plan.n:,} people at {spent}",
        date=datetime.date.today().isoformat(),
        why=words.why(plan),
        wanted=wanted,
        assumptions=words.assumptions(plan),
        protocol=words.planned_protocol(plan),
        columns=words.COLUMNS,
        table=[words.row_in_words(row) for row in plan.rows],
        bands=bands,
        curves=curves,
        shape=grid.shape.words,
        scaled=f"{MOST_SHAPES} of {len(plan.shapes)}" if len(plan.shapes) > MOST_SHAPES else "",
        data={"frames": frames, **_data(plan, grid)},
        versions=versions(),
    )


def _points(grid: Grid) -> tuple[np.ndarray, float]:
    """Return where the pictures have a point, and how wide the cells around it are."""
    edges = edges_of(grid.rows[0].mechanism.bounds)[::CELLS_A_POINT]
    return 0.5 * (edges[:-1] + edges[1:]), float(edges[1] - edges[0])


def _density(probability: np.ndarray, width: float) -> np.ndarray:
    return probability.reshape(-1, CELLS_A_POINT).sum(axis=1) / width


def _expected(prediction: Prediction, width: float) -> dict[str, np.ndarray]:
    """Return the mean estimate and the ends of its band, as densities."""
    mean, half = _density(prediction.density, width), _density(prediction.band, width)
    return {"mean": mean, "lower": np.maximum(mean - half, 0.0), "upper": mean + half}


def _best_and_other(grid: Grid, i: int, j: int) -> list[int]:
    """Return the best row at a node and the one that it is set against: the rival, or the plan's best beside it."""
    known = {k: entry.l1 for k, entry in enumerate(grid.nodes[i][j]) if entry}
    if not known:  # beyond what the mechanisms serve
        return []
    best = min(known, key=lambda k: known[k])
    other = 0 if best == grid.rival else grid.rival
    return [best, other] if other != best and other in known else [best]


def _band_pictures(grid: Grid) -> tuple[list[Picture], dict[str, Any]]:
    """Return the assumed density with the bands of two mechanisms at the planned setting, and the pictures' frames."""
    made: list[Picture] = []
    frames: dict[str, Any] = {}
    (y, width), (i, j) = _points(grid), grid.at
    shape = _density(grid.shape.probability, width)
    for key, k in zip(("best", "other"), _best_and_other(grid, i, j), strict=False):
        entry = grid.nodes[i][j][k]
        assert entry is not None

        def draw(axes: Axes, entry: Entry = entry, index: int = len(made)) -> None:
            plot_expected(y, shape, _expected(entry.shown, width), index, axes)
            axes.set(ylim=(0.0, TOP * float(shape.max())), xlim=grid.rows[0].mechanism.bounds)

        described = f"The assumed density with the band to be expected under {words.named(entry.mechanism)}."
        svg, frames[key] = picture_with_frame(key, described, draw, (5.6, 3.9))
        made.append(Picture(key, words.named(entry.mechanism), svg))
    return made, frames


def _curve_picture(grid: Grid, n: int) -> tuple[str, dict[str, Any]]:
    """Return the errors against the number of people at the planned budget, and the picture's frame."""
    errors = [entry.l1 for row in grid.nodes for node in row for entry in node if entry]
    known = [
        {"n": number, "mechanism": row.name, "l1": entry.l1}
        for k, row in enumerate(grid.rows)
        for number, node in zip(grid.numbers, grid.nodes[grid.at[0]], strict=True)
        if (entry := node[k])
    ]

    def draw(axes: Axes) -> None:
        plot_plan(pd.DataFrame(known), n, axes)
        axes.set(ylim=(0.8 * min(errors), 1.25 * max(errors)), xlim=(grid.numbers[0] * 0.8, grid.numbers[-1] * 1.25))

    return picture_with_frame("curves", "Expected L1 error against the number of people.", draw, (8.4, 4.6))


def _data(plan: Plan, grid: Grid) -> dict[str, Any]:
    """Return what the script shows: everything at every node, in words where words are shown."""
    y, width = _points(grid)
    nodes = [[_node(plan, grid, i, j, width) for j in range(len(grid.numbers))] for i in range(len(grid.budgets))]
    return {
        "y": _short(y),
        "at": list(grid.at),
        "budgets": [words.budget_in_words(budget) for budget in grid.budgets],
        "numbers": grid.numbers,
        "names": [row.name for row in grid.rows],
        "nodes": nodes,
    }


def _node(plan: Plan, grid: Grid, i: int, j: int, width: float) -> dict[str, Any]:
    entries, shown = grid.nodes[i][j], _best_and_other(grid, i, j)
    best = entries[shown[0]]
    assert best is not None
    sentence = words.protocol(plan, best.mechanism, grid.budgets[i], grid.numbers[j], best.l1)
    return {
        "l1": [None if entry is None else float(f"{entry.l1:.4g}") for entry in entries],
        "rows": [_live_row(row, entry) for row, entry in zip(grid.rows, entries, strict=True)],
        "best": shown[0],
        "protocol": words.planned_protocol(plan) if (i, j) == grid.at else sentence,
        "bands": [_band(entries[k], width) for k in shown],
    }


def _live_row(row: Row, entry: Entry | None) -> list[str]:
    return [row.name, "–"] if entry is None else [words.named(entry.mechanism), words.error_in_words(entry.l1)]


def _band(entry: Entry | None, width: float) -> dict[str, Any]:
    assert entry is not None
    curves = {name: _short(values) for name, values in _expected(entry.shown, width).items()}
    return {"heading": words.named(entry.mechanism), **curves}


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
