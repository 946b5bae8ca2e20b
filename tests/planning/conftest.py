"""A small plan, and its page over a small grid."""

import pytest
from scipy import stats

import privmix
from privmix.mechanisms import Laplace, RandomizedResponse


@pytest.fixture(scope="session")
def small():
    two = stats.norm(30.0, 8.0).pdf, stats.norm(70.0, 8.0).pdf
    shape = lambda y: two[0](y) + two[1](y)  # noqa: E731
    return privmix.plan((0.0, 100.0), epsilon=1.0, n=20_000, shape=shape, only=(Laplace, RandomizedResponse))


@pytest.fixture(scope="session")
def small_grid():
    """Let grids have three budgets and three numbers of people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privmix.planning.grid.BUDGETS", (0.5, 1.0, 2.0))
        patch.setattr("privmix.planning.grid.PEOPLE", (0.1, 1.0, 10.0))
        yield


@pytest.fixture(scope="session")
def page(small, small_grid):
    from privmix.planning.page import render

    return render(small, want_l1=0.15, title="A <b>plan</b> & more")
