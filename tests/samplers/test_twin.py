"""Compiled code and its slow twin in plain Python give the same draws."""

import pytest

from privmix.testing import twin_gap
from samplers.cases import COVERING, first_of_each, likelihood, name

# The block of every case compiles here once more (the joint test compiles another driver): one case for each class of
# samplers and one for each kind of likelihood are enough.
OF_A_CLASS = first_of_each(COVERING, lambda case: type(case[1]))
FEW = OF_A_CLASS + [
    case for case in first_of_each(COVERING, lambda case: likelihood(case[0])) if case not in OF_A_CLASS
]


@pytest.mark.parametrize(("model", "sampler"), FEW, ids=name)
def test_twin_is_equal(model, sampler):
    assert twin_gap(model, sampler, n=10) < 1e-9
