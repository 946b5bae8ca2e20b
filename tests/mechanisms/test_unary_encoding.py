"""Unary encoding: examples for the contract, its probabilities, and the law of its rows."""

import itertools
import math
import re

import mpmath
import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from privmix.mechanisms import UnaryEncoding
from privmix.mechanisms.unary_encoding import unary_encoding_probabilities
from privmix.privacy import audit

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    UnaryEncoding(cells=4, epsilon=2.0, bounds=BOUNDS),
    UnaryEncoding(cells=3, epsilon=1.0, bounds=BOUNDS, probabilities="symmetric"),
    UnaryEncoding(cells=2, rho=0.1, bounds=BOUNDS),
]


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 5.0, 50.0])
@pytest.mark.parametrize("probabilities", ["optimised", "symmetric"])
def test_probabilities_have_the_ratio(epsilon, probabilities):
    with mpmath.workdps(60):
        half = mpmath.exp(mpmath.mpf(epsilon) / 2)
        p = mpmath.mpf(1) / 2 if probabilities == "optimised" else half / (half + 1)
        q = 1 / (half**2 + 1) if probabilities == "optimised" else 1 / (half + 1)
        assert float(mpmath.log(p * (1 - q) / (q * (1 - p)))) == pytest.approx(epsilon, rel=1e-15)
        assert unary_encoding_probabilities(epsilon, probabilities) == pytest.approx((float(p), float(q)), rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("probabilities", ["optimised", "symmetric"])
def test_claim_is_kept_exactly(epsilon, probabilities):
    mechanism = UnaryEncoding(cells=5, epsilon=epsilon, bounds=BOUNDS, probabilities=probabilities)
    rows = np.array(list(itertools.product((0.0, 1.0), repeat=5)))
    found = audit(mechanism, outputs=rows)
    assert found.claimed == epsilon
    assert found.worst == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_law_of_the_rows(mechanism):
    rows = np.array(list(itertools.product((0.0, 1.0), repeat=mechanism.cells)))
    for seed, y in enumerate((-9.0, -1.1, 4.9, 50.0)):
        law = np.exp(mechanism.logpdf(rows, y))
        own = min(max(int((y + 3.0) / 8.0 * mechanism.cells), 0), mechanism.cells - 1)
        p, q = unary_encoding_probabilities(mechanism.epsilon, mechanism.probabilities)
        ones = np.where(np.arange(mechanism.cells) == own, p, q)
        assert law == pytest.approx(np.prod(np.where(rows == 1.0, ones, 1.0 - ones), axis=1), rel=1e-12)
        assert mechanism.bit_means(np.array([y]))[0] == pytest.approx(ones)
        drawn = mechanism.perturb(np.random.default_rng(seed), np.full(40_000, y))
        codes = drawn @ 2.0 ** np.arange(mechanism.cells)[::-1]
        counts = np.bincount(codes.astype(int), minlength=len(rows))
        assert stats.chisquare(counts, 40_000 * law).pvalue > ALPHA


def test_other_values_than_bits_are_refused():
    mechanism = EXAMPLES[0]
    assert mechanism.logpdf([[0.0, 1.0, 0.5, 0.0]], 0.0).tolist() == [-math.inf]
    message = "UnaryEncoding releases zeros and ones; the release z has 1 other values, the first 0.5."
    with pytest.raises(ValueError, match=re.escape(message)):
        mechanism.check_release([[0.0, 1.0, 0.5, 0.0]])


def test_chain_starts_at_the_middle_one():
    z = np.array([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    assert EXAMPLES[0].initial(z).tolist() == [2.0, 0.0, 4.0]


def test_bad_arguments():
    for arguments, message in [
        ({"cells": 4}, "UnaryEncoding takes exactly one of epsilon=, rho= to set its noise; got none."),
        ({"cells": 1, "epsilon": 1.0}, "UnaryEncoding: cells must be a whole number of at least 2; got 1."),
        (
            {"cells": 4, "epsilon": 1.0, "probabilities": "best"},
            "UnaryEncoding: probabilities must be 'optimised' or 'symmetric'; got 'best'.",
        ),
    ]:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            UnaryEncoding(**arguments, bounds=BOUNDS)
