"""Subset selection: examples for the contract, its designs, its probabilities and its information."""

import math
import re

import numpy as np
import pytest

from pairs.pairs import log_g_of
from privmix import PrivateMixture, kernels, samplers
from privmix.mechanisms import RandomizedResponse, SubsetSelection
from privmix.mechanisms.cell_grid import cells_to_try
from privmix.mechanisms.difference_sets import difference_set, known_designs
from privmix.mechanisms.subset_selection import (
    sets_of_cells,
    subset_selection_information,
    subset_selection_probabilities,
    subset_selection_variation,
)
from privmix.testing import joint_test

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    SubsetSelection(cells=7, epsilon=0.5, bounds=BOUNDS, staggered=True),
    SubsetSelection(cells=13, epsilon=1.0, bounds=BOUNDS),
    SubsetSelection(cells=6, rho=0.02, bounds=BOUNDS),
]
SIZES = [(6, 2), (5, 3), (7, 3), (8, 1)]


@pytest.mark.parametrize("design", [(7, 3), (13, 4), (21, 5), (31, 6), (57, 8), (73, 9), *known_designs()])
def test_every_difference_occurs_equally_often(design):
    for cells, size in (design, (design[0], design[0] - design[1])):
        block = np.array(difference_set(cells, size))
        assert len(set(block.tolist())) == size
        differences = (block[:, None] - block)[~np.eye(size, dtype=bool)] % cells
        assert (np.bincount(differences, minlength=cells)[1:] == size * (size - 1) / (cells - 1)).all()


def test_other_numbers_have_no_difference_set():
    """9 is no prime; for (6, 3) no design exists at all."""
    assert difference_set(9, 4) is None
    assert difference_set(6, 3) is None
    assert difference_set(9, 8) == tuple(range(1, 9))


@pytest.mark.parametrize(("cells", "size"), [*SIZES, (13, 4), (7, 4)])
def test_every_two_cells_are_together_equally_often(cells, size):
    sets = sets_of_cells(cells, size).astype(int)
    assert (sets.sum(axis=1) == size).all()
    assert len(np.unique(sets, axis=0)) == len(sets)
    together = sets.T @ sets
    alone = len(sets) * size / cells
    assert (np.diag(together) == alone).all()
    assert (together[~np.eye(cells, dtype=bool)] == alone * (size - 1) / (cells - 1)).all()


@pytest.mark.parametrize(("cells", "size"), [*SIZES, (13, 4)])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_formulas_are_those_of_the_table(cells, size, epsilon):
    sets = sets_of_cells(cells, size)
    table = 1.0 + np.expm1(epsilon) * sets
    table /= table.sum(axis=0)
    inside, outside = subset_selection_probabilities(len(sets), cells, size, epsilon)
    assert np.where(sets, inside, outside) == pytest.approx(table, rel=1e-13)
    variation = 0.5 * np.abs(table[:, 0] - table[:, -1]).sum()
    assert subset_selection_variation(cells, size, epsilon) == pytest.approx(variation, rel=1e-9)
    direction = np.linspace(-1.0, 1.0, cells)
    direction /= np.linalg.norm(direction)
    exact = np.sum((table @ direction) ** 2 / table.mean(axis=1))
    assert subset_selection_information(cells, size, epsilon) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("cells", "epsilon", "size"), [(13, 1.0, 4), (31, 1.0, 6), (73, 2.0, 9), (12, 4.0, 1), (7, 1.0, 2)]
)
def test_best_size_is_taken(cells, epsilon, size):
    """(31, 6) stands for the best, 8, which has neither a design nor few subsets."""
    mechanism = SubsetSelection(cells=cells, epsilon=epsilon, bounds=BOUNDS)
    assert mechanism.size == size
    assert len(mechanism.outputs) == (cells if difference_set(cells, size) else math.comb(cells, size))


