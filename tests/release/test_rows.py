"""Releases of rows as files: named columns, names of categories, missing entries, checksum and guarantee."""

import json

import numpy as np
import pandas as pd
import pytest

from columns import PEOPLE, frame_of_people
from privmix import Release
from privmix.mechanisms import Each, RandomizedResponse
from privmix.privacy import PureDP

MECHANISM = Each(PEOPLE, reports=2)
RELEASE = Release.from_data(pd.DataFrame(frame_of_people(30)), MECHANISM, seed=1, notes="a survey")


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_release_comes_back(tmp_path, name):
    RELEASE.save(tmp_path / name)
    loaded = Release.load(tmp_path / name)
    assert loaded == RELEASE
    assert loaded.guarantee == PureDP(8.0)
    assert loaded.records == 30
    table = pd.read_csv(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    assert list(table) == ["age", "income", "sex"]
    assert set(table["sex"].dropna()) == {"f", "m"}
    assert table.isna().sum(axis=1).eq(1).all()


def test_a_changed_cell_is_seen(tmp_path):
    RELEASE.save(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_text().splitlines()
    row = next(j for j, line in enumerate(text) if line.endswith(",f"))
    text[row] = text[row][:-1] + "m"
    (tmp_path / "rows.csv").write_text("\n".join(text) + "\n")
    with pytest.raises(ValueError, match="their checksum differs"):
        Release.load(tmp_path / "rows.csv")


def test_an_unknown_category_and_a_missing_column_are_named(tmp_path):
    RELEASE.save(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv").write_text(text.replace(",f\n", ",x\n", 1))
    with pytest.raises(ValueError, match=r"column 'sex': .* none of the categories 'f', 'm'; the first is 'x'"):
        Release.load(tmp_path / "rows.csv")
    (tmp_path / "rows.csv").write_text(text.replace("age,", "years,", 1))
    with pytest.raises(ValueError, match="has no column 'age'"):
        Release.load(tmp_path / "rows.csv")


def test_a_promise_that_the_columns_do_not_give(tmp_path):
    RELEASE.save(tmp_path / "rows.csv")
    beside = tmp_path / "rows.csv.json"
    told = json.loads(beside.read_text())
    told["guarantee"]["epsilon"] = 4.0
    told.pop("checksum")
    beside.write_text(json.dumps(told | {"format_version": 1}))
    with pytest.raises(ValueError, match="guarantee"):
        Release.load(tmp_path / "rows.csv")


@pytest.mark.parametrize("name", ["answers.csv", "answers.parquet"])
def test_one_column_of_categories(tmp_path, name):
    names = ("yes, often", 'the "no"', "none")
    mechanism = RandomizedResponse(categories=names, epsilon=1.0)
    release = Release.from_data(np.array(names * 5), mechanism, seed=1)
    release.save(tmp_path / name)
    assert Release.load(tmp_path / name) == release
    if name.endswith("csv"):
        assert set(pd.read_csv(tmp_path / name, keep_default_na=False)["z"]) <= set(names)
