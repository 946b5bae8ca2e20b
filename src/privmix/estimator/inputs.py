"""What scikit-learn hands to an estimator, read as what a model takes."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import xarray as xr
from sklearn.utils.validation import check_array, check_consistent_length, check_random_state, validate_data

from privmix.estimator.parts import mechanism_of
from privmix.frames import Labels, as_floats, is_table, labels_of
from privmix.frames.read import opened, refuse_masked


def read_release(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Return the release in X: numbers, or rows where the mechanism releases rows.

    Parameters
    ----------
    estimator
        Its mechanism and column say what is wanted; its ``n_features_in_`` is set or checked.
    X
        What was given.
    reset
        Whether this is a fit.
    """
    mechanism = mechanism_of(estimator)
    if mechanism.is_global and is_table(X):
        X = mechanism.check_release(X).reshape(-1, 1)
    array = validate_data(estimator, as_columns(X), reset=reset, dtype=np.float64)
    width = mechanism.row_length
    if width is None:
        return array[:, position_of(estimator, array.shape[1])]
    if estimator.column is not None or array.shape[1] != width:
        raise ValueError(
            f"{type(mechanism).__name__} releases {width} numbers a record, so X must have {width} columns and column= "
            f"must be None; X has {array.shape[1]} columns, and column={estimator.column!r}."
        )
    return array


def read_points(estimator: Any, X: Any) -> np.ndarray:
    """Return points on the scale of the confidential data; where one of several columns is used, as in a fit.

    Else they need no names: they are a grid more often than rows of a frame.
    """
    mechanism = mechanism_of(estimator)
    if estimator.column is not None:
        return read_release(estimator, X, reset=False)
    points = check_array(as_columns(X), dtype=np.float64)
    if points.shape[1] != mechanism.dimension:
        raise ValueError(
            f"points of the confidential data have {mechanism.dimension} columns; X has {points.shape[1]}."
        )
    return points[:, 0] if mechanism.dimension == 1 else points


def as_columns(X: Any) -> Any:
    """Return a series as a frame of one column, or as an array of shape (n, 1); leave everything else alone.

    A series is one column beyond doubt. An array of one axis is not, and scikit-learn refuses it.
    """
    refuse_masked(X, "X")
    if isinstance(X, xr.DataArray):
        return as_floats(X, "X").reshape(len(X), -1)
    found = opened(X)
    if isinstance(found, nw.DataFrame):
        return found.to_pandas() if found.implementation.is_pyarrow() else X
    if not isinstance(found, nw.Series):
        return X
    values = as_floats(X, "X").reshape(-1, 1)
    if not isinstance(found.name, str) or not found.name:
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=[found.name])


def position_of(estimator: Any, columns: int) -> int:
    """Return the position of the column that holds the release."""
    column = estimator.column
    if column is None:
        if columns != 1:
            raise ValueError(
                f"X has {columns} columns, but a release of {type(mechanism_of(estimator)).__name__} is one number a "
                "record: kernels are one-dimensional. Give that column alone, or say which it is with column=."
            )
        return 0
    if isinstance(column, str):
        names = list(getattr(estimator, "feature_names_in_", []))
        if column not in names:
            held = f"its columns are {', '.join(names)}" if names else "its columns have no names"
            raise ValueError(f"X has no column {column!r}: {held}.")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer) or not -columns <= column < columns:
        raise ValueError(f"column must be the name or position of one of the {columns} columns of X; got {column!r}.")
    return int(column)


def release_labels(estimator: Any, X: Any) -> Labels:
    """Return the labels of the rows of X, and the name of the column that holds the release."""
    labels = labels_of(X)
    names = labels.columns
    if estimator.column is not None and names:
        position = position_of(estimator, len(names))
        return labels._replace(name=names[position], columns=())
    return labels


def read_weights(estimator: Any, sample_weight: Any, n: int) -> np.ndarray | None:
    """Return how many records each row stands for, or None where each stands for one."""
    if sample_weight is None:
        return None
    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one entry a row; got an array of shape {weights.shape}.")
    check_consistent_length(weights, np.empty(n))
    if (weights < 0).any() or (weights != np.floor(weights)).any():
        raise ValueError(
            "sample_weight must be whole numbers, how many records were released as each row: a posterior has no "
            "meaning for others. Leave it out, or round to counts."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one record is needed.")
    if (weights == 1).all():
        return None
    mechanism = mechanism_of(estimator)
    varying = mechanism.varying_fields()
    if mechanism.is_global or varying:
        why = "makes one release of all records" if mechanism.is_global else f"has one {varying[0]} for each record"
        raise ValueError(f"{type(mechanism).__name__} {why}: sample_weight has no meaning. Leave it out.")
    return weights.astype(np.int64)


def read_seed(random_state: Any) -> Any:
    """Return a seed: a whole number or None as given, else the next number of a generator."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))
