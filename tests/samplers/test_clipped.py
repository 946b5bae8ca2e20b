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
    """Return the exact law of the partition of records clipped to ±2: two atoms, and a fine grid between them."""
    edges = np.linspace(-2.0, 2.0, 2001)
    points = np.concatenate([[-2.0], 0.5 * (edges[1:] + edges[:-1]), [2.0]])
    q = stats.laplace.pdf(z, points[:, None], scale)
    subsets = (np.arange(2 ** len(z))[:, None] >> np.arange(len(z))) & 1
    total = np.full(len(subsets), -np.inf)
    log_variances, step = np.linspace(np.log(0.05), np.log(4000.0), 90, retstep=True)
    for variance in np.exp(log_variances):
        means = np.linspace(-9.0, 9.0, 200) * np.sqrt(variance / 0.1)
        below = stats.norm.cdf(edges, means[:, None], np.sqrt(variance))
        above = stats.norm.sf(edges[-1:], means[:, None], np.sqrt(variance))
        g = np.concatenate([below[:, :1], np.diff(below), above], axis=1) @ q
        prior = stats.norm.pdf(means, 0.0, np.sqrt(variance / 0.1)) * (means[1] - means[0])
        prior = prior * stats.invgamma.pdf(variance, 3.0, scale=3.0) * variance
        total = np.logaddexp(total, np.log(prior @ np.exp(np.log(g) @ subsets.T)))
    assert total[0] + np.log(step) == pytest.approx(0.0, abs=1e-6)  # of no record: the prior's whole mass
    return weigh_partitions(total + np.log(step), len(z), concentration)


@pytest.mark.parametrize("sampler", [pytest.param(s, marks=pytest.mark.long) for s in (Neal8(), *SAMPLERS)], ids=repr)
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
