"""Integrals of a log density by Gauss-Legendre on many panels: the oracle of the contract tests."""

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)

# Statistical tests reject at this level; seeds are fixed, so a pass is a pass for ever.
ALPHA = 1e-6


def panel_masses(log_density, edges):
    """Return the integral of exp(log_density) over each panel between neighbouring edges."""
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    points = middle[:, None] + half[:, None] * NODES
    return half * (np.exp(log_density(points)) @ WEIGHTS)


def distribution_function(log_density, edges):
    """Return the distribution function of a density whose mass lies between the first and last edge."""
    masses = np.concatenate([[0.0], np.cumsum(panel_masses(log_density, edges))])
    return lambda x: np.interp(x, edges, masses)


def edges_around(points, panels=2000, reach=40.0):
    """Return edges of panels that reach far beyond a sample, with its extremes' middle as one of them."""
    low, high = np.min(points), np.max(points)
    centre, width = np.median(points), max(high - low, 1e-9)
    return centre + reach * width * np.linspace(-1.0, 1.0, panels + 1) ** 3
