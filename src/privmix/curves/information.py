"""Mutual information of two columns that slope inside components, by quadrature: I = H(x) + H(y) − H(x, y).

With components in order of their size, the widest first, and f_k the mixture of the first k of them,

    −H = Σ_k E_k[w_k log f_k + u_k log(1 + w_k/u_k)],    u_k = f_{k−1}/(density of component k).

Each expectation is over one component, on whose scale all that is in it is smooth: so a narrow component inside a wide
one is seen, as points of the wide one would not see it.
"""

from __future__ import annotations

import math

import numpy as np

from privmix.curves.mixture import count_of, load_atom, run_over
from privmix.kernels import Kernel
from privmix.kernels.slots import row_moments
from privmix.samplers.base import Draws

# Gauss's rule for normal laws: points in each direction, and their shares.
_ROOTS, _WEIGHTS = np.polynomial.hermite.hermgauss(20)
NODES, SHARES = math.sqrt(2.0) * _ROOTS, _WEIGHTS / math.sqrt(math.pi)
# Components of less weight are left out: what they would change is less than the draws' last stick leaves open.
LEAST_WEIGHT = 1e-7
# Least variance of y given x, over that of y: a slope is no more than this from a line.
LEAST_REST = 1e-12
# Below this u log(1 + w/u) is nothing, and w/u may be too large for floating point.
LEAST_RATIO = 1e-200
# Columns of `pair`: weight; mean and deviation of x and of y; slope of y; deviation of y given x; size.
WEIGHT, X, X_SPREAD, Y, Y_SPREAD, SLOPE, REST, SIZE = range(8)


def information_of_rows(kernel: Kernel, draws: Draws) -> np.ndarray:
    """Return the mutual information of each two columns in each draw, for normal components; NaN on the diagonal."""
    d, most = kernel.dimension, draws.weight.shape[-1]
    out = np.full((count_of(draws), d, d), np.nan)
    scratch = np.zeros((most, d)), np.zeros((most, d, d)), np.zeros((most, 8))
    run_over(kernel, fill_information, draws, NODES, SHARES, *scratch, out)
    return out


def fill_information(kernel, weight, atom, components, row, nodes, shares, means, insides, pair, out):
    """Write the mutual information of each two columns in each draw (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            row_moments(kernel, row[0], means[h], insides[h])
        for j in range(out.shape[1] - 1):
            for k in range(j + 1, out.shape[1]):
                kept = keep_pair(weight[d], components[d], means, insides, j, k, pair)
                value = -entropy_of_both(kept, pair, nodes, shares)
                value += entropy_of_one(kept, pair, X, X_SPREAD, nodes, shares)
                value += entropy_of_one(kept, pair, Y, Y_SPREAD, nodes, shares)
                out[d, j, k] = max(value, 0.0)
                out[d, k, j] = out[d, j, k]


def keep_pair(weight, components, means, insides, j, k, pair):
    """Write what is needed of two columns of the components that matter; return how many these are."""
    kept, mass = 0, 0.0
    for h in range(components):
        if weight[h] >= LEAST_WEIGHT:
            slope = insides[h, j, k] / insides[h, j, j]
            rest = insides[h, k, k] - slope * insides[h, j, k]
            pair[kept, WEIGHT], pair[kept, X], pair[kept, Y] = weight[h], means[h, j], means[h, k]
            pair[kept, X_SPREAD], pair[kept, Y_SPREAD] = math.sqrt(insides[h, j, j]), math.sqrt(insides[h, k, k])
            pair[kept, SLOPE], pair[kept, REST] = slope, math.sqrt(max(rest, LEAST_REST * insides[h, k, k]))
            kept, mass = kept + 1, mass + weight[h]
    for h in range(kept):
        pair[h, WEIGHT] /= mass
    return kept


def sort_widest_first(kept, pair):
    """Put components in order of their size."""
    for h in range(1, kept):
        i = h
        while i > 0 and pair[i - 1, SIZE] < pair[i, SIZE]:
            for c in range(pair.shape[1]):
                pair[i, c], pair[i - 1, c] = pair[i - 1, c], pair[i, c]
            i -= 1


def entropy_of_both(kept, pair, nodes, shares):
    """Return H(x, y) less its constant log 2π."""
    for h in range(kept):
        pair[h, SIZE] = pair[h, X_SPREAD] * pair[h, REST]
    sort_widest_first(kept, pair)
    total = 0.0
    for k in range(kept):
        for p in range(len(nodes)):
            x = pair[k, X] + pair[k, X_SPREAD] * nodes[p]
            centre = pair[k, Y] + pair[k, SLOPE] * (x - pair[k, X])
            for q in range(len(nodes)):
                y, wider = centre + pair[k, REST] * nodes[q], 0.0
                for h in range(k):
                    wider += pair[h, WEIGHT] * density_of_both(pair[h], x, y)
                total -= shares[p] * shares[q] * told_at(pair[k, WEIGHT], density_of_both(pair[k], x, y), wider)
    return total


def entropy_of_one(kept, pair, mean, spread, nodes, shares):
    """Return H of one column less its constant ½ log 2π."""
    for h in range(kept):
        pair[h, SIZE] = pair[h, spread]
    sort_widest_first(kept, pair)
    total = 0.0
    for k in range(kept):
        for p in range(len(nodes)):
            x, wider = pair[k, mean] + pair[k, spread] * nodes[p], 0.0
            for h in range(k):
                wider += pair[h, WEIGHT] * density_of_one(pair[h, mean], pair[h, spread], x)
            own = density_of_one(pair[k, mean], pair[k, spread], x)
            total -= shares[p] * told_at(pair[k, WEIGHT], own, wider)
    return total


def told_at(weight, own, wider):
    """Return w log(w·own + wider) + u log(1 + w/u), u = wider/own: what a component adds to −H at a point of it."""
    ratio = wider / own
    told = ratio * math.log1p(weight / ratio) if ratio > LEAST_RATIO else 0.0
    return weight * math.log(weight * own + wider) + told


def density_of_both(row, x, y):
    """Return 2π times the density of a component."""
    gap = (x - row[X]) / row[X_SPREAD]
    rise = (y - row[Y] - row[SLOPE] * (x - row[X])) / row[REST]
    return math.exp(-0.5 * (gap * gap + rise * rise)) / (row[X_SPREAD] * row[REST])


def density_of_one(mean, spread, x):
    """Return √2π times the density of one column of a component."""
    gap = (x - mean) / spread
    return math.exp(-0.5 * gap * gap) / spread
