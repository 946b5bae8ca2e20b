"""The noisy histogram: examples for the contract, and its guarantees against brute force over all data sets."""

import math

import numpy as np
import pytest

from mechanisms.neighbours import UNIT, M, N, neighbours
from privmix.mechanisms import NoisyHistogram
from privmix.mechanisms.discrete_profile import discrete_gaussian_histogram_delta, discrete_gaussian_histogram_scale
from privmix.mechanisms.gaussian import gaussian_delta
from privmix.privacy import ZCDP, ApproxDP, PureDP, audit

RECORDS, BOUNDS = 12, (-3.0, 5.0)
UNEQUAL = np.array([-3.0, -2.5, 0.0, 1.0, 5.0])
EXAMPLES = [
    NoisyHistogram(RECORDS, bins=4, epsilon=1.0, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=UNEQUAL, noise="laplace", rho=0.5),
    NoisyHistogram(RECORDS, bins=3, noise="laplace", scale=1.7, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=4, noise="discrete laplace", epsilon=1.0, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=UNEQUAL, noise="discrete laplace", scale=0.4),
    NoisyHistogram(RECORDS, bins=4, noise="discrete gaussian", rho=0.2, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=UNEQUAL, noise="discrete gaussian", epsilon=1.0, delta=1e-5),
    NoisyHistogram(RECORDS, bins=3, noise="discrete gaussian", scale=0.35, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=4, noise="gaussian", rho=0.3, bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=UNEQUAL, noise="gaussian", epsilon=1.0, delta=1e-5, neighbours="add-remove"),
    NoisyHistogram(RECORDS, bins=4, epsilon=1.0, bounds=BOUNDS, neighbours="add-remove"),
    NoisyHistogram(RECORDS, bins=4, noise="discrete laplace", scale=[0.7, 1.0, 2.0, 3.0], bounds=BOUNDS),
    NoisyHistogram(RECORDS, bins=UNEQUAL, noise="gaussian", scale=[0.7, 1.0, 2.0, 3.0], neighbours="add-remove"),
]


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


@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
def test_scale_of_the_discrete_gaussian_is_the_root(epsilon):
    scale = discrete_gaussian_histogram_scale(epsilon, 1e-9)
    assert discrete_gaussian_histogram_delta(scale, epsilon) <= 1e-9
    assert discrete_gaussian_histogram_delta(scale * (1 - 1e-6), epsilon) > 1e-9


@pytest.mark.parametrize("scale", [0.2, 0.7, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_profile_of_one_moved_count_is_the_sum_over_whole_numbers(scale, epsilon):
    k, p = gaussian_pmf(scale, 120)
    moved = np.exp(-((k + 1) ** 2) / (2 * scale**2)) / np.exp(-(k**2) / (2 * scale**2)).sum()
    brute = np.maximum(p - math.exp(epsilon) * moved, 0.0).sum()
    assert discrete_gaussian_histogram_delta(scale, epsilon, moved=1) == pytest.approx(brute, rel=1e-9, abs=1e-16)


CLAIMS = [
    ("laplace", {"epsilon": 1.0}, {"replace": PureDP(1.0), "add-remove": PureDP(1.0, neighbours="add-remove")}),
    ("discrete laplace", {"rho": 0.5}, {"replace": PureDP(1.0), "add-remove": PureDP(1.0, neighbours="add-remove")}),
    ("laplace", {"scale": 2.0}, {"replace": PureDP(1.0), "add-remove": PureDP(0.5, neighbours="add-remove")}),
    ("gaussian", {"rho": 0.4}, {"replace": ZCDP(0.4), "add-remove": ZCDP(0.4, neighbours="add-remove")}),
    ("gaussian", {"scale": 2.0}, {"replace": ZCDP(0.25), "add-remove": ZCDP(0.125, neighbours="add-remove")}),
    ("discrete gaussian", {"scale": 2.0}, {"replace": ZCDP(0.25), "add-remove": ZCDP(0.125, neighbours="add-remove")}),
    (
        "laplace",
        {"scale": [4.0, 2.0, 1.0]},
        {"replace": PureDP(1.5), "add-remove": PureDP(1.0, neighbours="add-remove")},
    ),
    (
        "gaussian",
        {"scale": [4.0, 2.0, 1.0]},
        {"replace": ZCDP(0.625), "add-remove": ZCDP(0.5, neighbours="add-remove")},
    ),
]


@pytest.mark.parametrize(("noise", "budget", "claims"), CLAIMS)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_claims_of_either_relation_are_those_of_an_audit(noise, budget, claims, relation):
    mechanism = noisy(noise, neighbours=relation, **budget)
    claim, found = mechanism.guarantee, audit(mechanism)
    assert type(claim) is type(claims[relation])
    assert (claim.neighbours, found.holds) == (relation, True)
    assert getattr(claim, claim.audited) == pytest.approx(getattr(claims[relation], claim.audited), rel=1e-12)
    assert found.worst == pytest.approx(found.claimed, rel=1e-9)


@pytest.mark.parametrize("noise", ["gaussian", "discrete gaussian"])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (3.0, 0.01)])
def test_gaussian_noise_of_either_relation_keeps_its_epsilon_and_delta(noise, relation, epsilon, delta):
    mechanism = NoisyHistogram(2, 2, noise, epsilon, delta, (0.0, 1.0), neighbours=relation)
    assert mechanism.guarantee == ApproxDP(epsilon, delta, neighbours=relation)
    found = audit(mechanism)
    assert found.worst == pytest.approx(delta, rel=1e-9)
    assert found.worst <= delta * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["laplace", "discrete laplace", "gaussian", "discrete gaussian"])
def test_half_the_sensitivity_is_half_the_noise_and_no_claim_of_the_other_relation(noise):
    budget = {"epsilon": 1.0} if "laplace" in noise else {"rho": 0.5}
    two, one = (noisy(noise, neighbours=relation, **budget) for relation in ("replace", "add-remove"))
    assert two.scale / one.scale == pytest.approx(2.0 if "laplace" in noise else math.sqrt(2.0))


def test_profile_at_a_negative_epsilon_is_refused():
    with pytest.raises(ValueError, match="needs 0 <= epsilon < inf"):
        discrete_gaussian_histogram_delta(1.0, -1.0)
