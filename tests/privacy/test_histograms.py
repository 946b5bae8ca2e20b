"""The guarantees of histograms against brute force over all data sets, written here without the library's densities."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from privmix.mechanisms import Histogram, NoisyHistogram, SmoothedHistogram
from privmix.privacy import (
    ZCDP,
    ApproxDP,
    PureDP,
    audit,
    discrete_gaussian_histogram_delta,
    discrete_gaussian_histogram_scale,
    gaussian_delta,
    smoothed_histogram_epsilon,
)
from privmix.privacy.audit_global import all_counts, replacements

N, M, UNIT = 4, 3, (0.0, 1.0)
UNEQUAL = [0.0, 0.1, 0.4, 1.0]


def neighbours():
    """Return the counts of all pairs of data sets of N records in M bins that differ in one record."""
    pairs = set()
    for data in product(range(M), repeat=N):
        for i, new in product(range(N), range(M)):
            moved = (*data[:i], new, *data[i + 1 :])
            pairs.add(tuple(tuple(np.bincount(d, minlength=M).tolist()) for d in (data, moved)))
    return {(c, d) for c, d in pairs if c != d}


def test_audit_visits_every_pair_of_neighbours():
    assert {(c, d) for c in all_counts(N, M) for d in replacements(c)} == neighbours()


def smoothed(epsilon=None, draws=2, bins=M, uniform=None):
    return SmoothedHistogram(N, bins, draws, epsilon=epsilon, uniform=uniform, bounds=UNIT)


@pytest.mark.parametrize("bins", [M, UNEQUAL], ids=["equal", "unequal"])
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


def noisy(noise, bins=M, **budget):
    return NoisyHistogram(N, bins, noise, bounds=UNIT, **budget)


@pytest.mark.parametrize("noise", ["laplace", "discrete laplace"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_laplace_noise_is_exactly_as_private_as_claimed(noise, epsilon):
    mechanism = noisy(noise, epsilon=epsilon)
    z = np.arange(-20.0, 25.0) if noise == "discrete laplace" else np.linspace(-20.0, 24.0, 441)
    worst = 0.0
    for c, d in neighbours():
        gain = np.abs(z[:, None] - d) - np.abs(z[:, None] - c)  # separable: the worst release has the worst of each
        worst = max(worst, gain.max(axis=0).sum() / mechanism.scale)
    assert worst == pytest.approx(epsilon, rel=1e-9)
    found = audit(mechanism)
    assert found.worst == pytest.approx(epsilon, rel=1e-9)
    assert found.tight
    assert mechanism.guarantee == PureDP(epsilon)
    assert mechanism.guarantee.neighbours == "replace"


def gaussian_pmf(scale, reach=400):
    k = np.arange(-reach, reach + 1)
    weight = np.exp(-(k**2) / (2 * scale**2))
    return k, weight / weight.sum()


def brute_delta(scale, epsilon):
    """Return δ(ε) of two counts, one down and one up, as a sum over pairs of whole numbers."""
    k, p = gaussian_pmf(scale, 120)
    total = np.exp(-(k**2) / (2 * scale**2)).sum()
    down, up = (np.exp(-((k - shift) ** 2) / (2 * scale**2)) / total for shift in (-1, 1))
    return np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(down, up), 0.0).sum()


@pytest.mark.parametrize("scale", [0.2, 0.45, 0.7, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_profile_of_the_discrete_gaussian_is_the_sum_over_all_pairs(scale, epsilon):
    found = discrete_gaussian_histogram_delta(scale, epsilon)
    assert found == pytest.approx(brute_delta(scale, epsilon), rel=1e-9, abs=1e-16)


def test_profile_of_the_discrete_gaussian_tends_to_that_of_the_gaussian():
    for epsilon in (0.001, 0.01, 0.05):
        smooth = gaussian_delta(math.sqrt(2.0), 100.0, epsilon)
        assert discrete_gaussian_histogram_delta(100.0, epsilon) == pytest.approx(smooth, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-4), (1.0, 1e-6), (1.0, 0.1), (5.0, 1e-9), (250.0, 1e-6)])
def test_discrete_gaussian_keeps_its_epsilon_and_delta(epsilon, delta):
    mechanism = noisy("discrete gaussian", epsilon=epsilon, delta=delta)
    assert mechanism.guarantee == ApproxDP(epsilon, delta)
    found = audit(mechanism)
    assert found.holds
    assert found.tight
    assert found.worst == pytest.approx(delta, rel=1e-3)
    assert discrete_gaussian_histogram_delta(0.999 * mechanism.scale, epsilon) > delta
    # Tighter than through zCDP: the ρ of this noise converts to a larger ε.
    assert ZCDP(1 / mechanism.scale**2).approx(delta).epsilon > epsilon


@pytest.mark.parametrize("rho", [0.05, 0.5, 3.0])
def test_discrete_gaussian_keeps_its_rho(rho):
    mechanism = noisy("discrete gaussian", rho=rho)
    assert mechanism.scale == pytest.approx(1 / math.sqrt(rho))
    assert mechanism.guarantee == ZCDP(rho)
    k, p = gaussian_pmf(mechanism.scale)
    for alpha in (1.5, 2.0, 8.0, 20.0):
        shifted = -((k - 1.0) ** 2) / (2 * mechanism.scale**2) - np.log(np.exp(-(k**2) / 2 / mechanism.scale**2).sum())
        with np.errstate(divide="ignore"):
            terms = alpha * np.log(p) + (1 - alpha) * shifted
        one = np.logaddexp.reduce(terms[np.isfinite(terms)]) / (alpha - 1)
        assert 2 * one <= rho * alpha * (1 + 1e-9)
    found = audit(mechanism)
    assert found.holds
    assert found.tight


@pytest.mark.parametrize(
    ("noise", "scale", "claim"),
    [
        ("laplace", 4.0, PureDP(0.5)),
        ("discrete laplace", 4.0, PureDP(0.5)),
        ("discrete gaussian", 2.0, ZCDP(0.25)),
    ],
)
def test_noise_of_a_given_scale_states_what_it_gives(noise, scale, claim):
    mechanism = noisy(noise, scale=scale)
    assert mechanism.guarantee == claim
    assert audit(mechanism).tight


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


@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
def test_scale_of_the_discrete_gaussian_is_the_root(epsilon):
    scale = discrete_gaussian_histogram_scale(epsilon, 1e-9)
    assert discrete_gaussian_histogram_delta(scale, epsilon) <= 1e-9
    assert discrete_gaussian_histogram_delta(scale * (1 - 1e-6), epsilon) > 1e-9


def test_audit_errors():
    with pytest.raises(ValueError, match=r"all data sets of 1000 records in 64 bins, which are too many"):
        audit(NoisyHistogram(1000, epsilon=1.0, bounds=UNIT))
    with pytest.raises(ValueError, match=r"sums to .* over the whole numbers, not to 1"):
        audit(claiming(ZCDP(1.0))(N, M, "laplace", scale=0.3, bounds=UNIT))
    with pytest.raises(ValueError, match=r"reaches beyond 1024. Audit one with less noise"):
        audit(noisy("discrete gaussian", scale=500.0))
    with pytest.raises(TypeError, match="claims 'private', which the audit cannot read"):
        audit(claiming("private")(N, M, "laplace", scale=1.0, bounds=UNIT))
    with pytest.raises(ValueError, match="needs 0 <= epsilon < inf"):
        discrete_gaussian_histogram_delta(1.0, -1.0)


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
