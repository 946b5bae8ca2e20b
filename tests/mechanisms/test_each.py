"""A mechanism for each column: rows in and out, what it promises, missing entries, and bad input."""

import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from columns import PEOPLE, Shifted, frame_of_people
from privmix.mechanisms import (
    Counted,
    Duchi,
    Each,
    Gaussian,
    HaarWavelet,
    Identity,
    Laplace,
    NoisyHistogram,
    RandomizedResponse,
    Withheld,
)
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import ZCDP, ApproxDP, PureDP

UNIT = (0.0, 1.0)
MECHANISM = Each(**PEOPLE)
ONE = Each(PEOPLE, reports=1)
DATA = frame_of_people(50)


def test_rows_of_every_kind_are_released_alike():
    z = MECHANISM.privatize(pd.DataFrame(DATA), seed=1)
    assert list(z) == ["age", "income", "sex"]
    assert set(z["sex"]) == {"f", "m"}
    shuffled = pd.DataFrame({name: DATA[name] for name in ("sex", "age", "income")}, index=np.arange(50) + 7)
    again = MECHANISM.privatize(shuffled, seed=1)
    assert list(again.index) == list(shuffled.index)
    assert again.reset_index(drop=True).equals(z)
    assert MECHANISM.privatize(pl.DataFrame(DATA), seed=1).to_dict(as_series=False) == z.to_dict(orient="list")
    assert MECHANISM.privatize(pa.table(DATA), seed=1).to_pydict() == z.to_dict(orient="list")
    codes = np.column_stack([DATA["age"], DATA["income"], DATA["sex"] == "m"])
    rows = MECHANISM.privatize(codes, seed=1)
    assert np.array_equal(rows, MECHANISM.check_release(z))
    assert np.array_equal(rows, MECHANISM.check_release(rows))
    assert np.array_equal(rows, MECHANISM.check_release(pl.DataFrame(z)))


def test_categorical_columns_stay_categorical():
    frame = pd.DataFrame(DATA).astype({"sex": "category"})
    z = ONE.privatize(frame, seed=1)
    assert isinstance(z["sex"].dtype, pd.CategoricalDtype)
    assert list(z["sex"].cat.categories) == ["f", "m"]
    released = ONE.privatize(pl.DataFrame(DATA).with_columns(pl.col("sex").cast(pl.Categorical)), seed=1)
    assert released["sex"].dtype == pl.Enum(["f", "m"])
    assert np.array_equal(ONE.check_release(z), ONE.check_release(released), equal_nan=True)


def test_each_column_is_its_own_mechanism():
    names = Each(a=Laplace(scale=2.0, bounds=UNIT), b=Laplace(scale=0.5, bounds=UNIT))
    z = names.privatize(np.full((40_000, 2), 0.5), seed=1)
    for j, scale in enumerate((2.0, 0.5)):
        assert stats.kstest(z[:, j], stats.laplace(0.5, scale).cdf).pvalue > 1e-6
    assert abs(stats.spearmanr(z[:, 0], z[:, 1]).statistic) < 0.03


def test_one_column_a_record_is_chosen_without_looking():
    rng = np.random.default_rng(1)
    y = np.column_stack([rng.random(30_000) < 0.5, rng.random(30_000), rng.random(30_000)]) * 1.0
    three = Each(
        a=Laplace(epsilon=1, bounds=UNIT), b=Laplace(epsilon=1, bounds=UNIT), c=Duchi(1, bounds=UNIT), reports=1
    )
    there = ~np.isnan(three.privatize(y, seed=1))
    assert (there.sum(axis=1) == 1).all()
    for value in (0.0, 1.0):
        counts = there[y[:, 0] == value].sum(axis=0)
        assert stats.chisquare(counts).pvalue > 1e-6
    assert (~np.isnan(Each(three.parts, reports=2).privatize(y, seed=1))).sum(axis=1).tolist() == [2] * 30_000


