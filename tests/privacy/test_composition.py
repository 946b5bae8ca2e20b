"""What several releases promise together, and what holds whichever of them is made."""

import pytest

from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.privacy.composition import compose, weakest

OTHER = PureDP(1.0, neighbours="add-remove")


def test_budgets_add_up():
    assert compose([PureDP(0.5), PureDP(1.0)]) == PureDP(1.5)
    assert compose([ZCDP(0.5), PureDP(1.0)]) == ZCDP(1.0)
    assert compose([ApproxDP(1.0, 1e-6), PureDP(0.5), ApproxDP(2.0, 1e-5)]) == ApproxDP(3.5, 1e-6 + 1e-5)


def test_the_worst_of_several_holds():
    assert weakest([PureDP(0.5), PureDP(1.0)]) == PureDP(1.0)
    assert weakest([ZCDP(0.3), PureDP(1.0)]) == ZCDP(0.5)
    assert weakest([ApproxDP(1.0, 1e-6), PureDP(2.0)]) == ApproxDP(2.0, 1e-6)


@pytest.mark.parametrize("together", [compose, weakest])
def test_one_without_a_promise_leaves_none(together):
    assert together([PureDP(1.0), None]) is None
    assert together([]) is None


@pytest.mark.parametrize("together", [compose, weakest])
def test_promises_for_different_neighbours_are_refused(together):
    with pytest.raises(ValueError, match=r"different neighbours \(add-remove and replace.*do not add up"):
        together([PureDP(1.0), OTHER])