def test_sets_of_one_cell_are_randomized_response():
    one = SubsetSelection(cells=6, epsilon=2.0, bounds=BOUNDS, size=1, staggered=True)
    other = RandomizedResponse(cells=6, epsilon=2.0, bounds=BOUNDS, staggered=True)
    y = np.linspace(-4.0, 6.0, 101)
    assert one.logpdf(one.outputs[:, None], y) == pytest.approx(other.logpdf(other.outputs[:, None], y), rel=1e-14)
    assert one.zcdp().rho == pytest.approx(other.zcdp().rho, rel=1e-13)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_counts_of_outputs_are_multinomial(mechanism):
    """Σ_z g(z|θ) = 1: the counts of the outputs have a multinomial law given θ, and nothing else of z matters."""
    z = mechanism.outputs
    for theta in ((0.0, 1.0), (4.9, 0.01), (30.0, 2.0)):
        log_g = log_g_of(mechanism, kernels.Normal(), z, np.tile(theta, (len(z), 1)))
        assert np.exp(log_g).sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.long
def test_counts_suffice():
    """Binned, which sees the counts of the outputs alone, targets the posterior given the records."""
    model = PrivateMixture(SubsetSelection(cells=7, epsilon=3.0, bounds=(-10.0, 10.0), staggered=True))
    result = joint_test(model, samplers.Binned())
    assert not result.rejected, str(result)


REFUSED = [
    ({"cells": 1, "epsilon": 1.0}, "SubsetSelection: cells must be a whole number of at least 2; got 1."),
    ({"cells": 501, "epsilon": 1.0}, "SubsetSelection takes at most 500 cells; got 501. Use RandomizedResponse."),
    ({"cells": 7}, "SubsetSelection takes exactly one of epsilon=, rho= to set its noise; got none."),
    ({"cells": 7, "epsilon": 1.0, "size": 0}, "SubsetSelection: size must be a whole number of at least 1; got 0."),
    ({"cells": 7, "epsilon": 1.0, "size": 7}, "SubsetSelection: size must be below the 7 cells; got 7."),
    ({"cells": 7, "epsilon": 1.0, "staggered": "yes"}, "SubsetSelection: staggered must be True or False; got 'yes'."),
    (
        {"cells": 7, "epsilon": 1.0, "rho": 1.0},
        "SubsetSelection takes one of epsilon= or rho=; the given epsilon and rho disagree.",
    ),
    (
        {"cells": 24, "epsilon": 1.0},
        "SubsetSelection with 24 cells at ε = 1 needs sets of about 6: more than 2000 subsets, and no difference set "
        "that is known here. Nearest with a difference set: cells=13 (sets of 4), cells=21 (sets of 5), cells=31 "
        "(sets of 6); or use RandomizedResponse, which takes any number of cells.",
    ),
    (
        {"cells": 24, "epsilon": 1.0, "size": 5},
        "SubsetSelection: 5 of 24 cells has more than 2000 subsets, and no difference set that is known here. Nearest "
        "with a difference set: cells=13 (sets of 4), cells=21 (sets of 5), cells=31 (sets of 6); or use "
        "RandomizedResponse, which takes any number of cells.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        SubsetSelection(**arguments, bounds=(0.0, 1.0))


def test_release_of_another_mechanism_is_refused():
    message = "SubsetSelection with 7 cells on two grids releases whole numbers from 0 to 41; the release z has 1 other"
    with pytest.raises(ValueError, match=re.escape(message)):
        SubsetSelection(cells=7, epsilon=1.0, bounds=BOUNDS, staggered=True).check_release([0.0, 41.0, 42.0])


def test_a_plan_always_has_subsets_of_few_cells_to_try():
    for n in np.geomspace(1e3, 1e5, 200):
        tried = SubsetSelection.candidates(n, (0.0, 1.0), epsilon=1.0)
        cells = [one.cells for one in tried if one.staggered and difference_set(one.cells, one.size) is None]
        assert max(cells) >= 0.6 * cells_to_try(n, 1.0, staggered=True)
        assert max(len(one.sets) for one in tried) <= 200
