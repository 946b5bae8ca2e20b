import numpy as np
import pytest

from privmix.parts.checks import check_count, is_whole


def test_whole_numbers_are_integers_and_no_truth_values():
    assert [is_whole(value) for value in (3, np.int8(-3), 3.0, True, np.True_, "3", None)] == [True] * 2 + [False] * 5


def test_count_is_a_plain_whole_number():
    assert check_count("draws", np.int64(3), 1) == 3
    assert type(check_count("draws", np.int64(3), 1)) is int


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None])
def test_bad_count_names_its_owner(value):
    with pytest.raises(ValueError, match=f"^Neal5: auxiliaries must be a whole number of at least 2; got {value!r}.$"):
        check_count("auxiliaries", value, 2, owner="Neal5")
