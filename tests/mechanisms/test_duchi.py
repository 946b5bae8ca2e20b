"""Duchi's two-point mechanism: examples for the contract, its mean, its law and its refusals."""

import math
import re

import numpy as np
import pytest

from privmix.mechanisms import Duchi
from privmix.privacy import audit

BOUNDS = (-3.0, 5.0)
EXAMPLES = [Duchi(epsilon=2.0, bounds=BOUNDS), Duchi(rho=0.1, bounds=BOUNDS)]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0, 50.0])
def test_claim_is_kept_exactly(epsilon):
    mechanism = Duchi(epsilon=epsilon, bounds=BOUNDS)
    found = audit(mechanism, outputs=mechanism.outputs)
    assert found.claimed == epsilon
    assert found.worst == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_mean_of_a_release_is_the_record(mechanism):
    for y, inside in ((-3.0, -3.0), (0.7, 0.7), (5.0, 5.0), (9.0, 5.0), (-99.0, -3.0)):
        law = np.exp(mechanism.logpdf(mechanism.outputs, y))
        assert law.sum() == pytest.approx(1.0, rel=1e-14)
        assert law @ mechanism.outputs == pytest.approx(inside, rel=1e-12)
        z = mechanism.perturb(np.random.default_rng(1), np.full(100_000, y))
        share = np.mean(z == mechanism.outputs[1])
        assert abs(share - law[1]) < 5.0 * math.sqrt(law[0] * law[1] / 100_000)
    assert mechanism.outputs == pytest.approx(1.0 + np.array([-4.0, 4.0]) / math.tanh(0.5 * mechanism.epsilon))


def test_means_over_cells():
    mechanism, edges = EXAMPLES[0], np.linspace(*BOUNDS, 5)
    middles = 0.5 * (edges[1:] + edges[:-1])
    exact = mechanism.logpdf(mechanism.outputs[:, None], middles)
    assert mechanism.log_cell_means(mechanism.outputs, edges) == pytest.approx(exact, rel=1e-12)


def test_other_numbers_are_refused():
    mechanism = EXAMPLES[0]
    written = np.round(mechanism.outputs, 12)
    assert np.isfinite(mechanism.logpdf(mechanism.check_release(written), 0.0)).all()
    assert (mechanism.logpdf([0.0, math.inf], 0.0) == -math.inf).all()
    assert math.isnan(mechanism.logpdf(math.nan, 0.0))
    message = "Duchi releases the numbers -4.25214 and 6.25214; the release z has 1 other values, the first 0."
    with pytest.raises(ValueError, match=re.escape(message)):
        mechanism.check_release([mechanism.outputs[0], 0.0])
