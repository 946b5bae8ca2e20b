"""The urn's proposals against its weights: n_h − d for an old cluster, without the record itself, and a new one's."""

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from priors.examples import ALL, hook, law_of
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.engine.chains import initial_latent
from privmix.jit import bind
from privmix.priors import slots
from privmix.samplers.moves.partition import adopt_partition, propose_row
from privmix.testing.mutant import build, exchange, source_of

LABELS = np.array([0, 0, 1, 2, 2, 2, 3])
COUNT = 3000


def proposals(prior, i, function=propose_row):
    """Return the rows that the urn proposes to record i, in plain Python, and their probabilities."""
    model = PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0)), kernels.Normal(), prior)
    n, rng = len(LABELS), np.random.default_rng(1)
    state, latent = samplers.Neal5().allocate(model, n), initial_latent(model, np.zeros(n), clusters=4)
    latent.labels[:] = LABELS
    latent.concentration[:] = law_of(prior, n, rng)
    adopt_partition(state, latent)
    propose = bind(function, model.hooks(), compiled=False, owner="the urn")
    rows = [propose(model.parts(), state, rng, i) for _ in range(COUNT)]
    sizes = np.bincount(np.delete(LABELS, i), minlength=5).astype(float)
    clusters = np.count_nonzero(sizes)
    weights = np.where(sizes > 0, sizes - hook(prior, slots.reduction, state.concentration), 0.0)
    weights[4] = prior.new_weight(state.concentration, n - 1, clusters)
    return np.bincount(rows, minlength=5), weights / weights.sum()


def p_value(found, exact):
    """Return that of χ² over what can happen; nothing else may."""
    assert found[exact == 0.0].sum() == 0
    return stats.chisquare(found[exact > 0.0], COUNT * exact[exact > 0.0]).pvalue


@pytest.mark.parametrize("i", [0, 2, 5])
@pytest.mark.parametrize("prior", ALL, ids=repr)
def test_proposals_follow_the_weights(prior, i):
    assert p_value(*proposals(prior, i)) > ALPHA


def test_discount_by_sizes_with_the_record_itself_is_seen():
    """The joint test would take many more pairs: it is a matter of old clusters among themselves."""
    source = exchange(source_of(propose_row), "size_without(state, row, i)", "state.size[row]")
    wrong = build(propose_row, source)
    assert p_value(*proposals(priors.PitmanYor(0.8, 1.0), 0, wrong)) < ALPHA
