"""The likelihood of cells: q(z|y) averaged over y in each cell of a grid.

L_ik = (1/|C_k|) ∫_{C_k} q(z_i|y) dy, the density of z_i if y is uniform on cell k. Exact where a
mechanism has `log_cell_means` or cell hooks; else by Gauss–Legendre quadrature of `logpdf`. Each
row is returned as e^{top_i} · values, so that records far out do not underflow.
"""

from __future__ import annotations

import math

import numpy as np

from privmix.jit import bind
from privmix.mechanisms import LocalMechanism
from privmix.mechanisms.cells import cell_count, cell_edge, cell_hooks, cell_log_q
from privmix.mechanisms.slots import at_record

# Nodes in a cell where there is no closed form: exact for polynomials of degree 15.
NODES = 8


def cell_likelihood(mechanism: LocalMechanism, z: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (values, top) with L = values · e^top: an array (record, cell) and one number a record."""
    known = mechanism.log_cell_means(z, edges)
    if known is not None:
        return scaled(known)
    if cell_hooks(mechanism):
        return hooked_means(mechanism, z, edges)
    return scaled(quadrature_log_means(mechanism, z, edges))


def scaled(log_means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row divided by its largest entry, and the logarithm of that."""
    top = log_means.max(axis=1)
    with np.errstate(invalid="ignore"):  # −∞ − (−∞) in a row that no cell explains; EM refuses it
        return np.exp(log_means - top[:, None]), top


def hooked_means(mechanism: LocalMechanism, z: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return L of a mechanism that is constant on cells of its own, through its hooks."""
    values, top = np.zeros((len(z), len(edges) - 1)), np.zeros(len(z))
    run = bind(overlap_means, {**mechanism.hooks(), **cell_hooks(mechanism)}, owner=type(mechanism).__name__)
    run(mechanism.numbers(), np.ascontiguousarray(mechanism.encode(z)), edges, values, top)
    return values, top


def overlap_means(mechanism, z, edges, values, top):
    """Fill each record's row with Σ_j q(z|cell j)·|cell j ∩ C_k|/|C_k|, divided by e^top (compiled)."""
    last = len(edges) - 2
    for i in range(len(z)):
        part = at_record(mechanism, i)
        count = cell_count(part, z[i])
        top[i] = cell_log_q(part, z[i], 0)
        for j in range(1, count):
            top[i] = max(top[i], cell_log_q(part, z[i], j))
        if top[i] == -math.inf:
            continue
        k = 0
        for j in range(count):
            height = math.exp(cell_log_q(part, z[i], j) - top[i])
            left = cell_edge(part, z[i], j) if j > 0 else -math.inf
            right = cell_edge(part, z[i], j + 1) if j + 1 < count else math.inf
            while k < last and edges[k + 1] <= left:
                k += 1
            m = k
            while m <= last and edges[m] < right:
                shared = min(right, edges[m + 1]) - max(left, edges[m])
                values[i, m] += height * max(shared, 0.0) / (edges[m + 1] - edges[m])
                m += 1


def quadrature_log_means(mechanism: LocalMechanism, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return log L by Gauss–Legendre quadrature in each cell."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * np.diff(edges)
    total = np.full((len(z), len(half)), -np.inf)
    for node, weight in zip(nodes, weights, strict=True):
        at_node = [mechanism.logpdf(z, y) for y in middle + half * node]
        total = np.logaddexp(total, np.stack(at_node, axis=1) + math.log(0.5 * weight))
    return total
