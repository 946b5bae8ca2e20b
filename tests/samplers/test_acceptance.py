"""Acceptance rates of the paper's Section 4.1: n = 200, concentration 1, Laplace noise, ten data sets."""

import numpy as np
import pytest

from privmix import PrivateMixture, mechanisms, samplers

# Read off the paper's figure of acceptance against ε.
PUBLISHED = {
    samplers.Neal5(): {1.0: 0.93, 5.0: 0.62, 10.0: 0.42, 50.0: 0.13},
    samplers.Neal5(auxiliaries=5): {1.0: 0.95, 5.0: 0.66, 10.0: 0.48, 50.0: 0.23},
    samplers.Slice(): {1.0: 0.97, 5.0: 0.85, 10.0: 0.73, 50.0: 0.38},
}


def section_4_1(seed, n=200):
    """Three equally weighted normals at −5, 0 and 5, truncated to [−10, 10]."""
    rng = np.random.default_rng(seed)
    y = np.empty(0)
    while len(y) < n:
        new = rng.choice([-5.0, 0.0, 5.0], n) + rng.standard_normal(n)
        y = np.concatenate([y, new[np.abs(new) <= 10.0]])
    return y[:n]


def acceptance(sampler, epsilon, data_set):
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=(-10.0, 10.0))
    z = mechanism.privatize(section_4_1(data_set), seed=100 + data_set)
    posterior = PrivateMixture(mechanism).sample(z, sampler, draws=2000, warmup=1000, thin=1, chains=1, seed=data_set)
    return posterior.acceptance


@pytest.mark.parametrize("sampler", PUBLISHED, ids=repr)
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 10.0, 50.0])
def test_acceptance_is_that_of_the_paper(sampler, epsilon):
    rate = np.median([acceptance(sampler, epsilon, data_set) for data_set in range(1, 11)])
    print(f"{sampler!r} at ε = {epsilon:g}: {rate:.3f}, published {PUBLISHED[sampler][epsilon]}")
    assert abs(rate - PUBLISHED[sampler][epsilon]) <= 0.04
