"""Compiled code and its slow twin in plain Python give the same draws."""

import pytest

from privmix.testing import twin_gap
from samplers.cases import CASES, name

# The block of every case compiles here once more (the joint test compiles another driver): a few cases are enough.
FEW = [case for k, case in enumerate(CASES) if k % 4 == 0]


@pytest.mark.parametrize(("model", "sampler"), FEW, ids=name)
def test_twin_is_equal(model, sampler):
    assert twin_gap(model, sampler, n=10) < 1e-9
