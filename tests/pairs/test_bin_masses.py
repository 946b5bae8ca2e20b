"""Probabilities of all bins at once against differences of the distribution function."""

import numpy as np
import pytest

from pairs.pairs import cdf_of, masses_of
from privmix.kernels import TruncatedNormal
from privmix.mechanisms import Laplace

BOUNDS = (-1.0, 3.0)


@pytest.mark.parametrize("scale", [0.02, 0.7, 12.0])
@pytest.mark.parametrize("parameters", [(1.0, 0.3), (-0.9, 1e-4), (3.5, 0.2), (-40.0, 1.0), (0.0, 1e6), (1e3, 25.0)])
def test_masses_are_differences_of_the_distribution_function(scale, parameters):
    mechanism, kernel = Laplace(scale=scale, bounds=BOUNDS), TruncatedNormal(BOUNDS)
    edges = np.linspace(-1.0 - 8.0 * scale, 3.0 + 8.0 * scale, 98)
    found = masses_of(mechanism, kernel, np.array([-np.inf, *edges[1:-1], np.inf]), parameters)
    inner = cdf_of(mechanism, kernel, edges[1:-1], parameters)
    exact = np.diff([0.0, *inner, 1.0])
    assert found == pytest.approx(exact, abs=1e-14)
    assert found.sum() == pytest.approx(1.0, abs=1e-14)
    # Far below the bounds both are accurate in relative terms.
    below = edges[1:] < BOUNDS[0]
    assert found[below] == pytest.approx(exact[below], rel=1e-9)


@pytest.mark.parametrize("edges", [(0.5,), (-1.0, 3.0), (-2.0, -1.5), (3.5, 4.0), (-5.0, 9.0)])
def test_bins_that_meet_or_miss_the_bounds(edges):
    mechanism, kernel = Laplace(scale=1.3, bounds=BOUNDS), TruncatedNormal(BOUNDS)
    found = masses_of(mechanism, kernel, np.array([-np.inf, *edges, np.inf]), (0.3, 2.0))
    inner = cdf_of(mechanism, kernel, np.array(edges), (0.3, 2.0))
    assert found == pytest.approx(np.diff([0.0, *inner, 1.0]), abs=1e-15)
