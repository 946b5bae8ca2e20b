"""Packed lower triangles in place, against NumPy."""

import numpy as np
import pytest

from privmix.numerics import triangles

SIZES = [1, 2, 5, 12]


def lower(matrix):
    return matrix[np.tril_indices(len(matrix))].copy()


def dense(packed, size):
    out = np.zeros((size, size))
    out[np.tril_indices(size)] = packed
    return out


def covariance(size, seed=1):
    a = np.random.default_rng(seed).standard_normal((size, 2 * size))
    return np.eye(size) + a @ a.T


@pytest.mark.parametrize("size", SIZES)
def test_factor_inverse_and_square(size):
    sigma = covariance(size)
    root, inverse, again = lower(sigma), np.zeros(triangles.packed_size(size)), np.zeros(triangles.packed_size(size))
    assert triangles.factor(root, size)
    assert np.allclose(dense(root, size), np.linalg.cholesky(sigma))
    assert np.isclose(2.0 * triangles.log_diagonal(root, size), np.linalg.slogdet(sigma)[1])
    triangles.invert_into(root, inverse, size)
    assert np.allclose(dense(inverse, size) @ dense(root, size), np.eye(size))
    triangles.square_into(root, again, size)
    assert np.allclose(again, lower(sigma))


@pytest.mark.parametrize("size", SIZES)
def test_quotients_products_and_solutions(size):
    c, b = (np.linalg.cholesky(covariance(size, seed)) for seed in (1, 2))
    quotient = lower(c)
    triangles.divide(quotient, lower(b), size)
    assert np.allclose(dense(quotient, size), c @ np.linalg.inv(b))
    x = np.arange(1.0, size + 1.0)
    product, solution = x.copy(), x.copy()
    triangles.times(lower(c), product, size)
    triangles.solve_transposed(lower(c), solution, size)
    assert np.allclose(product, c @ x)
    assert np.allclose(c.T @ solution, x)


@pytest.mark.parametrize("wrong", [[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]])
def test_what_is_no_covariance_has_no_factor(wrong):
    assert not triangles.factor(lower(np.array(wrong)), 2)
