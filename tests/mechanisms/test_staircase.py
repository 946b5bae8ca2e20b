"""The staircase: examples for the contract, its law against that of the paper, its moments and its cells."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from mechanisms.test_cells import cells_of
from numerics.quadrature import ALPHA
from privmix.mechanisms import Laplace, Staircase
from privmix.mechanisms.staircase import staircase_gamma
from privmix.privacy import audit

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    Staircase(epsilon=2.0, bounds=BOUNDS),
    Staircase(epsilon=0.5, bounds=BOUNDS, gamma=0.6),
    Staircase(rho=0.1, bounds=BOUNDS),
]


def jumps(mechanism, y):
    """Return where the density of an output jumps, as far out as it matters."""
    width = mechanism.bounds[1] - mechanism.bounds[0]
    steps = width * (mechanism.gamma + np.arange(int(40.0 / mechanism.epsilon) + 3))
    return np.concatenate([y - steps[::-1], y + steps])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("gamma", [None, 0.3, 1.0])
def test_claim_is_kept_exactly(epsilon, gamma):
    mechanism = Staircase(epsilon=epsilon, bounds=BOUNDS, gamma=gamma)
    found = audit(mechanism, size=512)
    assert found.claimed == epsilon
    assert found.worst == pytest.approx(epsilon, abs=1e-9)
    assert found.holds


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_density_is_that_of_the_paper(mechanism):
    """f(x) = a e^{−kε} on [kΔ, (k + γ)Δ) and a e^{−(k+1)ε} on [(k + γ)Δ, (k + 1)Δ), symmetric."""
    epsilon, gamma, width = mechanism.epsilon, mechanism.gamma, 8.0
    top = (1.0 - math.exp(-epsilon)) / (2.0 * width * (gamma + math.exp(-epsilon) * (1.0 - gamma)))
    for z in np.random.default_rng(1).uniform(-30.0, 30.0, 200):
        x = abs(z - 1.2) / width
        k = math.floor(x)
        exact = top * math.exp(-epsilon * (k if x < k + gamma else k + 1))
        assert math.exp(mechanism.logpdf(z, 1.2)) == pytest.approx(exact, rel=1e-12)
    edges = jumps(mechanism, 1.2)
    masses = np.exp(mechanism.logpdf(0.5 * (edges[1:] + edges[:-1]), 1.2)) * np.diff(edges)
    assert masses.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_draws_follow_the_density(mechanism):
    for seed, y in enumerate((-9.0, 0.3, 5.0)):
        z = mechanism.perturb(np.random.default_rng(seed), np.full(100_000, y))
        edges = jumps(mechanism, min(max(y, -3.0), 5.0))
        masses = np.exp(mechanism.logpdf(0.5 * (edges[1:] + edges[:-1]), y)) * np.diff(edges)
        cdf = np.append(0.0, np.cumsum(masses))
        assert stats.kstest(z, lambda x, e=edges, c=cdf: np.interp(x, e, c)).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_spread_is_that_of_the_noise(mechanism):
    edges = jumps(mechanism, 0.0)
    heights = np.exp(mechanism.logpdf(0.5 * (edges[1:] + edges[:-1]), 0.0))
    variance = np.sum(heights * np.diff(edges**3) / 3.0)
    assert mechanism.noise_spread() == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_default_step_has_the_least_mean_noise():
    """Also less than Laplace noise has, most of all at large ε."""

    def mean_noise(epsilon, gamma):
        mechanism = Staircase(epsilon=epsilon, bounds=(0.0, 1.0), gamma=gamma)
        edges = jumps(mechanism, 0.0)
        edges = edges[edges >= 0.0]
        inside = np.append(0.0, edges)
        heights = np.exp(mechanism.logpdf(0.5 * (inside[1:] + inside[:-1]), 0.0))
        return np.sum(heights * np.diff(inside**2))

    for epsilon in (0.5, 2.0, 8.0):
        best = mean_noise(epsilon, staircase_gamma(epsilon))
        assert all(best <= mean_noise(epsilon, g) * (1.0 + 1e-12) for g in np.linspace(0.02, 1.0, 50))
        assert best < 1.0 / epsilon
    assert (
        Staircase(epsilon=8.0, bounds=BOUNDS).noise_spread() < 0.7 * Laplace(epsilon=8.0, bounds=BOUNDS).noise_spread()
    )


@pytest.mark.parametrize(
    ("z", "edges", "steps"),
    [
        (0.5, [0.25, 0.75], [1, 0, 1]),
        (0.1, [0.35], [0, 1]),
        (0.9, [0.65], [1, 0]),
        (1.1, [0.85], [1, 0]),
        (1.5, [0.25], [2, 1]),
        (-2.5, [0.75], [3, 4]),
        (1.25 - 1e-9, [1.0 - 1e-9], [1, 0]),
    ],
)
def test_cells_of_an_output(z, edges, steps):
    mechanism = Staircase(epsilon=1.0, bounds=(0.0, 1.0), gamma=0.25)
    found, values = cells_of(mechanism, z)
    assert found == pytest.approx(edges, abs=1e-12)
    assert (mechanism.log_top - values) == pytest.approx(np.array(steps, dtype=float), abs=1e-12)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_means_over_cells_are_integrals_of_the_density(mechanism):
    z, edges = np.array([-40.0, -3.5, 0.0, 1.7, 4.9, 13.0]), np.array([-3.0, -2.9, 0.0, 1.0, 4.0, 5.0])
    found = np.exp(mechanism.log_cell_means(z, edges))
    for row, one in zip(found, z, strict=True):
        for mean, low, high in zip(row, edges[:-1], edges[1:], strict=True):
            inside = [jump for jump in jumps(mechanism, one) if low < jump < high]
            ends = np.array([low, *inside, high])
            values = np.exp(mechanism.logpdf(one, 0.5 * (ends[1:] + ends[:-1])))
            assert mean == pytest.approx(values @ np.diff(ends) / (high - low), rel=1e-12)


REFUSED = [
    ({"gamma": 0.5}, "Staircase takes exactly one of epsilon=, rho= to set its noise; got none."),
    ({"epsilon": 1.0, "gamma": 1.5}, "Staircase: gamma must be above 0 and at most 1; got 1.5."),
    (
        {"epsilon": 60.0},
        "Staircase was given epsilon=60.0, but needs epsilon <= 50: beyond, floats cannot tell its steps apart. Such a "
        "release is the data themselves; use less.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Staircase(**arguments, bounds=(0.0, 1.0))