def test_log_density_is_that_of_the_entries_that_are_there():
    y = MECHANISM.check_data(pd.DataFrame(DATA))
    z = ONE.perturb(np.random.default_rng(1), y)
    each = [child.logpdf(np.nan_to_num(z[:, j]), y[:, j]) for j, child in enumerate(PEOPLE.values())]
    wanted = np.where(np.isnan(z), 0.0, np.column_stack(each)).sum(axis=1)
    assert ONE.logpdf(z, y) == pytest.approx(wanted, rel=1e-12)
    haar = HaarWavelet(levels=2, epsilon=2.0, bounds=UNIT)
    wide = Each(a=haar, b=Laplace(epsilon=1.0, bounds=UNIT))
    rows, width = wide.privatize(np.full((5, 2), 0.3), seed=1), haar.row_length
    assert wide.file_columns() == [*[f"a_{k}" for k in range(width)], "b"]
    assert rows.shape == (5, width + 1)
    exact = haar.logpdf(rows[:, :width], np.full(5, 0.3)) + wide.children[1].logpdf(rows[:, width], np.full(5, 0.3))
    assert wide.logpdf(rows, np.full((5, 2), 0.3)) == pytest.approx(exact, rel=1e-12)
    rows[2, :width] = np.nan
    assert wide.logpdf(rows, np.full((5, 2), 0.3))[2] == wide.children[1].logpdf(rows[2, width], 0.3)


def worst_ratio(mechanism, grid, outputs):
    """Return the largest log-ratio of densities over records and released rows, which a pure promise must bound."""
    y = np.array(list(itertools.product(*grid)))
    z = np.array(list(itertools.product(*outputs)))
    values = np.stack([mechanism.logpdf(z, row) for row in y])
    return float((values.max(axis=0) - values.min(axis=0)).max())


class NotComposed(Each):
    """A planted bug: the promise of the worst column, as if only one were published."""

    guarantee = property(lambda self: max((c.guarantee for c in self.children), key=lambda g: g.epsilon))


GRID, OUTPUTS = [(0.0, 0.5, 1.0), (0.0, 1.0, 2.0)], [np.linspace(-5.0, 6.0, 45), (0.0, 1.0, 2.0)]
PAIR = {"a": Laplace(epsilon=1.5, bounds=UNIT), "b": RandomizedResponse(categories=("x", "y", "z"), epsilon=0.7)}


def test_promise_is_the_worst_case():
    assert worst_ratio(Each(PAIR), GRID, OUTPUTS) == pytest.approx(Each(PAIR).guarantee.epsilon, rel=1e-9)
    one = [[*OUTPUTS[0], np.nan], [np.nan]], [[np.nan], [*OUTPUTS[1]]]
    worst = max(worst_ratio(Each(PAIR, reports=1), GRID, outputs) for outputs in one)
    assert worst == pytest.approx(Each(PAIR, reports=1).guarantee.epsilon, rel=1e-9)


def test_a_promise_that_is_not_composed_is_seen():
    assert worst_ratio(NotComposed(PAIR), GRID, OUTPUTS) > NotComposed(PAIR).guarantee.epsilon + 0.5


GAUSSIAN = Gaussian(rho=0.5, bounds=UNIT)
APPROXIMATE = Gaussian(epsilon=1.0, delta=1e-5, bounds=UNIT)
LAPLACE = Laplace(epsilon=2.0, bounds=UNIT)


@pytest.mark.parametrize(
    ("columns", "reports", "promise"),
    [
        ((LAPLACE, LAPLACE, PAIR["a"]), None, PureDP(5.5)),
        ((LAPLACE, LAPLACE, PAIR["a"]), 2, PureDP(4.0)),
        ((LAPLACE, LAPLACE, PAIR["a"]), 1, PureDP(2.0)),
        ((LAPLACE, GAUSSIAN), None, ZCDP(2.5)),
        ((LAPLACE, GAUSSIAN), 1, ZCDP(2.0)),
        ((GAUSSIAN, GAUSSIAN), 1, ZCDP(0.5)),
        ((LAPLACE, APPROXIMATE), None, ApproxDP(3.0, 1e-5)),
        ((LAPLACE, APPROXIMATE), 1, ApproxDP(2.0, 1e-5)),
        ((Laplace(scale=1.0), LAPLACE), None, None),
    ],
)
def test_promises_add_up(columns, reports, promise):
    found = Each(enumerate_names(columns), reports=reports).guarantee
    assert (found is None) == (promise is None)
    if promise is not None:
        assert type(found) is type(promise)
        assert {k: v for k, v in found.to_dict().items() if isinstance(v, float)} == pytest.approx(
            {k: v for k, v in promise.to_dict().items() if isinstance(v, float)}, rel=1e-9
        )


def enumerate_names(columns):
    return [(f"c{j}", column) for j, column in enumerate(columns)]


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


