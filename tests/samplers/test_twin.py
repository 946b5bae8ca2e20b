"""Compiled code and its slow twin in plain Python give the same draws."""

import pytest

from privmix.testing import twin_gap
from samplers.cases import COVERING, first_of_each, likelihood, name, rest_long

# The block of every case compiles here once more (the joint test compiles another driver): one case for each class of
# samplers is enough here; the long run has one for each kind of likelihood and one for each prior, too.
OF_SAMPLERS = first_of_each(COVERING, lambda case: type(case[1]))
FEW = list(OF_SAMPLERS)
for kind in (lambda model: likelihood(model), lambda model: type(model.prior)):
    met = {kind(model) for model, _ in FEW}
    FEW += [case for case in first_of_each(COVERING, lambda case, kind=kind: kind(case[0])) if kind(case[0]) not in met]


@pytest.mark.parametrize(("model", "sampler"), rest_long(OF_SAMPLERS, FEW), ids=name)
def test_twin_is_equal(model, sampler):
    assert twin_gap(model, sampler, n=10) < 1e-9
