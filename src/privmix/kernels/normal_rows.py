"""Normal components of several columns in compiled code: the layout of a row of θ, and conjugate draws of μ and Σ.

A row has μ, the lower triangle of Σ, that of its Cholesky factor L, that of L⁻¹, the factor that a pair makes, the log
height −½ log det 2πΣ, that of the pair's factor, the name of what that factor is of, and three vectors of scratch.
"""

from __future__ import annotations

import math

from privmix.numerics import gamma, normal
from privmix.numerics.triangles import at, divide, factor, packed_size, square_into, times

FULL, DIAGONAL, SHARED = range(3)


def constant_count(d):
    """Return how many numbers of a row follow the parameters."""
    return scratch_place(d, 3) - d - packed_size(d)


def inverse_place(d):
    """Return where L⁻¹ stands in a row of θ; L stands before it."""
    return d + 2 * packed_size(d)


def pair_place(d):
    """Return where the factor that a pair makes stands."""
    return d + 3 * packed_size(d)


def height_place(d):
    """Return where −½ log det 2πΣ stands; then that of a pair's factor, and the name of what the factor is of."""
    return d + 4 * packed_size(d)


def kept_place(d):
    """Return where the name of what a pair's factor is of stands: 0 for nothing."""
    return height_place(d) + 2


def scratch_place(d, k):
    """Return where vector k of scratch stands, of three."""
    return kept_place(d) + 1 + k * d


def draw_row(rng, theta, out, d):
    """Draw N(μ, Σ) into a row."""
    for i in range(d):
        out[i] = normal(rng)
    times(theta[d + packed_size(d) : inverse_place(d)], out, d)
    for i in range(d):
        out[i] += theta[i]


def scale_entry(kernel, hyper, i, j):
    """Return an entry of the scale, j ≤ i: as given, or as it is learned now."""
    if hyper is None:
        return kernel.triangle[at(i, j)]
    return hyper[i] if i == j else 0.0


def log_det_scale(kernel, hyper):
    """Return the log determinant of the scale."""
    if hyper is None:
        return kernel.log_det
    total = 0.0
    for j in range(len(hyper)):
        total += math.log(hyper[j])
    return total


def draw_from_sums(kernel, rng, theta, n):
    """Draw Σ and then μ, given the sums of n records: θ has the mean of μ, and S_n in the place of Σ."""
    d = len(kernel.mean)
    size = packed_size(d)
    sums, root = theta[d : d + size], theta[d + size : inverse_place(d)]
    if kernel.form == FULL:
        draw_wishart_root(rng, sums, root, theta[inverse_place(d) : pair_place(d)], kernel.degrees + n, d)
    elif kernel.form == DIAGONAL:
        draw_variances(rng, sums, root, kernel.degrees + n - d + 1.0, d)
    else:
        draw_multiple(kernel, rng, sums, root, n, d)
    square_into(root, sums, d)
    shift = theta[scratch_place(d, 0) : scratch_place(d, 1)]
    for j in range(d):
        shift[j] = normal(rng) / math.sqrt(kernel.precision_scale + n)
    times(root, shift, d)
    for j in range(d):
        theta[j] += shift[j]


def draw_wishart_root(rng, sums, root, scratch, degrees, d):
    """Write the Cholesky factor of Σ ~ InverseWishart(degrees, sums).

    With sums = C Cᵀ, Σ = C (BᵀB)⁻¹ Cᵀ for Bartlett's B: lower, standard normal below the diagonal and B_ii² ~
    χ²(degrees − d + 1 + i), i from 0, so that BᵀB is a Wishart matrix. Then C B⁻¹ is lower, and the factor.
    """
    for i in range(d):
        for j in range(i):
            scratch[at(i, j)] = normal(rng)
        scratch[at(i, i)] = math.sqrt(2.0 * gamma(rng, 0.5 * (degrees - d + 1.0 + i)))
    for k in range(packed_size(d)):
        root[k] = sums[k]
    factor(root, d)
    divide(root, scratch, d)


def draw_variances(rng, sums, root, degrees, d):
    """Write the root of a diagonal Σ: sums_jj/σ²_j ~ χ²(degrees)."""
    for i in range(d):
        for j in range(i):
            root[at(i, j)] = 0.0
        root[at(i, i)] = math.sqrt(sums[at(i, i)] / (2.0 * gamma(rng, 0.5 * degrees)))


def draw_multiple(kernel, rng, sums, root, n, d):
    """Write the root of Σ = s·scale: s ~ InverseGamma((ν − d + 1 + nd)/2, ½(1 + tr scale⁻¹(sums − scale)))."""
    rate = 0.5 * (1.0 - d)
    for i in range(d):
        for j in range(i + 1):
            rate += (0.5 if i == j else 1.0) * kernel.inverse[at(i, j)] * sums[at(i, j)]
    multiple = rate / gamma(rng, 0.5 * (kernel.degrees - d + 1.0 + n * d))
    for k in range(packed_size(d)):
        root[k] = multiple * kernel.triangle[k]
    factor(root, d)
