"""Linear systems in place, against NumPy."""

import numpy as np
import pytest

from privmix.numerics import linear


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_inverse_and_determinant(size):
    a = np.random.default_rng(size).standard_normal((size, 2 * size))
    a = np.eye(size) + a @ a.T
    inverse = a.copy()
    assert np.isclose(linear.invert(inverse, size), np.linalg.slogdet(a)[1])
    assert np.allclose(inverse @ a, np.eye(size))


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_solution(size):
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((size, size)), rng.standard_normal(size)
    a[0, 0] = 0.0 if size > 1 else 1.0  # the first pivot must be another
    x = b.copy()
    assert linear.solve(a.copy(), x, size)
    assert np.allclose(a @ x, b)


def test_none_where_there_is_none():
    assert not linear.solve(np.ones((2, 2)), np.ones(2), 2)
    assert np.isnan(linear.invert(-np.eye(2), 2))
