"""What sliders show: the expected errors at several budgets and numbers of people around those of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privmix.mechanisms import Mechanism
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import Prediction, predict
from privmix.planning.words import compared

if TYPE_CHECKING:
    from privmix.planning.plan import Plan, Row
    from privmix.planning.shapes import Shape

# Factors of the plan's budget and of its number of people.
BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)
PEOPLE = tuple(10.0 ** (0.5 * k) for k in range(-3, 4))
# Mechanisms in the grid: a grid of more takes longer than anybody waits.
MOST_KINDS = 5
# Shapes of a panel in the grid, one of each number of components; the last of them is shown.
MOST_SHAPES = 3
FEWEST = 10


class Entry(NamedTuple):
    """A mechanism in its best setting, its expected error, and what is to be expected for the shape that is shown."""

    mechanism: Mechanism
    l1: float
    shown: Prediction


class Grid(NamedTuple):
    """Entries by budget, number of people and kind of mechanism; the planned ones are at `at`.

    Attributes
    ----------
    rows
        The plan's rows that take part, in its order.
    rival
        Which of them the best is set against.
    nodes
        ``nodes[i][j][k]`` belongs to the i-th budget, the j-th number of people and the k-th row; None where a
        mechanism has no setting.
    """

    shape: Shape
    rows: list[Row]
    rival: int
    budgets: list[dict[str, float]]
    numbers: list[int]
    at: tuple[int, int]
    nodes: list[list[list[Entry | None]]]


def make_grid(plan: Plan) -> Grid:
    """Return the grid around a plan.

    A panel of shapes is represented by a few of them, and the errors of a mechanism are multiplied by what makes them
    those of the whole panel at the planned setting.
    """
    rows, shapes = chosen_rows(plan), plan.shapes[:MOST_SHAPES]
    (name, budget), n = next(iter(plan.budget.items())), plan.n
    budgets = [{name: float(f"{budget * factor:.3g}") if factor != 1.0 else budget} for factor in BUDGETS]
    numbers = sorted({n, *(max(FEWEST, int(float(f"{n * factor:.2g}"))) for factor in PEOPLE if factor != 1.0)})
    at = (BUDGETS.index(1.0), numbers.index(n))
    columns: list[list[list[Entry | None]]] = [[[] for _ in numbers] for _ in budgets]
    for row in rows:
        planned = _entry([row.mechanism], shapes, n)
        scale = row.l1 / planned.l1
        for i, spent in enumerate(budgets):
            for j, people in enumerate(numbers):
                here = planned if (i, j) == at else _best(type(row.mechanism), plan.bounds, spent, shapes, people)
                columns[i][j].append(None if here is None else here._replace(l1=here.l1 * scale))
    rival = next((k for k, row in enumerate(rows) if row is compared(plan.rows)), 0)
    return Grid(shapes[-1], rows, rival, budgets, numbers, at, columns)


def chosen_rows(plan: Plan) -> list[Row]:
    """Return the rows that take part: the best, and the one that the recommended is set against."""
    rows, other = plan.rows[:MOST_KINDS], compared(plan.rows)
    return rows if other is None or other in rows else [*rows[:-1], other]


def _best(kind: type[Mechanism], bounds: Any, budget: dict[str, float], shapes: list[Shape], n: int) -> Entry | None:
    settings = kind.candidates(n, bounds, **budget)
    return _entry(settings, shapes, n) if settings else None


def _entry(settings: list[Any], shapes: list[Shape], n: int) -> Entry:
    """Return the setting that is best for the last shape, with its error over all of them."""
    made = [_predict(mechanism, shapes[-1], n) for mechanism in settings]
    j = int(np.argmin([one.l1 for one in made]))
    others = [_predict(settings[j], shape, n).l1 for shape in shapes[:-1]]
    return Entry(settings[j], float(np.mean([*others, made[j].l1])), made[j])


def _predict(mechanism: Mechanism, shape: Shape, n: int) -> Prediction:
    return predict(experiment_of(mechanism), shape.probability, n, shape.is_given)
