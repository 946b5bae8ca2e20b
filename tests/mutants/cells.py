"""Bugs of mechanisms that release cells, on one grid or on two."""

from __future__ import annotations

from mutants.models import WIDE, one
from privmix.kernels import Normal
from privmix.mechanisms import Duchi, RandomizedResponse, Staircase, SubsetSelection, cell_grid
from privmix.mechanisms import randomized_response as response_file
from privmix.mechanisms import staircase as staircase_file
from privmix.mechanisms import subset_selection as subset_file
from privmix.model import PrivateMixture
from privmix.pairs import cells as cells_file
from privmix.priors import DirichletProcess
from privmix.samplers import Binned, Neal5, Neal8
from privmix.testing import Mutant

RESPONSE = PrivateMixture(
    RandomizedResponse(cells=6, epsilon=4.0, bounds=WIDE, staggered=True), Normal(), DirichletProcess(2.0)
)
SUBSETS = PrivateMixture(
    SubsetSelection(cells=7, epsilon=4.0, bounds=WIDE, size=3, staggered=True), Normal(), DirichletProcess(2.0)
)

STAIRS = PrivateMixture(Staircase(epsilon=5.0, bounds=WIDE), Normal(), DirichletProcess(2.0))
TWO_POINTS = PrivateMixture(Duchi(epsilon=4.0, bounds=WIDE), Normal(), DirichletProcess(2.0))


def cell_bugs() -> list[Mutant]:
    """Return bugs of grids, cells and sets of cells."""
    return [
        one("both grids begin at the bound", cell_grid.grid_edge, "(2.0 * j - grid)", "(2.0 * j)", RESPONSE, Neal5()),
        one(
            "second grid read as the first",
            response_file._place,
            "(1.0, z - part.cells)",
            "(0.0, z - part.cells)",
            RESPONSE,
            Neal8(),
        ),
        one(
            "runs outside a set taken for those inside",
            SubsetSelection.cell_log_q,
            "(j % 2 == 0)",
            "(j % 2 == 1)",
            SUBSETS,
            Neal8(),
        ),
        one(
            "runs that end a cell early",
            SubsetSelection.cell_edge,
            "self.runs[row, j])",
            "self.runs[row, j] - 1)",
            SUBSETS,
            Neal8(),
        ),
        one(
            "sets of the second grid counted on the first",
            cells_file.masses_of_sets,
            "grid_edge(mechanism, float(grid), j + 1)",
            "grid_edge(mechanism, 0.0, j + 1)",
            SUBSETS,
            Binned(),
        ),
        one(
            "place of y between the bounds without the grid",
            subset_file._cell_of,
            "place = 0.5 * (place * (2.0 * part.cells - 1.0) + grid) if part.staggered else place * part.cells",
            "place = place * part.cells - 2.0",
            SUBSETS,
            Neal5(),
        ),
        one(
            "steps counted from a whole width on",
            staircase_file._steps,
            " + 1.0 - part.gamma",
            "",
            STAIRS,
            Neal5(),
        ),
        one(
            "next step of the staircase half as far",
            staircase_file._edges,
            "reach = (part.gamma +",
            "reach = 0.5 * (part.gamma +",
            STAIRS,
            Neal8(),
        ),
        one(
            "further cells of a staircase two steps down",
            Staircase.cell_log_q,
            "(0.0 if nearest else 1.0)",
            "(0.0 if nearest else 2.0)",
            STAIRS,
            Neal8(),
        ),
        one(
            "upper of two numbers taken for the lower",
            Duchi.log_q,
            "if offset > 0.0 else",
            "if offset < 0.0 else",
            TWO_POINTS,
            Neal5(),
        ),
    ]
