"""Clipped records: the exact law of the partition of four, and a clip that is not stated."""

import numpy as np
import pytest
from scipy import stats

from oracles.normal_partitions import weigh_partitions
from privmix import PrivateMixture
from privmix.kernels import Normal
from privmix.mechanisms import Clipped, Laplace
from privmix.samplers import Binned, Neal8
from privmix.testing import enumeration_test, joint_test
from samplers.cases import SAMPLERS

BOUNDS = (-3.0, 5.0)


def normal_partitions(z, scale, concentration=1.0):
    """Return the exact law of the partition of clipped records: the clip is written out here, y on a grid."""
    y = np.linspace(-60.0, 60.0, 6001)
    q = stats.laplace.pdf(z, np.clip(y, -2.0, 2.0)[:, None], scale)
    subsets = (np.arange(2 ** len(z))[:, None] >> np.arange(len(z))) & 1
    total = np.full(len(subsets), -np.inf)
    for variance in np.exp(np.linspace(np.log(0.05), np.log(400.0), 90)):
        means = np.linspace(-9.0, 9.0, 150) * np.sqrt(variance / 0.1)
        log_g = np.log(stats.norm.pdf(y, means[:, None], np.sqrt(variance)) @ q * (y[1] - y[0]))
        prior = stats.norm.pdf(means, 0.0, np.sqrt(variance / 0.1)) * (means[1] - means[0])
        prior = prior * stats.invgamma.pdf(variance, 3.0, scale=3.0) * variance
        total = np.logaddexp(total, np.log(prior @ np.exp(log_g @ subsets.T)))
    return weigh_partitions(total, len(z), concentration)


@pytest.mark.parametrize("sampler", [Neal8(), *(pytest.param(s, marks=pytest.mark.long) for s in SAMPLERS)], ids=repr)
def test_partitions_follow_their_exact_law(sampler):
    z = np.array([-4.0, -2.5, 1.0, 3.5])
    model = PrivateMixture(Clipped(Laplace(scale=0.7, bounds=(-2.0, 2.0))), Normal())
    try:
        sampler.check(model)
    except ValueError:
        pytest.skip("it does not serve the pair")
    if isinstance(sampler, Binned):
        pytest.skip("it rounds the release")
    chains = 20_000 if sampler.holds_sticks else 8000
    result = enumeration_test(model, sampler, z, normal_partitions(z, 0.7), chains=chains, sweeps=150)
    assert result.p_value > 1e-6, str(result)


def test_clip_that_is_not_stated_is_seen():
    true = PrivateMixture(Clipped(Laplace(epsilon=5.0, bounds=BOUNDS)), Normal())
    said = PrivateMixture(Laplace(epsilon=5.0, bounds=BOUNDS), Normal())
    assert joint_test(true, Neal8(), pairs=5_000, fitted=said).rejected
