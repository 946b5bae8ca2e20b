"""The smoothed histogram: examples for the contract, and its guarantee against brute force over all data sets."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from mechanisms.neighbours import UNIT, M, N, neighbours
from privmix.mechanisms import SmoothedHistogram
from privmix.mechanisms.smoothed_histogram import smoothed_histogram_epsilon
from privmix.privacy import PureDP, audit

RECORDS, BOUNDS = 12, (-3.0, 5.0)
UNEQUAL = np.array([-3.0, -2.5, 0.0, 1.0, 5.0])
EXAMPLES = [
    SmoothedHistogram(RECORDS, bins=4, draws=5, epsilon=3.0, bounds=BOUNDS),
    SmoothedHistogram(RECORDS, bins=UNEQUAL, draws=3, epsilon=0.5),
    SmoothedHistogram(RECORDS, bins=2, draws=7, uniform=0.3, bounds=BOUNDS),
    SmoothedHistogram(RECORDS, epsilon=40.0, bounds=BOUNDS),
]


def smoothed(epsilon=None, draws=2, bins=M, uniform=None):
    return SmoothedHistogram(N, bins, draws, epsilon=epsilon, uniform=uniform, bounds=UNIT)


@pytest.mark.parametrize("bins", [M, [0.0, 0.1, 0.4, 1.0]], ids=["equal", "unequal"])
@pytest.mark.parametrize("draws", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 2.0, 50.0, 250.0])
def test_smoothed_histogram_is_exactly_as_private_as_claimed(epsilon, draws, bins):
    mechanism = smoothed(epsilon, draws, bins)
    worst = -math.inf
    widths, share = np.diff(mechanism.edges), mechanism.uniform
    if epsilon > 1e-3:  # 1 − δ has no digits left below; the audit reads the odds
        for c, d in neighbours():
            p, q = ((1 - share) * np.array(counts) / N / widths + share for counts in (c, d))
            worst = max(worst, *(np.log(p / q)[list(bins_)].sum() for bins_ in product(range(M), repeat=draws)))
        assert worst == pytest.approx(epsilon, rel=1e-9)
    found = audit(mechanism)
    assert found.worst == pytest.approx(epsilon, rel=1e-9)
    assert found.holds
    assert found.tight
    assert len(set(np.searchsorted(mechanism.edges, found.z))) == 1, "all draws in one bin"


def printed_odds(records, draws, epsilon, bins):
    """Return (1 − δ)/δ by the condition as printed, k log(odds·m/n − 1) ≤ ε."""
    return (math.exp(epsilon / draws) + 1) * records / bins


@dataclass(frozen=True, eq=False, repr=False)
class Printed(SmoothedHistogram):
    """The smoothed histogram with the paper's condition."""

    nominal: float = 2.0

    @property
    def guarantee(self):
        return PureDP(self.nominal)


def test_printed_condition_of_the_smoothed_histogram_is_broken():
    """Erratum: at n = 250, k = 28 a nominal ε of 2 is truly 31.4, for every number of bins."""
    for bins in (8, 16, 24):
        odds = printed_odds(250, 28, 2.0, bins)
        true = smoothed_histogram_epsilon(250, 28, odds, 1 / bins)
        assert true == pytest.approx(28 * math.log(2 + math.exp(2 / 28)))
        assert true == pytest.approx(31.4, abs=0.05)
        mechanism = SmoothedHistogram(250, bins, 28, uniform=1 / (1 + odds), bounds=UNIT)
        y, moved = np.full(250, 0.99), np.array([0.01, *[0.99] * 249])
        z = np.full(28, 0.01)
        assert mechanism.logpdf(z, moved) - mechanism.logpdf(z, y) == pytest.approx(31.4, abs=0.05)
    mutant = Printed(N, M, 2, uniform=1 / (1 + printed_odds(N, 2, 2.0, M)), bounds=UNIT)
    found = audit(mutant)
    assert found.holds is False
    assert found.worst == pytest.approx(2 * math.log(2 + math.e))
    assert "BROKEN" in str(found)


@pytest.mark.parametrize("change", [0.999, 1.001])
def test_a_slightly_wrong_uniform_share_is_seen(change):
    share = smoothed(2.0).uniform
    found = audit(Printed(N, M, 2, uniform=change * share, bounds=UNIT))
    assert found.holds is (change > 1)
    assert found.worst != pytest.approx(2.0, abs=1e-6)
