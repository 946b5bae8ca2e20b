"""Frames of the same column in every engine that is installed."""

import importlib.util

import numpy as np
import pytest


def needs(*modules):
    """Return a mark that skips, visibly, where a module is missing."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def _pandas(z):
    import pandas as pd

    return pd.DataFrame({"z": z})


def _arrow(z):
    import pyarrow as pa

    return pa.table({"z": z if isinstance(z, np.ndarray) else pa.array(z, pa.float64())})


def _polars(z):
    import polars as pl

    return pl.DataFrame({"z": z}, schema={"z": pl.Float64}, strict=False)


def _lazy(z):
    return _polars(z).lazy()


def _duckdb(z):
    import duckdb

    return duckdb.connect().from_arrow(_arrow(z))


def _dask(z):
    import dask.dataframe as dd

    return dd.from_pandas(_pandas(z), npartitions=3)


def _pyspark(z):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return session.createDataFrame([(None if v is None else float(v),) for v in z], "z double")


def _ibis(z):
    import ibis

    return ibis.memtable(_arrow(z))


ENGINES = [
    pytest.param(_pandas, id="pandas"),
    pytest.param(_polars, id="polars", marks=needs("polars")),
    pytest.param(_lazy, id="polars-lazy", marks=needs("polars")),
    pytest.param(_arrow, id="pyarrow", marks=needs("pyarrow")),
    pytest.param(_duckdb, id="duckdb", marks=needs("duckdb", "pyarrow")),
    pytest.param(_dask, id="dask", marks=needs("dask", "pyarrow")),
    pytest.param(_pyspark, id="pyspark", marks=needs("pyspark")),
    pytest.param(_ibis, id="ibis", marks=needs("ibis")),
]
