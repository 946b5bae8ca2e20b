"""Mechanisms over named categories: names in and out, and the same law as cells of width one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from privmix import kernels
from privmix.mechanisms import Counted, Laplace, RandomizedResponse, SubsetSelection, UnaryEncoding
from privmix.model import PrivateMixture, default_model
from privmix.pairs import find
from privmix.privacy import audit

NAMES = ("no", "maybe", "yes", "often")
KINDS = [RandomizedResponse, SubsetSelection, UnaryEncoding]
CODES = np.arange(4.0)


@pytest.mark.parametrize("kind", KINDS)
def test_categories_are_cells(kind):
    named, cells = kind(categories=NAMES, epsilon=1.5), kind(4, epsilon=1.5, bounds=(-0.5, 3.5))
    y = np.repeat(CODES, 50)
    assert np.array_equal(named.privatize(y, seed=1), cells.privatize(y, seed=1))
    z = cells.privatize(y, seed=2)
    assert np.array_equal(named.logpdf(z, y), cells.logpdf(z, y))
    assert named.guarantee == cells.guarantee
    assert named != cells
    assert np.array_equal(np.unique(named.initial(z)), np.unique(named.initial(z).round()))
    assert audit(named).holds


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_read_and_wrong_ones_refused(kind):
    mechanism = kind(categories=NAMES, epsilon=1.5)
    texts = ["no", "yes", "often", "no"]
    for column in (texts, np.array(texts), pd.Series(texts), pd.Series(texts, dtype="category"), pl.Series(texts)):
        assert mechanism.check_data(column).tolist() == [0.0, 2.0, 3.0, 0.0]
    with pytest.raises(ValueError, match=r"none of the categories 'no', 'maybe', 'yes', 'often'; the first is 'never'"):
        mechanism.check_data(["no", "never"])
    with pytest.raises(ValueError, match="1 missing values"):
        mechanism.check_data(["no", None])
    with pytest.raises(ValueError, match=r"no place of a category, from 0 to 3; the first is 1\.5"):
        mechanism.check_data([0.0, 1.5])


def test_a_response_is_a_name_again():
    mechanism = RandomizedResponse(categories=NAMES, epsilon=1.5)
    column = pd.Series(["no", "yes"] * 20, index=np.arange(40) + 3, name="answer")
    z = mechanism.privatize(column, seed=1)
    assert set(z) <= set(NAMES)
    assert z.name == "answer"
    assert list(z.index) == list(column.index)
    assert mechanism.privatize(column.to_numpy(), seed=1).tolist() == mechanism.check_release(z).tolist()
    assert mechanism.to_columns(mechanism.check_release(z))["z"].texts() == list(z)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"categories": ("one",)}, "categories must be two or more names"),
        ({"categories": "yes"}, "categories must be two or more names"),
        ({"categories": (1, 2)}, "Write numbers as text"),
        ({"categories": ("a", "b", "a")}, "a category is named twice"),
        ({"categories": NAMES, "cells": 5}, "give no cells, bounds or staggered"),
        ({"categories": NAMES, "bounds": (0.0, 1.0)}, "give no cells, bounds or staggered"),
    ],
)
def test_categories_that_are_none(kind, more, message):
    with pytest.raises(ValueError, match=message):
        kind(epsilon=1.0, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_closed_form_is_the_sum_over_categories(kind):
    mechanism, kernel = kind(categories=NAMES, epsilon=1.5), kernels.Categorical(NAMES)
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    z = mechanism.privatize(np.repeat(CODES, 3), seed=1)
    row, convolution = np.concatenate([shares, np.log(shares)]), find(mechanism, kernel).convolution
    from privmix.jit import bind
    from privmix.mechanisms.slots import log_q

    log_g = bind(convolution.log_g, {log_q: type(mechanism).log_q}, compiled=False)
    exact = np.log(np.exp(mechanism.logpdf(z[:, None], CODES[None, :])) @ shares)
    encoded = mechanism.encode(z)
    assert [log_g(mechanism, kernel, one, row) for one in encoded] == pytest.approx(exact, rel=1e-12)
    draw = bind(convolution.sample, {log_q: type(mechanism).log_q}, compiled=False)
    rng = np.random.default_rng(1)
    counts = np.bincount([int(draw(mechanism, kernel, rng, encoded[0], row)) for _ in range(20_000)], minlength=4)
    weights = np.exp(mechanism.logpdf(z[0], CODES)) * shares
    assert stats.chisquare(counts, 20_000 * weights / weights.sum()).pvalue > 1e-6


def test_categories_and_numbers_are_not_mixed_up():
    response = RandomizedResponse(categories=NAMES, epsilon=1.5)
    with pytest.raises(
        ValueError, match=r"^RandomizedResponse is for the categories no, maybe, yes, often, but Normal"
    ):
        PrivateMixture(response, kernels.Normal())
    with pytest.raises(ValueError, match=r"^Laplace is for numbers, but Categorical for the categories"):
        PrivateMixture(Laplace(epsilon=1.0, bounds=(0.0, 1.0)), kernels.Categorical(NAMES))
    with pytest.raises(ValueError, match="but Categorical for the categories no, yes"):
        PrivateMixture(response, kernels.Categorical(("no", "yes")))
    assert default_model(response).kernel == kernels.Categorical(NAMES)
    with pytest.raises(ValueError, match="resolution is for records of one number"):
        default_model(response, resolution=1.0)


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, list, np.array])
def test_numbers_that_are_names_are_read_as_names(kind):
    """A column of "1" and "0" comes back from a file as numbers: taken for places, they would be exchanged."""
    swapped = RandomizedResponse(categories=("1", "0"), epsilon=1.0)
    assert swapped.check_data(kind([1, 0, 0])).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="none of the categories '1', '0'; the first is '2'"):
        swapped.check_release(kind([1, 2]))


def test_numbers_that_are_places_are_read_as_such():
    """An array of floats is what privatize gives for one; names that are their own places leave nothing open."""
    swapped, plain = (RandomizedResponse(categories=names, epsilon=1.0) for names in (("1", "0"), ("0", "1")))
    assert swapped.check_release(np.array([1.0, 0.0])).tolist() == [1.0, 0.0]
    assert swapped.check_release(swapped.privatize(np.array([0.0, 1.0]), seed=1)).tolist() == [0.0, 1.0]
    assert plain.check_data(pd.Series([1, 0])).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="the categories '1' and '01' are one number: give them as text"):
        RandomizedResponse(categories=("1", "01"), epsilon=1.0).check_data([1, 1])


def test_numbers_with_a_fraction_or_missing_may_be_names():
    grades = RandomizedResponse(categories=("1", "2.5", "none"), epsilon=1.0)
    assert grades.check_data(pd.Series([2.5, 1.0])).tolist() == [1.0, 0.0]
    assert np.array_equal(grades.read_column(pd.Series([2.5, np.nan])), [1.0, np.nan], equal_nan=True)


def test_missing_names_of_every_kind():
    mechanism = RandomizedResponse(categories=NAMES, epsilon=1.5)
    for absent in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="1 missing values"):
            mechanism.check_data(pd.Series(["no", absent, "yes"], dtype=object))
    with pytest.raises(ValueError, match="1 missing values"):
        mechanism.check_data(pd.Series(["no", pd.NA], dtype="string"))


def test_counts_of_categories_are_a_table_of_names():
    table = Counted(RandomizedResponse(categories=NAMES, epsilon=1.5))
    frame = table.to_frame([4, 3, 2, 1])
    assert frame["z"].tolist() == list(NAMES)
    assert table.check_release(frame).tolist() == [4.0, 3.0, 2.0, 1.0]
    assert default_model(table).kernel == kernels.Categorical(NAMES)
    with pytest.raises(ValueError, match=r"^the column z is not that of the 4 bins of RandomizedResponse"):
        table.check_release(frame.iloc[::-1])
