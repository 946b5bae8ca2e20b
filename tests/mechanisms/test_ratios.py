"""Mechanisms with three ratios: their own ρ against brute force over pairs of records and orders α."""

import itertools
import math
import re

import numpy as np
import pytest

from mechanisms.examples import CONCRETE, EXAMPLES, own_tests
from privmix.mechanisms import RandomizedResponse, SquareWave, SubsetSelection
from privmix.mechanisms.ratios import ThreeRatios
from privmix.privacy import ZCDP

BOUNDS = (-3.0, 5.0)
UNIT = (0.0, 1.0)
# Not so close to 1 that the divergence loses its digits there; the limit is added.
ALPHAS = 1.0 + np.geomspace(1e-4, 50.0, 300)
KINDS = [kind for kind in CONCRETE if issubclass(kind, ThreeRatios)]
#: the values of records between which the worst pair is looked for
RECORDS = np.linspace(*BOUNDS, 9)


def outputs_and_widths(mechanism, y, other):
    """Return outputs between which neither law changes, and the mass of each under a density of one."""
    if mechanism.row_length is not None:
        rows = np.array(list(itertools.product((0.0, 1.0), repeat=mechanism.row_length)))
        return rows, np.ones(len(rows))
    if mechanism.outputs is not None:
        return mechanism.outputs, np.ones(len(mechanism.outputs))
    edges = np.unique(np.concatenate([own_tests(type(mechanism)).jumps(mechanism, point) for point in (y, other)]))
    return 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)


def laws(mechanism, y, other):
    """Return the masses of the outputs under two records."""
    z, widths = outputs_and_widths(mechanism, y, other)
    return [np.exp(mechanism.logpdf(z, point)) * widths for point in (y, other)]


def divergence(p, q):
    """Return the largest D_α/α over the orders, by the definition, and the limit at 1."""
    ratio = np.log(p) - np.log(q)
    orders = [np.log(np.sum(p * np.exp((a - 1.0) * ratio))) / (a * (a - 1.0)) for a in ALPHAS]
    return max(np.sum(p * ratio), *orders)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_rho_is_that_of_the_worst_pair(kind):
    for mechanism in EXAMPLES[kind.__name__]:
        pairs = [laws(mechanism, y, other) for y, other in itertools.permutations(RECORDS, 2)]
        for p, q in pairs:
            assert p.sum() == pytest.approx(1.0, rel=1e-12)
            assert q.sum() == pytest.approx(1.0, rel=1e-12)
        variation = max(0.5 * np.abs(p - q).sum() for p, q in pairs)
        assert mechanism.variation == pytest.approx(variation, rel=1e-9)
        found = max(divergence(p, q) for p, q in pairs)
        claimed = mechanism.zcdp()
        assert type(claimed) is ZCDP
        assert found <= claimed.rho * (1.0 + 1e-9)
        # The grid of orders misses the largest by a little.
        assert found == pytest.approx(claimed.rho, rel=1e-4)
        assert claimed.rho <= mechanism.guarantee.zcdp().rho


@pytest.mark.parametrize(
    ("mechanism", "rho"),
    [
        (RandomizedResponse(cells=16, epsilon=1.0, bounds=UNIT), 0.113),
        (SubsetSelection(cells=13, epsilon=1.0, bounds=UNIT), 0.259),
        (SubsetSelection(cells=13, epsilon=1.0, bounds=UNIT, staggered=True), 0.259),
        (SquareWave(epsilon=1.0, bounds=UNIT), math.exp(-1.0)),
    ],
    ids=repr,
)
def test_known_values(mechanism, rho):
    assert mechanism.zcdp().rho == pytest.approx(rho, abs=5e-4)


@pytest.mark.parametrize("rho", [1e-4, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_noise_set_by_rho_spends_it(kind, rho):
    first = EXAMPLES[kind.__name__][0]
    cells = {"cells": first.cells} if hasattr(first, "cells") else {}
    mechanism = kind(**cells, rho=rho, bounds=UNIT)
    assert mechanism.zcdp().rho == pytest.approx(rho, rel=1e-9)
    assert mechanism.zcdp().rho <= rho
    assert mechanism.guarantee.epsilon >= math.sqrt(2.0 * rho) * (1.0 - 1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_budget_that_is_no_budget(kind):
    first = EXAMPLES[kind.__name__][0]
    cells = {"cells": first.cells} if hasattr(first, "cells") else {}
    for given, message in [
        ({"rho": 0.0}, "The noise was to be calibrated with rho=0.0, but needs rho > 0 and finite."),
        ({"rho": "x"}, "The noise was to be calibrated with rho='x', but needs rho > 0 and finite."),
        ({"epsilon": 1.0, "rho": 3.0}, f"{kind.__name__} takes one of epsilon= or rho=; the given epsilon and rho"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            kind(**cells, **given, bounds=UNIT)
