"""Compiled code and its slow twin in plain Python give the same draws."""

import pytest

from privmix.testing import twin_gap
from samplers.cases import COVERING, QUICK, first_of_each, likelihood, name, rest_long

# The block of every case compiles here once more (the joint test compiles another driver): four classes of samplers are
# enough here. The long run has a case of each, one for each kind of likelihood and one for each prior.
OF_SAMPLERS = first_of_each(COVERING, lambda case: type(case[1]))
FEW = list(OF_SAMPLERS)
for kind in (lambda model: likelihood(model), lambda model: type(model.prior)):
    met = {kind(model) for model, _ in FEW}
    FEW += [case for case in first_of_each(COVERING, lambda case, kind=kind: kind(case[0])) if kind(case[0]) not in met]


# What takes longest to compile is left to the long run: its own tests run its steps in plain Python.
SHORT = [case for case in OF_SAMPLERS if case[1] not in QUICK.values()][:4]


@pytest.mark.parametrize(("model", "sampler"), rest_long(SHORT, FEW), ids=name)
def test_twin_is_equal(model, sampler):
    assert twin_gap(model, sampler, n=10) < 1e-9
