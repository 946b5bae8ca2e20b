"""Numbers out of series and frames of four libraries, and clear refusals of what are no numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

from privmix import PrivateMixture, Release, mechanisms
from privmix.estimator import PrivateMixtureEstimator
from privmix.frames import as_floats, columns_of, is_table, labels_of

VALUES = [1.5, -2.0, 3.25]
SERIES = {
    "pandas": lambda values: pd.Series(values, name="x"),
    "polars": lambda values: pl.Series("x", values),
    "pyarrow": lambda values: pa.chunked_array([pa.array(values)]),
    "pyarrow array": pa.array,
    "xarray": lambda values: xr.DataArray(np.array(values), dims="who", name="x"),
    "pandas frame": lambda values: pd.DataFrame({"x": values}),
    "polars frame": lambda values: pl.DataFrame({"x": values}),
    "pyarrow table": lambda values: pa.table({"x": values}),
}
EVERY = pytest.mark.parametrize("make", SERIES.values(), ids=SERIES.keys())


@EVERY
def test_numbers_come_out_as_they_are(make):
    found = as_floats(make(VALUES), "the data y")
    assert found.dtype == np.float64
    assert found.tolist() == VALUES
    assert as_floats(make([1, 2, 3]), "the data y").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([1, 2, 3], dtype="float32"),
        pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
        pl.Series([1, 2, 3], dtype=pl.UInt8),
        pd.Series([1.0, 2, 3], dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_types_of_numbers(column):
    assert as_floats(column, "y").tolist() == [1.0, 2.0, 3.0]


WRONG = {
    "text": ["1.5", "2"],
    "booleans": [True, False],
    "decimals": [Decimal("1.5"), Decimal("2")],
    "times": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)],
}
ADVICE = {
    "booleans": "cast them to float if 0 and 1",
    "decimals": "Cast decimals",
    "times": "such as days since a date",
}


@EVERY
@pytest.mark.parametrize("kind", WRONG)
def test_what_are_no_numbers(make, kind):
    with pytest.raises(TypeError, match=rf"^the data y must be numbers; got .*\.{'.*' + ADVICE.get(kind, '')}"):
        as_floats(make(WRONG[kind]), "the data y")


@pytest.mark.parametrize("kind", WRONG)
def test_what_are_no_numbers_in_lists_and_arrays(kind):
    for values in (WRONG[kind], np.array(WRONG[kind]), np.array(WRONG[kind], dtype=object)):
        with pytest.raises(TypeError, match=rf"(?s)^y must be numbers; got .*{ADVICE.get(kind, '')}"):
            as_floats(values, "y")


@pytest.mark.parametrize("values", [["a"], [[1.0], [1.0, 2.0]], [1j], "abc", {"a": 1.0}])
def test_other_things_are_shown(values):
    with pytest.raises(TypeError, match=r"^y must be numbers; got "):
        as_floats(values, "y")


@EVERY
def test_missing_values_are_counted(make):
    values = [1.0, float("nan"), float("nan")] if make is SERIES["xarray"] else [1.0, None, None]
    with pytest.raises(ValueError, match=r"^y has 2 (missing values|values that are NaN or infinite); remove or"):
        as_floats(make(values), "y")


HIDDEN = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, True])


@pytest.mark.parametrize(
    "read",
    [
        lambda masked: mechanisms.Laplace(scale=1.0).privatize(masked),
        lambda masked: Release.from_data(masked, mechanisms.Laplace(scale=1.0)),
        lambda masked: PrivateMixture(mechanisms.Laplace(scale=1.0)).sample(masked),
        lambda masked: mechanisms.Laplace(scale=masked),
        lambda masked: mechanisms.Laplace(epsilon=masked, bounds=(0.0, 1.0)),
        lambda masked: mechanisms.NoisyHistogram(5, bins=masked, epsilon=1.0),
        lambda masked: PrivateMixtureEstimator(mechanisms.Laplace(scale=1.0)).fit(masked.reshape(-1, 1)),
        lambda masked: as_floats([masked, masked[::-1]], "rows", rows=True),
    ],
)
def test_masked_values_are_not_read_as_what_the_mask_hides(read):
    with pytest.raises(ValueError, match=r" has [24] masked values; remove or replace them first"):
        read(HIDDEN)
    assert as_floats(HIDDEN[:1], "y").tolist() == [1.0]


def test_first_missing_value_is_named_by_its_label():
    with pytest.raises(ValueError, match=r"^y has 1 missing values; .* The first is at the label c\.$"):
        as_floats(pd.Series([1.0, 2.0, np.nan], index=list("abc")), "y")
    with pytest.raises(ValueError, match=r"^y has 1 values that are NaN or infinite; .* at the label b\.$"):
        as_floats(pd.Series([1.0, np.inf, 2.0], index=list("abc")), "y")
    with pytest.raises(ValueError, match=r"first\.$"):
        as_floats([1.0, None], "y")
    with pytest.raises(ValueError, match=r"^y has 1 missing values; remove or replace them first\.$"):
        as_floats(pl.Series([1, None]), "y")


def test_tables_give_one_column_or_rows():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert is_table(table)
        with pytest.raises(ValueError, match=r"^y must be one column; the table has 2: a, b\. Choose one of them\.$"):
            as_floats(table, "y")
        assert as_floats(table, "y", rows=True).tolist() == [[1.0, 3.0], [2.0, 4.0]]
        assert columns_of(table, ("b",), "y")["b"].tolist() == [3.0, 4.0]
        with pytest.raises(ValueError, match=r"^y is a table with the columns a, b; it needs a, c\. "):
            columns_of(table, ("a", "c"), "y")
    assert columns_of(frame.to_xarray(), ("b",), "y")["b"].tolist() == [3.0, 4.0]
    assert not is_table(frame["a"])
    assert not is_table(frame.to_numpy())


def test_numbered_columns_out_of_order_are_refused():
    frame = pd.DataFrame({"z_0": [1.0], "z_2": [2.0], "z_1": [3.0]})
    with pytest.raises(ValueError, match=r"out of order: z_0, z_2, z_1\."):
        as_floats(frame, "z", rows=True)
    assert as_floats(frame.rename(columns={"z_2": "b", "z_1": "c"}), "z", rows=True).tolist() == [[1.0, 2.0, 3.0]]


def test_lazy_frames_and_datasets_are_refused():
    with pytest.raises(TypeError, match="collect it first"):
        as_floats(pl.LazyFrame({"a": [1.0]}), "y")
    with pytest.raises(TypeError, match="Choose a variable"):
        as_floats(xr.Dataset({"a": ("i", [1.0])}), "y")


def test_labels_of_an_index():
    assert labels_of(pd.Series([1.0, 2.0], index=["a", "b"], name="x")).coords["record"].tolist() == ["a", "b"]
    assert labels_of(pd.Series([1.0, 2.0], index=["a", "b"], name="x")).name == "x"
    assert labels_of(xr.DataArray([1.0, 2.0], {"who": [7, 9]}, "who")).coords["record"].tolist() == [7, 9]
    assert labels_of(xr.DataArray([1.0, 2.0])).coords == {}
    assert labels_of(pl.Series("x", [1.0])) == ({}, "x", ())
    assert labels_of([1.0]) == ({}, None, ())
    levels = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["town", None])
    found = labels_of(pd.Series([1.0, 2.0], index=levels)).coords
    assert {name: label.tolist() for name, label in found.items()} == {"record_town": ["a", "b"], "record_1": [1, 2]}


@pytest.mark.parametrize(
    "index",
    [pd.date_range("2020", periods=2, tz="Europe/Rome"), pd.interval_range(0, 2), pd.Index([True, "a"], dtype=object)],
)
def test_labels_that_files_cannot_hold_become_text(index):
    assert labels_of(pd.Series([1.0, 2.0], index=index)).coords["record"].tolist() == [str(label) for label in index]