@pytest.mark.parametrize(
    "mechanism", [MECHANISM, ONE, Each(a=Laplace(scale=[1.0, 2.0]), b=LAPLACE)], ids=["all", "one", "own"]
)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_json])
def test_copies_are_equal(mechanism, again):
    other = again(mechanism)
    assert other == mechanism
    assert hash(other) == hash(mechanism)
    assert other.names == mechanism.names


def test_different_ones_are_unequal():
    assert len({MECHANISM, ONE, Each(PAIR), Each(PAIR, reports=1), Each(x=PAIR["a"], b=PAIR["b"])}) == 5
    assert Each(a=LAPLACE, b=GAUSSIAN) != Each(b=GAUSSIAN, a=LAPLACE)
    assert repr(ONE).endswith("categories=('f', 'm')), reports=1)")


def test_values_outside_are_clipped_column_by_column():
    y = np.array([[-1.0, 0.5], [0.5, 2.0], [0.5, 3.0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Each(a=LAPLACE, b=LAPLACE).privatize(y, seed=1)
    told = [str(warning.message) for warning in caught]
    assert told == [
        "1 of 3 values of a lie outside the bounds [0, 1] and were clipped.",
        "2 of 3 values of b lie outside the bounds [0, 1] and were clipped.",
    ]
    assert {warning.filename for warning in caught} == {__file__}


def test_a_start_is_plausible_where_entries_are_missing():
    z = np.array([[0.2, np.nan], [np.nan, 0.7], [0.4, np.nan]])
    start = Each(a=LAPLACE, b=LAPLACE).initial(z)
    assert start.tolist() == [[0.2, 0.7], [0.2, 0.7], [0.4, 0.7]]


TWO = {"a": LAPLACE, "b": LAPLACE}
BAD_PARTS = [
    (lambda: Each(a=LAPLACE), "Each needs at least two columns; for records of one number give the part itself."),
    (lambda: Each(**{"a/b": LAPLACE, "c": LAPLACE}), "Each: 'a/b' cannot be the name of a column. Choose another."),
    (
        lambda: Each(a=LAPLACE, b=Each(TWO)),
        "Each: column 'b': Each perturbs records of 2 numbers, and a column is one; ",
    ),
    (lambda: Each(a=LAPLACE, b=Identity()), "Each: column 'b' is published as it is, beside columns with noise; "),
    (lambda: Each(a=LAPLACE, b=Withheld(LAPLACE, below=0.1)), "Each: column 'b': ProcessedRecords withholds "),
    (lambda: Each(TWO, reports=3), "Each: reports must be at most the number of columns, 2; got 3."),
    (lambda: Each(TWO, reports=0), "Each: reports must be a whole number of at least 1; got 0."),
    (lambda: Each([("a", LAPLACE), ("a", LAPLACE)]), "Each has two columns of one name: a, a."),
    (
        lambda: Each(x_0=LAPLACE, x=HaarWavelet(levels=1, epsilon=1.0, bounds=UNIT)),
        "Each: a release would have two columns 'x_0'. Rename a column.",
    ),
    (
        lambda: Counted(Each(count=RandomizedResponse(2, epsilon=1.0, bounds=UNIT), x=Duchi(epsilon=1.0, bounds=UNIT))),
        "Counted: a table would have two columns 'count'. Rename the column of the records.",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD_PARTS)
def test_parts_that_make_no_columns(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("part", [3.0, Laplace, NoisyHistogram(10, 4, epsilon=1.0, bounds=UNIT)])
def test_what_is_no_mechanism_for_each_record(part):
    with pytest.raises(TypeError, match=r"^Each: column 'b' needs a LocalMechanism; got "):
        Each(a=LAPLACE, b=part)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((3, 2)), r"^the data y must be rows of 3 columns \(age, income, sex\), .* got shape \(3, 2\)"),
        (np.zeros(3), r"got shape \(3,\)"),
        (np.zeros((0, 3)), "^the data y is empty"),
        (pd.DataFrame(DATA)[["age", "sex"]], "^the data y has no column 'income'; the columns are age, income, sex"),
        (pd.DataFrame(DATA).assign(more=1.0), "^the data y has 'more' besides"),
        (pd.DataFrame(DATA).replace({"sex": {"m": "x"}}), r"^column 'sex': .* none of the categories 'f', 'm'; .* 'x'"),
        (pd.DataFrame(DATA).assign(age="old"), "^column 'age': the data y must be numbers"),
        (pd.DataFrame(DATA).assign(age=np.nan), "^column 'age': the data y has 50 missing values"),
        (pd.DataFrame(DATA).assign(sex=None), "^column 'sex': the data y has 50 missing values"),
        (pd.DataFrame([[1.0, 2.0, 3.0]]), "^the data y has no column 'age', 'income', 'sex' and '0', '1', '2' besides"),
        ({**DATA, "age": [1.0]}, "^the data y has columns of different lengths: age 1, income 50, sex 50"),
    ],
)
def test_data_that_do_not_fit(rows, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MECHANISM.privatize(rows)


@pytest.mark.parametrize(
    ("mechanism", "rows", "message"),
    [
        (MECHANISM, np.zeros((3, 4)), r"^the release z must be rows of 3 columns"),
        (MECHANISM, np.full((3, 3), np.nan), "^all entries of column 'age' are missing"),
        (
            MECHANISM,
            np.array([[1.0, 1.0, 2.0]]),
            "^column 'sex': .* no place of a category, from 0 to 1; the first is 2",
        ),
        (MECHANISM, np.array([[1.0, 99.0, 1.0]]), "^column 'income': SquareWave"),
        (ONE, np.array([[1.0, np.nan, np.nan], [1.0, 1.0, 1.0]]), "^all entries|^row 2 has 3 entries, .* reports 1"),
        (
            Each(a=HaarWavelet(levels=1, epsilon=1.0, bounds=UNIT), b=LAPLACE),
            np.array([[1.0, np.nan, 1.0, 1.0]]),
            "^column 'a': row 1 has some of its 3 numbers, and others missing",
        ),
        (Each(a=Identity(), b=Identity()), np.array([[1.0, 1.0], [np.nan, 1.0]]), "^entries are missing from records"),
        (Each(a=Laplace(scale=[1.0, 2.0]), b=LAPLACE), np.zeros((3, 2)), "^column 'a': Laplace has one scale for each"),
    ],
)
def test_releases_that_do_not_fit(mechanism, rows, message):
    with pytest.raises(ValueError, match=message):
        mechanism.check_release(rows)


def test_a_mechanism_of_ones_own_is_a_column():
    mechanism = Each(a=Shifted(), b=LAPLACE)
    z = mechanism.privatize(np.full((1000, 2), 0.5), seed=1)
    assert (z[:, 0] >= 0.5).all()
    assert mechanism.guarantee == PureDP(3.0)


def test_labels_of_an_array_are_read():
    two = Each(TWO)
    labelled = pd.DataFrame({"b": [0.1, 0.2, 0.3], "a": [0.5, 0.6, 0.7]}).to_xarray().to_dataarray(dim="column")
    wanted = [[0.5, 0.1], [0.6, 0.2], [0.7, 0.3]]
    assert two.check_release(labelled.T).tolist() == two.check_release(labelled).tolist() == wanted
    records = labelled.T.assign_coords(index=["p", "q", "r"]).drop_vars("column")
    assert two.check_release(records).tolist() == [row[::-1] for row in wanted]
    with pytest.raises(ValueError, match=r"^the release z has no column 'a' and 'c' besides"):
        two.check_release(labelled.T.assign_coords(column=["b", "c"]))


def test_log_density_reads_frames_by_name_and_refuses_other_widths():
    y, z = pd.DataFrame(DATA), MECHANISM.privatize(pd.DataFrame(DATA), seed=1)
    expected = MECHANISM.logpdf(MECHANISM.check_release(z), MECHANISM.check_data(y))
    assert np.array_equal(MECHANISM.logpdf(z[["sex", "age", "income"]], y[["income", "sex", "age"]]), expected)
    for narrow in (np.zeros((3, 1)), 0.5, np.zeros((3, 4))):
        with pytest.raises(ValueError, match=r"^Each takes rows of 3 numbers; the data y have shape"):
            MECHANISM.logpdf(np.zeros((3, 3)), narrow)


def test_missing_numbers_of_every_kind():
    two = Each(TWO)
    objects = pd.DataFrame({"a": np.array([0.1, pd.NA, None], dtype=object), "b": [0.1, 0.2, 0.3]})
    assert np.array_equal(two.check_release(objects)[:, 0], [0.1, np.nan, np.nan], equal_nan=True)
    with pytest.raises(ValueError, match=r"^column 'a': the data y has 2 missing values"):
        two.privatize(objects)
