"""Sets of cells on one grid or two: the closed form of means over any cells."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logsumexp

from privmix.mechanisms import RandomizedResponse, SubsetSelection
from privmix.mechanisms.cell_grid import grid_edge


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse(7, epsilon=2.0, bounds=(-3.0, 5.0)),
        RandomizedResponse(5, epsilon=50.0, bounds=(-3.0, 5.0), staggered=True),
        SubsetSelection(7, epsilon=1.0, bounds=(-3.0, 5.0), staggered=True),
        SubsetSelection(6, epsilon=0.5, bounds=(-3.0, 5.0), size=2),
    ],
    ids=repr,
)
def test_means_over_cells_are_those_of_the_pieces_between_all_edges(mechanism):
    given = np.array([-4.0, -3.0, -2.8, 0.1, 0.2, 3.0, 5.0, 5.5])
    found = mechanism.log_cell_means(mechanism.outputs, given)
    own = [grid_edge(mechanism, grid, np.arange(1, mechanism.cells)) for grid in range(mechanism.grids)]
    for k, (low, high) in enumerate(pairwise(given)):
        ends = np.unique([low, *(edge for edges in own for edge in edges if low < edge < high), high])
        middle, share = 0.5 * (ends[1:] + ends[:-1]), np.diff(ends) / (high - low)
        for z, row in zip(mechanism.outputs, found, strict=True):
            assert row[k] == pytest.approx(logsumexp(mechanism.logpdf(z, middle), b=share), abs=1e-11)
