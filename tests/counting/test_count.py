"""Counts of every engine equal NumPy's, to the last record: off edges, on edges and beside them, with nulls and NaN."""

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import privmix
from counting.engines import ENGINES, _pandas
from privmix.counting.bins import bin_counts
from privmix.mechanisms import Counted, Gaussian, Laplace, RandomizedResponse, SquareWave

LAPLACE = Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
WAVE = SquareWave(epsilon=1.0, bounds=(0.0, 1.0))
RESPONSE = RandomizedResponse(cells=16, epsilon=1.0, bounds=(0.0, 1.0))
# Edges at multiples of .1, on which engines that take floor(x/width) disagree: .3, .6, .7.
LATTICE = Counted(Laplace(epsilon=40.0, bounds=(0.0, 1.0)), 30, (-1.0, 2.0))


def on_edges(counted):
    edges = counted.edges
    return np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [1e300, -1e300]])


def numbers(kind):
    rng = np.random.default_rng(1)
    if kind == "continuous":
        return Counted(LAPLACE), rng.laplace(0.0, 6.0, 20_000)
    if kind == "edges":
        return Counted(LAPLACE, 777), on_edges(Counted(LAPLACE, 777))
    if kind == "many bins":
        counted = Counted(Gaussian(epsilon=50.0, delta=1e-6, bounds=(0.0, 1e6)))
        return counted, np.concatenate([on_edges(counted), rng.uniform(-1e5, 1.1e6, 5000)])
    if kind == "range":
        return Counted(WAVE), WAVE.privatize(rng.random(5000), seed=2)
    return Counted(RESPONSE), rng.integers(0, 16, 5000).astype(float)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["continuous", "edges", "many bins", "range", "outputs"])
def test_counts_equal_numpy(engine, kind):
    counted, z = numbers(kind)
    release = privmix.count(engine(z), "z", counted.mechanism, None if kind == "outputs" else counted.bins)
    assert release.mechanism == counted
    if counted.outputs is not None:
        expected = [np.count_nonzero(z == value) for value in counted.outputs]
    else:
        expected = np.histogram(z, [-np.inf, *counted.edges[1:-1], np.inf])[0].tolist()
    assert release.counts.tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_lattice_values_are_in_the_bin_that_they_begin(engine):
    z = np.round(np.arange(-9, 20) * 0.1, 1)
    counts, missing, strange = bin_counts(nw.from_native(engine(z)).lazy(), "z", LATTICE)
    assert (missing, strange) == (0, 0)
    assert counts.tolist() == np.histogram(z, [-np.inf, *LATTICE.edges[1:-1], np.inf])[0].tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mechanism", [LAPLACE, WAVE, RESPONSE], ids=lambda mechanism: type(mechanism).__name__)
def test_missing_values_are_refused_or_dropped(engine, mechanism):
    z = [0.0, None, 1.0, float("nan"), float("inf"), 1.0, float("-inf")]
    with pytest.raises(ValueError, match=r"the column 'z' has 4 values that are missing, NaN or infinite\..*drop"):
        privmix.count(engine(z), "z", mechanism)
    with pytest.warns(UserWarning, match="4 of 7 values of the column 'z' are missing"):
        release = privmix.count(engine(z), "z", mechanism, missing="drop")
    assert release.counts.tolist() == Counted(mechanism).count(np.array([0.0, 1.0, 1.0])).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("mechanism", "z"), [(WAVE, [0.5, 3.0]), (RESPONSE, [0.0, 0.5, 16.0])])
def test_numbers_that_the_mechanism_does_not_release(engine, mechanism, z):
    with pytest.raises(ValueError, match=f"{len(z) - 1} values that {type(mechanism).__name__} does not release"):
        privmix.count(engine(z), "z", mechanism)


def frames_of(values, kind):
    """Return a column of names as pandas, Polars, Arrow, DuckDB and Dask hold it."""
    duckdb, dd = pytest.importorskip("duckdb"), pytest.importorskip("dask.dataframe")
    table = pa.table({"z": pa.array(values, kind)})
    pandas = table.to_pandas()
    return [
        pandas,
        pandas.astype({"z": "category"}),
        table,
        pl.from_arrow(table).lazy(),
        duckdb.connect().from_arrow(table),
        dd.from_pandas(pandas, npartitions=2),
    ]


def test_names_of_categories_are_counted_where_they_are():
    mechanism = RandomizedResponse(categories=("no", "maybe", "yes"), epsilon=1.0)
    for frame in frames_of(["yes", "no", None, "yes"], pa.string()):
        with pytest.raises(ValueError, match="the column 'z' has 1 values that are missing"):
            privmix.count(frame, "z", mechanism)
        with pytest.warns(UserWarning, match="1 of 4 values"):
            assert privmix.count(frame, "z", mechanism, missing="drop").counts.tolist() == [1.0, 0.0, 2.0]
    for frame in frames_of(["yes", "never"], pa.string()):
        with pytest.raises(ValueError, match="1 values that RandomizedResponse does not release"):
            privmix.count(frame, "z", mechanism)
    with pytest.raises(TypeError, match="must be numbers; it is of type String"):
        privmix.count(frames_of(["yes"], pa.string())[0], "z", RESPONSE)


def test_numbers_that_are_names_are_counted_as_names():
    mechanism = RandomizedResponse(categories=("1", "0"), epsilon=1.0)
    for frame in frames_of([1, 1, 0], pa.int64())[2:]:
        assert privmix.count(frame, "z", mechanism).counts.tolist() == [2.0, 1.0]


def test_integers_and_single_precision_are_counted():
    import pandas as pd

    z = np.arange(-20, 20)
    expected = Counted(LAPLACE).count(z.astype(float)).tolist()
    assert privmix.count(pd.DataFrame({"z": z}), "z", LAPLACE).counts.tolist() == expected
    assert privmix.count(pd.DataFrame({"z": z.astype(np.float32)}), "z", LAPLACE).counts.tolist() == expected


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: privmix.count(_pandas([1.0]), "x", LAPLACE), ValueError, "has no column 'x'; it has 'z'"),
        (lambda: privmix.count(_pandas(["a"]), "z", LAPLACE), TypeError, "must be numbers; it is of type String"),
        (lambda: privmix.count(np.ones(3), "z", LAPLACE), TypeError, "count takes a frame of pandas.*got ndarray"),
        (lambda: privmix.count(_pandas([1.0]), "z", LAPLACE, missing="keep"), ValueError, "'refuse' or 'drop'"),
        (lambda: privmix.count(_pandas(np.zeros(0)), "z", LAPLACE), ValueError, "no records to count"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
