"""Tables on a narrow terminal: numbers, names and words stay in one piece."""

import numpy as np
import pytest

from privmix.cli.outputs import column_widths, print_table
from privmix.curves.density import short_names

HEADER = ["quantity", "mean", "sd", "bulk ESS", "tail ESS", "R-hat", "note"]
ROWS = [
    ["n_clusters", "8.39", "4.69", "1,102", "2,621", "1.004", "chain 1 never moved"],
    ["concentration", "1.55", "1.05", "1,579", "3,760", "1.003", ""],
    ["density at 1335.779458", "0.000128", "0.00000913", "12,345,905", "937", "1.003", "too few draws"],
]


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_no_word_or_number_is_broken(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(HEADER, ROWS)
    printed = capsys.readouterr().out.split()
    assert {word for row in [HEADER, *ROWS] for text in row for word in text.split()} <= set(printed)


def test_a_table_that_fits_is_not_wrapped(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    print_table(HEADER, ROWS)
    shown = capsys.readouterr().out
    assert "density at 1335.779458" in shown
    assert "chain 1 never moved" in shown


def test_columns_give_way_by_what_they_can_spare():
    assert column_widths([["a bb ccc", "dd"], ["12345"]], 20) == [8, 5]
    assert column_widths([["a bb ccc", "dd"], ["12345"]], 10) == [5, 5]
    assert column_widths([["a bb ccc", "dd"], ["12345"]], 2) == [3, 5]


def test_points_have_short_names_that_tell_them_apart():
    assert short_names(np.array([-3.194220545, 0.8069135651, 1335.779458])) == ["-3.194", "0.8069", "1336"]
    assert short_names(np.array([1.000001, 1.000002])) == ["1.000001", "1.000002"]
