"""Linear systems of some dozen unknowns, solved in place: for compiled code, which makes no arrays.

Loops run along rows, so that a compiler makes vector instructions of them without reordering any sum.
"""

from __future__ import annotations

import math


def inner(first, second):
    """Return the inner product of two vectors: eight sums side by side, of which a compiler makes vectors."""
    size = len(first)
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for q in range(0, size - 7, 8):
        a += first[q] * second[q]
        b += first[q + 1] * second[q + 1]
        c += first[q + 2] * second[q + 2]
        d += first[q + 3] * second[q + 3]
        e += first[q + 4] * second[q + 4]
        f += first[q + 5] * second[q + 5]
        g += first[q + 6] * second[q + 6]
        h += first[q + 7] * second[q + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for q in range(size - size % 8, size):
        total += first[q] * second[q]
    return total


def invert(a, size):
    """Write the inverse of a positive definite matrix over it; return the log of its determinant, nan where it is none.

    Gauss and Jordan without exchanges, which such a matrix does not need.
    """
    log_determinant = 0.0
    for k in range(size):
        pivot = a[k, k]
        if not pivot > 0.0:
            return math.nan
        log_determinant += math.log(pivot)
        a[k, k] = 1.0
        for j in range(size):
            a[k, j] /= pivot
        for i in range(size):
            if i != k:
                factor = a[i, k]
                a[i, k] = 0.0
                for j in range(size):
                    a[i, j] -= factor * a[k, j]
    return log_determinant


def solve(a, b, size):
    """Write the solution x of a x = b over b, and factors over a; return whether there is one."""
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if not abs(a[best, k]) > 0.0:
            return False
        if best != k:
            exchange_rows(a, b, k, best, size)
        for i in range(k + 1, size):
            factor = a[i, k] / a[k, k]
            for j in range(k, size):
                a[i, j] -= factor * a[k, j]
            b[i] -= factor * b[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            b[k] -= a[k, j] * b[j]
        b[k] /= a[k, k]
    return True


def exchange_rows(a, b, k, i, size):
    """Exchange two equations."""
    for j in range(size):
        kept = a[k, j]
        a[k, j] = a[i, j]
        a[i, j] = kept
    kept = b[k]
    b[k] = b[i]
    b[i] = kept
