"""A plan: its table, what it recommends, what it solves for, and wishes that cannot be met."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.signal import find_peaks

import privmix
from privmix.mechanisms import Laplace, LocalMechanism, RandomizedResponse, SquareWave, SubsetSelection
from privmix.planning.experiment import experiment_of
from privmix.planning.predict import predict
from privmix.planning.shapes import find_modes, read_shapes
from privmix.planning.solving import solve_for

BOUNDS = (-10.0, 10.0)
TWO = (Laplace, RandomizedResponse)


def three_normals(x):
    return sum(w * stats.norm.pdf(x, m, 1.0) for w, m in ((0.3, -5.0), (0.4, 0.0), (0.3, 5.0)))


@pytest.fixture(scope="module")
def made():
    return privmix.plan(BOUNDS, epsilon=1.0, n=20_000, shape=three_normals)


def test_table_has_every_local_mechanism_that_can_be_planned_best_first(made):
    table = made.table
    assert {"Laplace", "SquareWave", "RandomizedResponse"} <= set(table["mechanism"])
    assert table["l1"].is_monotonic_increasing
    assert (table["l1_low"] <= table["l1"]).all()
    assert (table["l1"] <= table["l1_high"]).all()
    assert (table["cells"] <= table["l1"] + 1e-9).all()
    assert ((table["modes"] >= 0.0) & (table["modes"] <= 1.0)).all()
    assert isinstance(made.recommended, LocalMechanism)
    assert made.recommended.guarantee.epsilon == 1.0
    assert not any(row.mechanism.is_global for row in made.rows)


def test_laplace_noise_hides_what_a_response_shows(made):
    by_name = made.table.set_index("mechanism")
    assert by_name.loc["Laplace", "l1"] > 2.5 * by_name.loc["RandomizedResponse", "l1"]
    assert by_name.loc["Laplace", "modes"] < 0.3
    assert by_name.loc["RandomizedResponse", "modes"] > 0.95


def test_numbers_and_budgets_that_are_needed_give_what_was_wanted():
    plan = privmix.plan(BOUNDS, epsilon=1.0, n=20_000, shape=three_normals, only=TWO)
    needed = plan.for_accuracy(0.15).set_index("mechanism")["needed"]
    assert needed["RandomizedResponse"] < 1e5 < 1e6 < needed["Laplace"]
    again = privmix.plan(BOUNDS, epsilon=1.0, n=round(needed["RandomizedResponse"]), shape=three_normals, only=TWO[1:])
    assert again.rows[0].l1 == pytest.approx(0.15, rel=0.05)
    budget = plan.for_accuracy(0.15, solve="budget").set_index("mechanism")["needed"]
    again = privmix.plan(BOUNDS, epsilon=budget["Laplace"], n=20_000, shape=three_normals, only=TWO[:1])
    assert again.rows[0].l1 == pytest.approx(0.15, rel=0.05)


def test_an_accuracy_that_cells_do_not_allow_is_told_with_the_least_error():
    class FourCells(RandomizedResponse):
        @classmethod
        def candidates(cls, n, bounds, **budget):
            return [cls(4, bounds=bounds, **budget)]

    plan = privmix.plan(BOUNDS, epsilon=1.0, n=1000, shape=three_normals, only=(FourCells,))
    (row,) = plan.for_accuracy(0.01).to_dict("records")
    assert math.isnan(row["needed"])
    assert row["l1"] > 0.1


def test_shapes_of_every_kind():
    rng = np.random.default_rng(1)
    exact = read_shapes(stats.norm(0.0, 2.0), BOUNDS)[0].probability
    for shape, least in ((lambda x: np.exp(-x * x / 8.0), 1e-6), (rng.normal(0.0, 2.0, 4000), 0.08)):
        for given in (shape, pd.Series(shape)) if isinstance(shape, np.ndarray) else (shape,):
            found = read_shapes(given, BOUNDS)[0].probability
            assert np.abs(found - exact).sum() < least
    at_an_edge = read_shapes(rng.exponential(1.0, 4000), (0.0, 10.0))[0].probability
    assert at_an_edge[0] * 19.2 == pytest.approx(1.0, abs=0.15)
    panel = read_shapes(None, BOUNDS)
    assert {len(find_modes(shape.probability)) for shape in panel} == {0, 1}
    assert all(shape.probability.sum() == pytest.approx(1.0) for shape in panel)


def test_modes_are_peaks_that_stand_out():
    rng = np.random.default_rng(1)
    for power in (1.0, 4.0, 10.0):
        for _ in range(20):
            p = np.convolve(rng.random(200), np.ones(9), mode="valid") ** power
            peaks = find_peaks(np.pad(p, 1), prominence=0.1 * p.max())[0] - 1
            found = find_modes(p)
            assert [(a, b) for a, _, b in found] == list(pairwise(peaks))
            assert all(p[valley] == p[a : b + 1].min() for a, valley, b in found)


def test_curves_fall_with_the_number_of_people_and_are_drawn(made):
    curves = privmix.plan(BOUNDS, epsilon=1.0, n=20_000, shape=three_normals, only=TWO).curves([1e3, 1e5, 1e7])
    for _, curve in curves.groupby("mechanism"):
        assert curve["l1"].is_monotonic_decreasing
    from privmix.plots import plot_plan

    axes = plot_plan(curves, 20_000)
    assert {line.get_label() for line in axes.lines} >= {"Laplace", "RandomizedResponse"}
    assert axes.get_xscale() == axes.get_yscale() == "log"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": None}, "epsilon=, rho="),
        ({"rho": 1.0}, "one of"),
        ({"bounds": None}, "bounds"),
        ({"bounds": (1.0, 0.0)}, "bounds"),
        ({"n": 0}, "whole number of people"),
        ({"n": 2.5}, "whole number of people"),
        ({"shape": [1.0, 2.0]}, "at least 10 numbers"),
        ({"shape": np.full(20, 99.0)}, "outside the bounds"),
        ({"shape": stats.norm(1.5 * BOUNDS[1], 1.0)}, "of the distribution of the shape lies outside the bounds"),
        ({"shape": lambda x: -x}, "must be a density"),
        ({"only": (LocalMechanism,)}, "nothing to compare"),
    ],
)
def test_bad_input_gets_a_clear_answer(given, words):
    arguments = {"bounds": BOUNDS, "epsilon": 1.0, "n": 100, "shape": three_normals, "only": (SquareWave,), **given}
    with pytest.raises(ValueError, match=words):
        privmix.plan(arguments.pop("bounds"), **arguments)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"l1": 0.0}, "l1 must be an L1 distance above 0"),
        ({"l1": np.nan}, "l1 must be an L1 distance above 0"),
        ({"l1": 2.0}, "below 2"),
        ({"l1": 0.1, "solve": "x"}, "solve"),
        ({"l1": 0.1, "only": []}, "only= names no mechanism"),
    ],
)
def test_bad_wishes_get_a_clear_answer(made, given, words):
    with pytest.raises(ValueError, match=words):
        made.for_accuracy(**given)


def test_check_compares_fits_with_what_was_predicted():
    plan = privmix.plan((0.0, 1.0), epsilon=2.0, n=500, shape=stats.beta(2.0, 5.0), only=(RandomizedResponse,))
    found = plan.check(replicates=2, draws=100, warmup=200, thin=2, chains=1)
    assert list(found["replicate"]) == [0, 1]
    assert (found["ratio"] == found["l1"] / found["predicted"]).all()
    assert found["ratio"].between(0.2, 3.0).all()
    assert found["l1"].nunique() == 2


def test_a_trusted_holder_needs_far_fewer_people():
    given = {"epsilon": 1.0, "n": 2000, "shape": three_normals}
    alone, trusted = privmix.plan(BOUNDS, **given), privmix.plan(BOUNDS, trusted=True, **given)
    assert trusted.recommended.is_global
    assert trusted.rows[0].l1 < 0.4 * alone.rows[0].l1
    assert trusted.recommended.records == 2000


def test_a_budget_in_zcdp_lets_gaussian_noise_take_part():
    names = set(privmix.plan(BOUNDS, rho=0.5, n=2000, shape=three_normals).table["mechanism"])
    assert {"Gaussian", "Laplace"} <= names


@pytest.mark.parametrize(
    ("error", "wanted", "answer"),
    [
        (lambda n: 3.0 * n**-0.35, 0.1, (30.0) ** (1.0 / 0.35)),
        (lambda n: 0.05 + 3.0 * n**-0.5, 0.1, 3600.0),
        (lambda n: 0.2 + 3.0 * n**-0.5, 0.1, math.nan),
        (lambda n: math.inf if n > 3000.0 else n**-0.5, 0.1, 100.0),
        (lambda n: math.inf if n > 3000.0 else n**-0.5, 0.01, math.nan),
        (lambda n: 2.0 / math.ceil(n / 1000.0), 0.5, 3500.0),
    ],
)
def test_what_is_needed_is_found_in_few_guesses(error, wanted, answer):
    """Straight, with a floor, without a setting beyond a limit, in steps."""
    guesses = []

    def counted(n):
        guesses.append(n)
        return error(n)

    found, _ = solve_for(counted, wanted, 10.0, 1e12, 2e4)
    assert found == pytest.approx(answer, rel=0.2, nan_ok=True)
    assert len(guesses) < 12


def test_what_was_found_is_not_asked_again():
    guesses, known = [], {2e4: 3.0 * 2e4**-0.35}

    def counted(n):
        guesses.append(n)
        return 3.0 * n**-0.35

    for wanted, asked in ((0.1, 1), (0.1, 1), (0.101, 1), (0.05, 2)):
        found, _ = solve_for(counted, wanted, 10.0, 1e12, 2e4, known=known, slope=-0.3)
        assert found == pytest.approx((3.0 / wanted) ** (1.0 / 0.35), rel=0.03)
        assert len(guesses) == asked


def test_a_plan_that_knows_no_shape_does_not_choose_too_few_cells():
    asked = {"bounds": (0.0, 1.0), "epsilon": 1.0, "n": 10_000, "only": [SubsetSelection]}
    known = privmix.plan(**asked, shape=lambda x: 1.0 + 0.5 * np.cos(2.0 * np.pi * (4.0 * x - 0.5)))
    (shape,), chosen = known.shapes, experiment_of(privmix.plan(**asked).recommended)
    assert predict(chosen, shape.probability, 10_000).l1 < 1.2 * known.rows[0].l1
