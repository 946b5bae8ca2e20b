"""Readers of published tables: what they state of a file, and the rows that they refuse."""

import math

import numpy as np
import pytest

from privmix.mechanisms import Clamped, Rounded, Withheld
from privmix.privacy import ZCDP, PureDP
from privmix.release import Release
from privmix.release.readers import (
    read_gls_estimates,
    read_noisy_measurements,
    read_opendp,
    read_published,
    read_tumult,
    tumult_scale,
)
from privmix.release.readers.stated import StatedDiscreteGaussian as DiscreteGaussian
from privmix.release.readers.stated import StatedDiscreteLaplace as DiscreteLaplace
from privmix.release.readers.stated import StatedGaussian as Gaussian
from privmix.release.readers.stated import StatedHistogram as NoisyHistogram
from privmix.release.readers.stated import StatedLaplace as Laplace

TEN = (0.0, 10.0)
LAPLACE = Laplace(scale=2.0, bounds=TEN)


@pytest.fixture
def table(tmp_path):
    def write(text, name="table.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def values(*numbers):
    return "z\n" + "\n".join(map(str, numbers)) + "\n"


# What is read.


STEPS = {
    "nothing": ({}, LAPLACE, [3.5, -2.0, 8.0]),
    "clamped": ({"clamped_at": 0.0}, Clamped(LAPLACE, lower=0.0), [0.0, 0.0, 8.5]),
    "rounded": ({"rounded_to": 5.0}, Rounded(LAPLACE, to=5.0), [-5.0, 0.0, 10.0]),
    "withheld": ({"withheld_below": 3.0}, Withheld(LAPLACE, below=3.0), [3.0, math.nan, 4.5]),
    "all": (
        {"clamped_at": 0.0, "rounded_to": 5.0, "withheld_below": 5.0},
        Withheld(Rounded(Clamped(LAPLACE, lower=0.0), to=5.0), below=5.0),
        [5.0, math.nan, 10.0],
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_statements_make_the_mechanism(table, case):
    said, mechanism, z = STEPS[case]
    text = values(*("" if math.isnan(number) else number for number in z))
    assert read_published(table(text), "laplace", scale=2.0, bounds=TEN, **said) == Release(z, mechanism)


def test_scales_come_row_by_row_as_they_are_or_as_variances(table):
    path = table("estimate,std_dev,variance\n3.5,1,4\n-2,2,9\n8,0.5,16\n")
    assert read_gls_estimates(path, bounds=TEN).mechanism == Gaussian(scale=np.array([1.0, 2.0, 0.5]), bounds=TEN)
    read = read_published(path, "gaussian", column="estimate", variance_column="variance", bounds=TEN)
    assert read.mechanism == Gaussian(scale=np.array([2.0, 3.0, 4.0]), bounds=TEN)
    alone = read_published(table("z,s\n1,2\n3,4\n"), "gaussian", scale_column="s")
    assert alone == Release([1.0, 3.0], Gaussian(scale=np.array([2.0, 4.0])))


def test_rows_with_edges_are_bins_in_any_order(table):
    path = table("upper,lower,count\n30,10,41\n10,0,55.5\n100,30,-2\n")
    expected = NoisyHistogram(100, [0, 10, 30, 100], scale=3.0)
    assert read_published(path, "laplace", records=100, scale=3.0) == Release([55.5, 41.0, -2.0], expected)


def test_tables_of_tabs_need_no_header_and_no_quotes(table):
    path = table('France\tThe "Mona Lisa"\t120\nPeru\t2" pipe\t95.5\n', "views.tsv")
    read = read_published(path, "gaussian", column="views", names=["country", "page", "views"], scale=18.3)
    assert read == Release([120.0, 95.5], Gaussian(scale=18.3))


def test_tumult_names_discrete_noise_by_its_budget_and_its_threshold(table):
    path = table("page\tviews\nA\t120\nB\t\nC\t90\n", "views.tsv")
    told = {"sensitivity": math.sqrt(10.0), "withheld_below": 90.0, "bounds": (0.0, 500.0)}
    sigma = math.sqrt(10.0 / 0.03)
    promised = ZCDP(0.015, neighbours="add-remove")
    noise = DiscreteGaussian(scale=sigma, bounds=(0.0, 500.0), promised=promised)
    expected = Release([120.0, math.nan, 90.0], Withheld(noise, below=90.0))
    assert read_tumult(path, "views", rho=0.015, **told) == expected
    pure = read_tumult(path, "views", epsilon=1.0, withheld_below=90.0, bounds=(0.0, 500.0))
    promised = PureDP(1.0, neighbours="add-remove")
    assert pure.mechanism == Withheld(DiscreteLaplace(scale=1.0, bounds=(0.0, 500.0), promised=promised), below=90.0)
    assert pure.guarantee == promised


def test_noisy_measurements_have_a_variance_each(table):
    path = table("value,variance\n12,4\n-3,9\n")
    expected = DiscreteGaussian(scale=np.array([2.0, 3.0]), bounds=TEN)
    assert read_noisy_measurements(path, bounds=TEN) == Release([12.0, -3.0], expected)
    path = table("lower,upper,value,variance\n5,10,12,4\n0,5,-3,9\n")
    expected = NoisyHistogram(20, [0, 5, 10], "discrete gaussian", scale=[3.0, 2.0])
    assert read_noisy_measurements(path, records=20) == Release([-3.0, 12.0], expected)
    with pytest.raises(ValueError, match=r"row 2 of column 'value' in .* is 3.5, but this noise .* multiples of 1"):
        read_noisy_measurements(table("value,variance\n12,4\n3.5,9\n"), bounds=TEN)


def test_opendps_granularity_is_the_lattice(table):
    path = table(values(0.25, -1.5))
    assert read_opendp(path, "laplace", 2.0, -2, bounds=TEN).mechanism == DiscreteLaplace(
        scale=2.0, step=0.25, bounds=TEN
    )
    assert read_opendp(path, "gaussian", 2.0, bounds=TEN).mechanism == Gaussian(scale=2.0, bounds=TEN)
    with pytest.raises(ValueError, match=r"row 1 of column 'z' in .* is 0.25, but this noise .* multiples of 0.5"):
        read_opendp(path, "laplace", 2.0, -1, bounds=TEN)


def test_noise_of_a_budget_depends_on_how_many_counts_a_person_moves():
    assert tumult_scale(rho=0.015, sensitivity=math.sqrt(10.0)) == pytest.approx(18.257, abs=1e-3)
    assert tumult_scale(rho=0.015) == pytest.approx(5.7735, abs=1e-4)
    assert tumult_scale(epsilon=0.5, sensitivity=3.0) == 6.0
    with pytest.raises(ValueError, match="one of them"):
        tumult_scale(rho=1.0, epsilon=1.0)
    with pytest.raises(ValueError, match="rho must be a finite number above 0; got -1"):
        tumult_scale(rho=-1.0)


# What is refused, with the row: rows count from 1 below the header.


REFUSED = {
    "below the clamp": (
        values(0, 3, -2),
        {"clamped_at": 0.0},
        "row 3 of column 'z' in .* is -2, which cannot be after this: values below 0 set to 0",
    ),
    "below the threshold": (
        values(95, 90, 89),
        {"withheld_below": 90.0},
        "row 3 of column 'z' in .* is 89, which cannot be after this: values below 90 withheld",
    ),
    "no multiple": (
        values(5, 7, 8),
        {"rounded_to": 5.0},
        "row 2 of column 'z' in .* is 7, which cannot be after this: values rounded to multiples of 5",
    ),
    "empty, nothing withheld": (values(5, "", 8) + "9\n", {}, "row 2 of column 'z' in .* is empty"),
    "text": (values(5, 6, "many"), {"withheld_below": 3.0}, "row 3 of column 'z' in .* is 'many', not a finite number"),
    "blank end": (values(95, 99, ""), {"withheld_below": 90.0}, "one column and ends in blank lines, .* Write nan"),
    "no spread": ("z,s\n1,2\n3,0\n", {"scale_column": "s"}, "row 2 of column 's' in .* is 0, but noise has a spread"),
    "two spreads": ("z,s\n1,2\n", {"scale_column": "s", "variance_column": "s"}, "not both"),
    "no values": ("s\n1\n", {"scale_column": "s"}, "has no column of values beside 's'"),
    "several values": ("a,b,s\n1,2,3\n", {"scale_column": "s"}, "several columns of numbers: 'a', 'b'. Say which"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_contradictions_are_refused_with_their_row(table, case):
    text, said, message = REFUSED[case]
    scale = {} if "scale_column" in said else {"scale": 2.0}
    with pytest.raises(ValueError, match=message):
        read_published(table(text), "laplace", **scale, **said)


def test_a_bad_bin_is_named_by_its_row_in_the_file(table):
    path = table("lower,upper,count\n10,30,41\n0,10,-5\n30,100,2\n")
    with pytest.raises(ValueError, match=r"row 2 of column 'count' in .* is -5"):
        read_published(path, "laplace", records=100, scale=3.0, clamped_at=0.0)


def test_unknown_noise_is_refused(table):
    with pytest.raises(ValueError, match=r"noise must be one of 'laplace', .*; got 'cauchy'"):
        read_published(table(values(1)), "cauchy", scale=1.0)


@pytest.mark.parametrize(
    ("noise", "scale"), [("laplace", 2.0), ("gaussian", math.sqrt(8.0)), ("discrete laplace", 0.5 / math.asinh(0.25))]
)
def test_a_variance_becomes_the_scale_of_its_noise(table, noise, scale):
    path = table("value,variance\n1,8\n3,8\n")
    read = read_published(path, noise, column="value", variance_column="variance", bounds=TEN)
    assert read.mechanism.scale == pytest.approx(np.full(2, scale))


@pytest.mark.parametrize("step", [0.5, 1.0, 10.0])
def test_a_variance_of_noise_on_a_lattice_is_that_of_its_scale(table, step):
    """Σ k² e^{−|k|h/b} over the lattice, by hand."""
    path = table("value,variance\n10,40\n30,40\n")
    told = {"column": "value", "variance_column": "variance", "step": step, "bounds": (0.0, 100.0)}
    (scale, _) = read_published(path, "discrete laplace", **told).mechanism.scale
    k = step * np.arange(-4000, 4001)
    weight = np.exp(-np.abs(k) / scale)
    assert (weight @ k**2) / weight.sum() == pytest.approx(40.0)


def test_bins_need_a_number_of_records(table):
    with pytest.raises(ValueError, match=r"is a table of bins, for which records= is missing"):
        read_published(table("lower,upper,count\n0,5,11\n5,10,7\n"), "laplace", scale=2.0)


def test_a_scale_alone_promises_nothing(table):
    path = table("value\n1.5\n2.5\n")
    assert read_published(path, "laplace", scale=2.0, bounds=TEN).guarantee is None
    assert read_published(path, "laplace", epsilon=5.0, bounds=TEN).guarantee == PureDP(5.0)


def test_withheld_records_may_have_no_row(table):
    path = table("views\n91\n120\n")
    told = {"scale": 2.0, "withheld_below": 90.0, "withheld_known": False}
    release = read_published(path, "laplace", **told)
    assert release == Release([91.0, 120.0], Withheld(release.mechanism.mechanism, below=90.0, known=False))
    assert release.records is None
    assert read_tumult(path, "views", rho=0.015, withheld_below=90.0, withheld_known=False).records is None
    with pytest.raises(ValueError, match=r"row 2 of column 'views' in .* is empty"):
        read_published(table("views,page\n91,a\n,b\n"), "laplace", column="views", **told)
    with pytest.raises(ValueError, match="the bins are known"):
        read_published(table("lower,upper,count\n0,1,99\n1,2,98\n"), "laplace", records=None, **told)
    with pytest.raises(ValueError, match=r"not below what\. Give withheld_below too"):
        read_published(table("views\n91\n120\n"), "laplace", scale=2.0, withheld_known=False)


def test_a_threshold_without_an_empty_cell_is_doubted(table):
    with pytest.warns(UserWarning, match="has no empty value"):
        read_published(table("value\n91\n120\n"), "laplace", scale=2.0, withheld_below=90.0)


def test_bins_without_a_number_of_records_leave_it_unknown(table):
    path = table("lower,upper,count\n0,5,11\n5,10,7\n")
    assert read_published(path, "laplace", scale=2.0, neighbours="add-remove").mechanism.records is None
