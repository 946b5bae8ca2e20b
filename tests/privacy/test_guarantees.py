import json
import math
import pickle
from dataclasses import dataclass

import pytest

from privmix.privacy import ZCDP, ApproxDP, Guarantee, PureDP, guarantee_from_dict

ALL = [PureDP(5.0), ApproxDP(0.5, 1e-6), ZCDP(0.25), PureDP(2.0, neighbours="add-remove")]


def test_repr_is_short_and_names_an_unusual_relation():
    assert repr(PureDP(epsilon=5)) == "PureDP(epsilon=5.0)"
    assert repr(ApproxDP(1.0, 0.01)) == "ApproxDP(epsilon=1.0, delta=0.01)"
    assert repr(ZCDP(rho=0.5)) == "ZCDP(rho=0.5)"
    assert repr(ALL[3]) == "PureDP(epsilon=2.0, neighbours='add-remove')"


def test_pure_epsilon_is_of_pure_guarantees_alone():
    assert [guarantee.pure_epsilon for guarantee in ALL] == [5.0, None, None, 2.0]


def test_pure_converts_by_the_theorems():
    assert PureDP(3.0).zcdp() == ZCDP(4.5)
    assert PureDP(3.0).approx(delta=1e-6) == ApproxDP(3.0, 1e-6)
    assert PureDP(3.0).pure() == PureDP(3.0)


def test_zcdp_converts_by_the_theorem():
    found = ZCDP(0.5).approx(delta=1e-5)
    assert found.delta == 1e-5
    assert found.epsilon == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e5)), rel=1e-15)
    assert ZCDP(0.5).zcdp() == ZCDP(0.5)


def test_approx_weakens_but_does_not_strengthen():
    assert ApproxDP(1.0, 1e-6).approx(1e-6) == ApproxDP(1.0, 1e-6)
    assert ApproxDP(1.0, 1e-6).approx(1e-3) == ApproxDP(1.0, 1e-3)
    with pytest.raises(ValueError, match=r"delta=1e-09, which is smaller than it promises.*at least 1e-06"):
        ApproxDP(1.0, 1e-6).approx(1e-9)


def test_conversions_keep_the_relation():
    start = PureDP(1.0, neighbours="add-remove")
    for found in (start.zcdp(), start.approx(0.1), start.zcdp().approx(0.1), start.approx(0.1).approx(0.2)):
        assert found.neighbours == "add-remove"
    assert start != PureDP(1.0)


@pytest.mark.parametrize(
    ("guarantee", "method", "message"),
    [
        (ApproxDP(1.0, 0.1), "zcdp", "does not follow from a single .epsilon, delta..*Calibrate .* with rho"),
        (ApproxDP(1.0, 0.1), "pure", "does not follow from delta > 0.*Laplace noise"),
        (ZCDP(1.0), "pure", r"does not follow at any epsilon. Use approx\(delta\)"),
    ],
)
def test_conversions_that_do_not_exist_say_so(guarantee, method, message):
    with pytest.raises(ValueError, match=message):
        getattr(guarantee, method)()


@pytest.mark.parametrize("bad", [0, -1.0, math.inf, math.nan])
def test_parameters_must_be_positive_and_finite(bad):
    with pytest.raises(ValueError, match=rf"PureDP was given epsilon={bad!r}, but needs epsilon > 0 and finite"):
        PureDP(bad)
    with pytest.raises(ValueError, match=rf"ZCDP was given rho={bad!r}, but needs rho > 0"):
        ZCDP(bad)
    with pytest.raises(ValueError, match=rf"ApproxDP was given delta={bad!r}, but needs delta > 0"):
        ApproxDP(1.0, bad)


def test_other_bad_parameters():
    with pytest.raises(ValueError, match=r"delta=1\.0, but needs 0 < delta < 1"):
        ApproxDP(1.0, 1.0)
    with pytest.raises(ValueError, match=r"not one number.*the largest epsilon"):
        PureDP([1.0, 2.0])
    with pytest.raises(ValueError, match=r"neighbours='friends'.*Use 'replace'"):
        PureDP(1.0, neighbours="friends")
    with pytest.raises(ValueError, match="approx was given delta=2"):
        ZCDP(1.0).approx(2)


@pytest.mark.parametrize("guarantee", ALL, ids=repr)
def test_survives_json_and_pickle(guarantee):
    assert guarantee_from_dict(json.loads(json.dumps(guarantee.to_dict()))) == guarantee
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    assert isinstance(guarantee, Guarantee)


def test_reads_only_what_it_wrote():
    assert guarantee_from_dict({"kind": "ZCDP", "rho": 1}) == ZCDP(1.0)
    with pytest.raises(ValueError, match="kind='RDP', which is none of PureDP, ApproxDP, ZCDP"):
        guarantee_from_dict({"kind": "RDP", "rho": 1.0})
    with pytest.raises(ValueError, match="kind=None"):
        guarantee_from_dict({"epsilon": 1.0})
    with pytest.raises(ValueError, match=r"entries \['epsilon'\], but needs \['delta', 'epsilon'\]"):
        guarantee_from_dict({"kind": "ApproxDP", "epsilon": 1.0})
    with pytest.raises(ValueError, match=r"entries \['epsilon', 'rho'\]"):
        guarantee_from_dict({"kind": "PureDP", "epsilon": 1.0, "rho": 1.0})
    with pytest.raises(ValueError, match="epsilon=-1"):
        guarantee_from_dict({"kind": "PureDP", "epsilon": -1})


def test_guarantee_of_ones_own_has_default_words():
    @dataclass(frozen=True, repr=False)
    class Mine(Guarantee):
        level: float

        def pure(self):
            raise ValueError

        approx = zcdp = pure

    assert Mine(2.0).in_words == "Mine(level=2.0)"
    assert Mine(2.0).guess_bound() is None
