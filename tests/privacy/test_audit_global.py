"""The audit of mechanisms that release all records at once."""

from dataclasses import dataclass

import numpy as np
import pytest

from mechanisms.neighbours import UNIT, M, N, neighbours
from privmix.mechanisms import Histogram, NoisyHistogram
from privmix.privacy import ZCDP, ApproxDP, PureDP, audit
from privmix.privacy.audit_global import all_counts, replacements


def test_audit_visits_every_pair_of_neighbours():
    assert {(c, d) for c in all_counts(N, M) for d in replacements(c)} == neighbours()


def claiming(claim):
    @dataclass(frozen=True, eq=False, repr=False)
    class Claims(NoisyHistogram):
        @property
        def guarantee(self):
            return claim

    return Claims


@pytest.mark.parametrize(
    ("claim", "noise", "scale"),
    [
        (PureDP(1.0), "laplace", 1.0),  # sensitivity 1 instead of 2
        (PureDP(1.0), "discrete laplace", 1.0),
        (PureDP(1.0), "discrete gaussian", 3.0),
        (ZCDP(0.5), "discrete gaussian", 1.0),
        (ApproxDP(1.0, 1e-6), "discrete gaussian", 5.9),
    ],
)
def test_false_claims_are_broken(claim, noise, scale):
    assert audit(claiming(claim)(N, M, noise, scale=scale, bounds=UNIT)).holds is False


def test_no_claim_reports_the_worst():
    found = audit(claiming(None)(N, M, "laplace", scale=1.0, bounds=UNIT))
    assert found.worst == pytest.approx(2.0)
    assert (found.claimed, found.holds) == (None, None)


def test_audit_errors():
    with pytest.raises(ValueError, match=r"all data sets of 1000 records in 64 bins, which are too many"):
        audit(NoisyHistogram(1000, epsilon=1.0, bounds=UNIT))
    with pytest.raises(ValueError, match=r"sums to .* over the whole numbers, not to 1"):
        audit(claiming(ZCDP(1.0))(N, M, "laplace", scale=0.3, bounds=UNIT))
    with pytest.raises(ValueError, match=r"reaches beyond 1024. Audit one with less noise"):
        audit(NoisyHistogram(N, M, "discrete gaussian", scale=500.0, bounds=UNIT))
    with pytest.raises(TypeError, match="claims 'private', which the audit cannot read"):
        audit(claiming("private")(N, M, "laplace", scale=1.0, bounds=UNIT))


def test_audit_of_other_global_mechanisms_says_what_it_can_do():
    class Mean:
        is_global, guarantee = True, PureDP(1.0)

    with pytest.raises(NotImplementedError, match=r"The audit of Mean would run over all data sets"):
        audit(Mean())

    @dataclass(frozen=True, eq=False)
    class Own(Histogram):
        records: int
        edges: np.ndarray

    with pytest.raises(NotImplementedError, match="Own names no probes; give the audit outputs="):
        audit(Own(2, np.array([0.0, 0.5, 1.0])))
