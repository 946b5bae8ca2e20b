"""Rows of few outputs, kept as counts of cells: their probabilities, joint test, twin, tables, and planted bugs."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import privmix
from columns import PEOPLE, mixture
from curves.test_moments import draws_of
from privmix import kernels, priors, samplers
from privmix.curves.counts import chances_finder
from privmix.engine import Plan
from privmix.engine.chains import run_chain
from privmix.mechanisms import Counted, Each, RandomizedResponse, SubsetSelection
from privmix.pairs import product
from privmix.samplers.binned import bins
from privmix.testing import Mutant, joint_test
from privmix.testing.twin import twin_gap

pytestmark = pytest.mark.xdist_group("columns")

BOUNDS = (-6.0, 6.0)
COLUMNS = {
    "a": RandomizedResponse(cells=3, epsilon=3.0, bounds=BOUNDS),
    "b": SubsetSelection(cells=4, size=2, epsilon=3.0, bounds=BOUNDS),
    "c": RandomizedResponse(categories=("x", "y"), epsilon=2.0),
}
KERNEL = kernels.Product(
    a=kernels.Normal(), b=kernels.Normal(mean=1.0), c=kernels.Categorical(("x", "y"), weight=(0.5, 2.0))
)
#: two of three columns are reported, of unequal numbers of outputs: what is symmetric hides mistakes
MODEL = mixture(KERNEL, **COLUMNS, reports=2)


ON_RECORDS = samplers.Neal5(exact=True, update="impute")


def test_cells_are_outputs_of_each_column_or_missing():
    outputs = MODEL.mechanism.outputs
    assert outputs.shape == (4 * 7 * 3, 3)
    assert list(MODEL.mechanism.place_of(outputs)) == list(range(len(outputs)))
    z = MODEL.mechanism.perturb(np.random.default_rng(2), np.random.default_rng(1).normal(size=(50, 3)))
    assert np.array_equal(outputs[MODEL.mechanism.place_of(z)], z, equal_nan=True)


def test_probability_of_a_cell_is_the_product_of_those_of_its_columns():
    """Against the normal law by SciPy; a missing entry has probability 1."""
    theta = np.array([[-1.0, 4.0, 2.0, 9.0, 0.3, 0.7]])
    model = MODEL.__class__(Counted(MODEL.mechanism), KERNEL, MODEL.prior)
    found = chances_finder(model, draws_of([1.0], theta))(np.array([0])).reshape(4, 7, 3)
    masses = []
    for law, mechanism in ((stats.norm(-1.0, 2.0), COLUMNS["a"]), (stats.norm(2.0, 3.0), COLUMNS["b"])):
        edges = np.linspace(*mechanism.bounds, mechanism.cells + 1)
        edges[0], edges[-1] = -np.inf, np.inf
        masses.append(np.diff(law.cdf(edges)))
    expected = np.ones((1,))
    for mass, mechanism in zip([*masses, theta[0, 4:]], COLUMNS.values(), strict=True):
        sets = mechanism.sets_of_cells()
        odds = np.where(sets, np.exp(mechanism.guarantee.epsilon), 1.0)
        column = (odds / odds.sum(axis=0)) @ mass
        assert column.sum() == pytest.approx(1.0)
        expected = np.multiply.outer(expected, np.append(column, 1.0))
    assert found == pytest.approx(expected[0] / expected.sum(), rel=1e-9)


def test_joint_law_is_unchanged():
    result = joint_test(MODEL, samplers.Binned())
    assert not result.rejected, str(result)


def test_plain_python_makes_the_same_draws():
    assert twin_gap(MODEL, samplers.Binned(), n=12) < 1e-9


BUGS = [
    Mutant(
        "cells of columns in the wrong order",
        ((product.spread_over_cells, "out[b * count + o] = chance", "out[o * held + b] = chance"),),
        MODEL,
        samplers.Binned(),
    ),
    Mutant(
        "missing entry counted as an output",
        ((bins.nearest_output, "return len(outputs)", "return 0"),),
        MODEL,
        samplers.Binned(),
    ),
    Mutant(
        "shares moved without the Jacobian",
        ((kernels.Categorical.shift, "return step - count * math.log(total)", "return step"),),
        MODEL,
        samplers.Binned(),
    ),
]


@pytest.mark.parametrize(
    "bug", [BUGS[2], *[pytest.param(bug, marks=pytest.mark.long) for bug in BUGS[:2]]], ids=lambda bug: bug.name
)
def test_planted_bugs_are_rejected(bug):
    result = joint_test(bug.model, bug.sampler, replacements=bug.replacements())
    assert result.rejected, str(result)


def plan_of(mechanism, z, warmup=0):
    model = privmix.PrivateMixture(mechanism, KERNEL, priors.DirichletProcess((2.0, 1.0)))
    return Plan(model, samplers.Binned(), z, 20, warmup, 1, allocations=False)


def test_a_table_goes_on_as_the_chain_of_its_records():
    counted = Counted(MODEL.mechanism)
    z = MODEL.mechanism.perturb(np.random.default_rng(2), np.random.default_rng(1).normal(size=(200, 3)))
    end = run_chain(plan_of(MODEL.mechanism, z, 30), np.random.SeedSequence(3)).end
    theirs = run_chain(plan_of(MODEL.mechanism, z), end).draws
    ours = run_chain(plan_of(counted, counted.count(z)), end).draws
    assert len(np.unique(theirs.concentration)) > 1
    for name, array in ours._asdict().items():
        assert np.array_equal(array, getattr(theirs, name), equal_nan=True), name


@pytest.mark.long
def test_counts_say_what_the_records_say():
    """The same posterior by the sampler on records, which knows nothing of cells."""
    model = mixture(kernels.Product(a=KERNEL.children[0], b=KERNEL.children[2]), a=COLUMNS["a"], b=COLUMNS["c"])
    rng = np.random.default_rng(1)
    y = np.where(rng.random((60, 1)) < 0.5, [-3.0, 0.0], [3.0, 1.0]) + np.outer(rng.normal(size=60), [1.0, 0.0])
    z, how = model.mechanism.perturb(rng, y), {"draws": 8000, "warmup": 1000, "thin": 2, "chains": 4}
    fits = [model.sample(z, sampler, seed=1, **how) for sampler in (samplers.Binned(), ON_RECORDS)]
    tables = [fit.summary(at={"a": [-4.0, 0.0, 3.0], "b": ["x"]}) for fit in fits]
    together = [fit.density_draws({"a": [-3.0, 3.0], "b": ["x", "y"]}) for fit in fits]
    means = [table["mean"].drop("acceptance") for table in tables]
    error = np.sqrt(sum((table["sd"] ** 2 / table["ess_bulk"]).drop("acceptance") for table in tables))
    assert (np.abs(means[0] - means[1]) / error).max() < 5.0
    joint = [values.mean(["chain", "draw"]).values for values in together]
    assert joint[0] == pytest.approx(joint[1], rel=0.05)


CELLS = {
    "age": RandomizedResponse(cells=4, epsilon=4.0, bounds=(0.0, 100.0)),
    "income": RandomizedResponse(cells=3, epsilon=4.0, bounds=(0.0, 10.0)),
}


@pytest.fixture(scope="module")
def table():
    mechanism = Each(CELLS)
    rng = np.random.default_rng(1)
    young = rng.random(600) < 0.4
    y = np.column_stack([np.where(young, 25.0, 70.0), np.where(young, 2.0, 6.0)]) + rng.normal(size=(600, 2))
    z = mechanism.perturb(rng, y)
    z[:50, 1] = np.nan
    return Counted(mechanism), Counted(mechanism).count(z)


def test_a_table_of_cells_is_fitted_and_answers_by_column(table):
    counted, counts = table
    fit = privmix.fit(counts, counted, draws=60, warmup=60, thin=1, chains=2, seed=1)
    assert fit.sampler == samplers.Binned()
    assert fit.records == 600
    income = fit.marginal("income")
    assert income.model.mechanism == Counted(CELLS["income"])
    assert income.records == 550
    assert np.array_equal(income.plan.z, counts.reshape(5, 4).sum(axis=0)[:-1])
    assert income.moments()["mean"].shape == (5,)
    assert float(fit.correlation()["mean"][0, 1]) > 0.0
    assert {"age: fit to the release", "income: fit to the release"} <= {f.title for f in fit.check(replicates=20)}
    assert fit.conditional("income", age=25.0).moments()["mean"].shape == (5,)
    made = fit.predictive(5, seed=1).to_dataframe()
    assert list(made) == ["age", "income", "released_age", "released_income"]


def test_a_table_of_cells_is_saved_read_and_added_up(table, tmp_path):
    counted, counts = table
    release = privmix.Release(counts, counted)
    release.save(tmp_path / "cells.csv")
    assert privmix.Release.load(tmp_path / "cells.csv") == release
    assert (release + release).records == 1200
    frame = counted.to_frame(counts)
    assert list(frame) == ["age", "income", "count"]
    shuffled = frame[frame["count"] > 0].sample(frac=1.0, random_state=1)
    assert np.array_equal(counted.check_release(shuffled), counts)
    with pytest.raises(ValueError, match=r"^the table of counts has two rows for one cell"):
        counted.check_release(pd.concat([frame, frame[:1]]))


def test_many_records_of_few_outputs_are_counted_by_default(table):
    counted, counts = table
    z = np.repeat(counted.places, counts.astype(int), axis=0)
    fit = privmix.fit(z, counted.mechanism, draws=10, warmup=10, thin=1, chains=2, seed=1)
    assert fit.sampler == samplers.Binned()
    assert "600 records of several columns, kept as counts of 20 cells" in fit.datatree.attrs["auto"]
    few = privmix.fit(z[::20], counted.mechanism, draws=2, warmup=2, thin=1, chains=2, seed=1)
    assert few.sampler != samplers.Binned()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (PEOPLE, r"^Counted: column 'age' \(Laplace\) releases more than a few values; counts of cells need few"),
        (
            {name: RandomizedResponse(cells=30, epsilon=1.0, bounds=(0.0, 1.0)) for name in "abc"},
            r"^Counted: the columns make 29,791 cells, more than 8,192. Fit the records, or fewer columns.",
        ),
    ],
)
def test_what_does_not_come_in_cells(columns, message):
    with pytest.raises(ValueError, match=message):
        Counted(Each(columns))
    with pytest.raises(ValueError, match=message[10:30]):
        samplers.Binned().check(privmix.default_model(Each(columns)))


def test_a_two_way_table_of_categories_is_read_by_name():
    counted = Counted(Each(sex=PEOPLE["sex"], region=RandomizedResponse(categories=("n", "s"), epsilon=1.0)))
    frame = pd.DataFrame({"region": ["s", "n", None], "sex": ["f", "m", "f"], "count": [3, 5, 2]})
    counts = counted.check_release(frame).reshape(3, 3)
    assert (counts[0, 1], counts[1, 0], counts[0, 2], counts.sum()) == (3.0, 5.0, 2.0, 10.0)
    assert np.array_equal(counted.check_release(counted.to_frame(counts.reshape(-1))), counts.reshape(-1))
    samplers.Binned().check(privmix.default_model(counted))
    with pytest.raises(ValueError, match=r"column 'region'.*none of the categories"):
        counted.check_release(frame.replace("s", "west"))


def test_counting_where_the_data_are_is_for_one_column():
    with pytest.raises(ValueError, match=r"^count is for one column; of rows count with mechanisms.Counted"):
        privmix.count(pd.DataFrame({"age": [0.0], "income": [1.0]}), "age", Each(CELLS))
