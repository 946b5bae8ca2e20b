"""Lower triangles of small matrices, packed row by row, worked on in place: for compiled code, which makes no arrays.

Entry (i, j) with j ≤ i stands at i(i + 1)/2 + j. A symmetric matrix is held by its lower triangle.
"""

from __future__ import annotations

import math


def packed_size(size):
    """Return how many numbers a triangle has."""
    return size * (size + 1) // 2


def at(i, j):
    """Return where entry (i, j), j ≤ i, stands."""
    return i * (i + 1) // 2 + j


def factor(a, size):
    """Write the Cholesky factor of a symmetric matrix over it; return whether there is one."""
    for i in range(size):
        for j in range(i + 1):
            total = a[at(i, j)]
            for k in range(j):
                total -= a[at(i, k)] * a[at(j, k)]
            if i > j:
                a[at(i, j)] = total / a[at(j, j)]
            elif total > 0.0:
                a[at(i, i)] = math.sqrt(total)
            else:
                return False
    return True


def log_diagonal(a, size):
    """Return the sum of the logarithms of a diagonal: half the log determinant, of a Cholesky factor."""
    total = 0.0
    for i in range(size):
        total += math.log(a[at(i, i)])
    return total


def invert_into(a, out, size):
    """Write the inverse of a triangle into another."""
    for j in range(size):
        out[at(j, j)] = 1.0 / a[at(j, j)]
        for i in range(j + 1, size):
            total = 0.0
            for k in range(j, i):
                total -= a[at(i, k)] * out[at(k, j)]
            out[at(i, j)] = total / a[at(i, i)]


def divide(c, b, size):
    """Write c b⁻¹ over c, both triangles."""
    for i in range(size):
        for j in range(i, -1, -1):
            total = c[at(i, j)]
            for k in range(j + 1, i + 1):
                total -= c[at(i, k)] * b[at(k, j)]
            c[at(i, j)] = total / b[at(j, j)]


def square_into(a, out, size):
    """Write the lower triangle of a aᵀ into another."""
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(j + 1):
                total += a[at(i, k)] * a[at(j, k)]
            out[at(i, j)] = total


def times(a, x, size):
    """Write a x over x: from the last row on, so that no entry is needed after it is written."""
    for i in range(size - 1, -1, -1):
        total = 0.0
        for j in range(i + 1):
            total += a[at(i, j)] * x[j]
        x[i] = total


def solve_transposed(a, x, size):
    """Write the solution of aᵀ u = x over x."""
    for i in range(size - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, size):
            total -= a[at(k, i)] * x[k]
        x[i] = total / a[at(i, i)]
