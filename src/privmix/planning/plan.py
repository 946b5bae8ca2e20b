"""Before collecting: which mechanism, which budget and how many people a density needs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privmix import mechanisms
from privmix.mechanisms import Mechanism
from privmix.parts.checks import check_bounds, one_of, single
from privmix.planning.check import check_rows
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import Prediction, predict
from privmix.planning.shapes import Shape, find_modes, read_shapes
from privmix.planning.solving import USUAL_SLOPE, solve_for
from privmix.planning.words import MOST, setting_of
from privmix.plots.plan import plot_plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Repetitions from which the range of errors and the chance to see the modes are found.
REPETITIONS = 200
# Numbers of people between which a wanted accuracy is sought; beyond, it is called out of reach.
FEWEST = 10.0
# Most people that a plan may have.
MOST_PEOPLE = 1e15
LEAST_BUDGET, MOST_BUDGET = 1e-3, 50.0
# At a small budget n·ε² people tell as much as n at ε = 1, and n·ρ.
RECORDS_OF_A_BUDGET = {"epsilon": 2.0, "rho": 1.0}


@dataclass(frozen=True)
class Row:
    """A mechanism in its best setting, and what is to be expected of it.

    Attributes
    ----------
    mechanism
        Ready to use.
    l1, low, high
        Expected L1 error of the density, and the range that holds 90% of repetitions and all shapes.
    cells
        How much of the error stays however often the collection is repeated: lost to cells and smoothing.
    band
        Mean half-width of the 95% band, in units of the uniform density.
    modes
        Chance that every valley between two modes shows; None where the shape has one mode.
    """

    mechanism: Mechanism
    l1: float
    low: float
    high: float
    cells: float
    band: float
    modes: float | None

    @property
    def name(self) -> str:
        """The class of the mechanism."""
        return type(self.mechanism).__name__


@dataclass(frozen=True)
class Plan:
    """What n records will tell of a density under a budget, by mechanism: made by `privmix.plan`.

    Attributes
    ----------
    rows
        A `Row` for each mechanism, the best first.
    """

    bounds: tuple[float, float]
    n: int
    budget: dict[str, float]
    shapes: list[Shape]
    trusted: bool
    rows: list[Row] = field(repr=False)
    classes: tuple[type[Mechanism], ...] = field(repr=False)
    # What was solved for already, and errors by number of people or budget: command and page ask for the same.
    _solved: dict[Any, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)
    _errors: dict[Any, dict[float, float]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def recommended(self) -> Mechanism:
        """The mechanism with the least expected error: of those that need no trusted holder unless one was named."""
        return self.rows[0].mechanism

    def error_of_nothing(self) -> float:
        """Return the expected L1 error of an estimate that knows next to nothing of the data."""
        return _l1(self.recommended, self.shapes, 1e-3)

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a table."""
        return pd.DataFrame(
            [
                {
                    "mechanism": row.name,
                    "setting": setting_of(row.mechanism),
                    "l1": row.l1,
                    "l1_low": row.low,
                    "l1_high": row.high,
                    "cells": row.cells,
                    "band": row.band,
                    "modes": math.nan if row.modes is None else row.modes,
                }
                for row in self.rows
            ]
        )

    def for_accuracy(self, l1: float, solve: str = "n", only: Sequence[type[Mechanism]] | None = None) -> pd.DataFrame:
        """Return how many people, or which budget, each mechanism needs for an expected L1 error.

        Parameters
        ----------
        l1
            The wanted error, above 0 and below 2.
        solve
            "n" for the number of people at the plan's budget, "budget" for ε or ρ at the plan's number of people.
        only
            Mechanisms to ask for; by default all of the plan's.

        Returns
        -------
        DataFrame
            A row for each mechanism, the cheapest first; not a number, with the least error found, where the accuracy
            is out of reach.
        """
        number = isinstance(l1, int | float | np.number) and not isinstance(l1, bool)
        if not number or not 0.0 < l1 < 2.0:
            raise ValueError(f"l1 must be an L1 distance above 0 and below 2; got {l1!r}.")
        wanted = float(l1)
        if solve not in ("n", "budget"):
            raise ValueError(f"solve must be 'n' or 'budget'; got {solve!r}.")
        kinds = self.classes if only is None else _asked(only)
        found = [self._known(kind, wanted, solve) for kind in kinds]
        order = sorted(range(len(found)), key=lambda j: (math.isnan(found[j]["needed"]), found[j]["needed"]))
        return pd.DataFrame([found[j] for j in order])

    def _known(self, kind: type[Mechanism], wanted: float, solve: str) -> dict[str, Any]:
        if (kind, wanted, solve) not in self._solved:
            self._solved[kind, wanted, solve] = self._needed(kind, wanted, solve)
        return self._solved[kind, wanted, solve]

    def _needed(self, kind: type[Mechanism], wanted: float, solve: str) -> dict[str, Any]:
        """Return what one mechanism needs, where the error falls to what is wanted."""
        (name, budget), shapes = next(iter(self.budget.items())), self.shapes

        def error(value: float) -> float:
            n, spent = (value, budget) if solve == "n" else (float(self.n), value)
            return min((_l1(m, shapes, n) for m in _settings(kind, n, self.bounds, {name: spent})), default=math.inf)

        low, high = (FEWEST, MOST) if solve == "n" else (LEAST_BUDGET, MOST_BUDGET)
        start, slope = float(self.n), USUAL_SLOPE
        if solve == "budget":
            start, slope = budget, RECORDS_OF_A_BUDGET[name] * USUAL_SLOPE
        planned = [(start, row.l1) for row in self.rows if type(row.mechanism) is kind and low <= start <= high]
        known = self._errors.setdefault((kind, solve), dict(planned))
        value, least = solve_for(error, wanted, low, high, start, known=known, slope=slope)
        return {"mechanism": kind.__name__, "needed": value, "l1": wanted if math.isfinite(value) else least}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the expected error against the number of people, a line for each mechanism.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.
        """
        return plot_plan(self.curves(), self.n, ax)

    def curves(self, numbers: Iterable[float] | None = None) -> pd.DataFrame:
        """Return the expected error of every mechanism at several numbers of people.

        Parameters
        ----------
        numbers
            Numbers of people; by default from a hundredth to a hundred times the plan's.
        """
        numbers = self.n * np.geomspace(0.01, 100.0, 9) if numbers is None else np.asarray(list(numbers), dtype=float)
        rows = []
        for n in np.maximum(numbers, FEWEST):
            for kind in self.classes:
                errors = [_l1(m, self.shapes, n) for m in _settings(kind, n, self.bounds, self.budget)]
                if errors:
                    rows.append({"n": n, "mechanism": kind.__name__, "l1": min(errors)})
        return pd.DataFrame(rows)

    def check(
        self, replicates: int = 3, mechanisms: int = 3, executor: Any = None, seed: int = 1, **chains: Any
    ) -> pd.DataFrame:
        """Simulate releases of the best mechanisms, fit them, and compare the errors with those predicted.

        Parameters
        ----------
        replicates
            Data sets for each shape and mechanism.
        mechanisms
            How many of the best rows.
        executor
            Where fits run: anything with `map`, such as a `ProcessPoolExecutor` or that of a Dask client; by default
            here, one after another.
        seed
            Of data, noise and chains.
        chains
            Settings of `privmix.fit`, such as draws=500.

        Returns
        -------
        DataFrame
            A row for each fit: mechanism, shape, replicate, l1, predicted, ratio.
        """
        return check_rows(self, self.rows[:mechanisms], replicates, executor, seed, chains)

    def report(self, path: str | os.PathLike[str], want_l1: float | None = None, title: str = "") -> None:
        """Write the plan as one HTML page that needs no network: sliders for budget and people, bands, curves, table.

        Parameters
        ----------
        path
            Where to write, ``.html``; an existing file is replaced only by a complete one.
        want_l1
            A wanted L1 error: the page says what is needed for it.
        title
            Heading of the page; by default it names the number of people and the budget.
        """
        from privmix.planning.page import write  # loads the pictures

        write(self, path, want_l1, title)

    def predictions(self, row: Row) -> list[Prediction]:
        """Return what is to be expected of one mechanism for each shape, cell by cell."""
        return _predictions(row.mechanism, self.shapes, self.n)


def plan(
    bounds: tuple[float, float],
    *,
    n: int,
    epsilon: float | None = None,
    rho: float | None = None,
    shape: Any = None,
    trusted: bool = False,
    only: Sequence[type[Mechanism]] | None = None,
) -> Plan:
    """Say what a release will tell of a density, before anything is collected.

    Nothing confidential is needed, and nothing may be used: bounds and shape must come from elsewhere, or be paid for.

    Parameters
    ----------
    bounds
        Range of a record, known without looking at the data.
    n
        Number of people who take part, each once.
    epsilon, rho
        The privacy budget of each person: one of them.
    shape
        What the density may look like: a function of points, a distribution of SciPy, a sample that is public; by
        default a panel of six mixtures.
    trusted
        Whether a holder may see the data: then histograms with noise take part, which need far fewer people.
    only
        Mechanisms to compare; by default all that can be planned for.
    """
    one_of("plan", epsilon=epsilon, rho=rho)
    budget = {name: single(name, value) for name, value in (("epsilon", epsilon), ("rho", rho)) if value is not None}
    checked = check_bounds(bounds, needed_for="plan")
    assert checked is not None
    if isinstance(n, bool) or not isinstance(n, int | float | np.number) or not 1 <= n <= MOST_PEOPLE or n != int(n):
        raise ValueError(f"n must be a whole number of people, at least 1 and at most {MOST_PEOPLE:g}; got {n!r}.")
    shapes = read_shapes(shape, checked)
    asked = classes_to_plan(trusted) if only is None else _asked(only)
    rows = [row for kind in asked if (row := _best(kind, int(n), checked, budget, shapes)) is not None]
    if not rows:
        names = ", ".join(kind.__name__ for kind in asked)
        raise ValueError(f"none of {names} has a setting to plan with at {budget}: there is nothing to compare.")
    rows.sort(key=lambda row: row.l1)
    kinds = tuple(type(row.mechanism) for row in rows)
    return Plan(checked, int(n), budget, shapes, trusted, rows, kinds)


def classes_to_plan(trusted: bool = False) -> tuple[type[Mechanism], ...]:
    """Return every mechanism of the library that may be asked for settings: global ones where a holder is trusted.

    Parameters
    ----------
    trusted
        Whether one is.
    """
    found = [getattr(mechanisms, name) for name in mechanisms.__all__]
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, Mechanism)]
    return tuple(kind for kind in kinds if trusted or not kind.is_global)


def _asked(only: Any) -> tuple[type[Mechanism], ...]:
    """Return the mechanisms that were asked for, or say what is wrong with them."""
    kinds = tuple(only) if isinstance(only, list | tuple | set | frozenset) else (only,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
            raise TypeError(f"only= takes classes of mechanisms, such as [mechanisms.Laplace]; got {kind!r}.")
    if not kinds:
        raise ValueError("only= names no mechanism; leave it out to compare all.")
    return tuple(dict.fromkeys(kinds))


def _settings(
    kind: type[Mechanism], n: float, bounds: tuple[float, float], budget: dict[str, float]
) -> list[Mechanism]:
    return kind.candidates(n, bounds, **budget)


def _best(kind: type[Mechanism], n: int, bounds, budget, shapes: list[Shape]) -> Row | None:
    """Return the best setting of a mechanism, or None where it has none to offer."""
    return best_of(_settings(kind, n, bounds, budget), n, shapes)


def best_of(settings: Sequence[Mechanism], n: int, shapes: list[Shape]) -> Row | None:
    """Return what is to be expected of the best of some settings, or None where there are none.

    Parameters
    ----------
    settings
        Mechanisms.
    n
        Number of people.
    shapes
        What the density may look like.
    """
    made = [(mechanism, _predictions(mechanism, shapes, n)) for mechanism in settings]
    return _row(*min(made, key=lambda one: _mean_l1(one[1])), shapes) if made else None


def _predictions(mechanism: Mechanism, shapes: list[Shape], n: float) -> list[Prediction]:
    experiment = experiment_of(mechanism)
    return [predict(experiment, shape.probability, n, shape.is_given) for shape in shapes]


def _mean_l1(made: list[Prediction]) -> float:
    return float(np.mean([one.l1 for one in made]))


def _l1(mechanism: Mechanism, shapes: list[Shape], n: float) -> float:
    return _mean_l1(_predictions(mechanism, shapes, n))


def _row(mechanism: Mechanism, made: list[Prediction], shapes: list[Shape]) -> Row:
    """Return what is to be expected of a mechanism, over all shapes."""
    errors, seen = [], []
    for shape, one in zip(shapes, made, strict=True):
        estimates = one.estimates(REPETITIONS)
        errors.append(np.abs(estimates - shape.probability).sum(axis=1))
        if valleys := find_modes(shape.probability):
            shown = [np.minimum(estimates[:, a], estimates[:, b]) > estimates[:, v] for a, v, b in valleys]
            seen.append(float(np.mean(np.all(shown, axis=0))))
    low, high = np.quantile(np.concatenate(errors), [0.05, 0.95])
    return Row(
        mechanism,
        l1=_mean_l1(made),
        low=float(low),
        high=float(high),
        cells=float(np.mean([one.bias_l1 for one in made])),
        band=float(np.mean([one.band.sum() for one in made])),
        modes=float(np.mean(seen)) if seen else None,
    )
