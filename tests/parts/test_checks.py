import numpy as np
import pytest

from privmix import kernels, mechanisms
from privmix.parts.checks import check_bounds, check_count, is_whole


def test_whole_numbers_are_integers_and_no_truth_values():
    assert [is_whole(value) for value in (3, np.int8(-3), 3.0, True, np.True_, "3", None)] == [True] * 2 + [False] * 5


def test_count_is_a_plain_whole_number():
    assert check_count("draws", np.int64(3), 1) == 3
    assert type(check_count("draws", np.int64(3), 1)) is int


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None])
def test_bad_count_names_its_owner(value):
    with pytest.raises(ValueError, match=f"^Neal5: auxiliaries must be a whole number of at least 2; got {value!r}.$"):
        check_count("auxiliaries", value, 2, owner="Neal5")


@pytest.mark.parametrize("bounds", [(0.0, 1e-162), (0.0, 0.99e-60), (-1e100, 1e100), (0.0, 1.01e60), (-1e308, 1e308)])
def test_bounds_whose_powers_leave_floating_point_are_refused(bounds):
    for make in (check_bounds, lambda b: kernels.Beta(bounds=b), lambda b: mechanisms.Laplace(1.0, b)):
        with pytest.raises(
            ValueError, match=r"^bounds must be at least 1e-60 apart and at most 1e\+60 from 0, .* units"
        ):
            make(bounds)


def test_bounds_with_few_numbers_between_them_are_refused():
    wanted = (
        r"so close, for their size, that floating point has only 64 numbers between them; 1048576 are needed\. Subt"
    )
    with pytest.raises(ValueError, match=wanted):
        check_bounds((1e15, 1e15 + 8))
    with pytest.raises(ValueError, match=wanted):
        kernels.TruncatedNormal((1e15, 1e15 + 8))
    assert check_bounds((2.0**32, 2.0**32 + 1.0)) == (2.0**32, 2.0**32 + 1.0)
    with pytest.raises(ValueError, match="only 524288 numbers"):
        check_bounds((-(2.0**33) - 1.0, -(2.0**33)))
