"""Gauss-Legendre integrals over the draws: of densities, and of distribution functions for moments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privmix.curves import density as densities
from privmix.curves.parts import over_draws
from privmix.kernels import Kernel
from privmix.samplers.base import Draws

NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)
# Panels of an interval: components wider than about a hundredth of it are integrated to many digits.
PANELS = 120


def panel_nodes(lower: float, upper: float, panels: int = PANELS) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of a composite Gauss-Legendre rule."""
    half = 0.5 * (upper - lower) / panels
    middles = lower + half * (2.0 * np.arange(panels) + 1.0)
    return (middles[:, None] + half * NODES).ravel(), np.tile(half * WEIGHTS, panels)


def integrate_density(
    kernel: Kernel, draws: Draws, lower: float, upper: float, restricted_to: tuple[float, float] | None
) -> np.ndarray:
    """Return the integral of the density over an interval for each draw."""
    nodes, weights = panel_nodes(lower, upper)

    def evaluate(some: Draws) -> np.ndarray:
        return densities.density_draws(kernel, some, nodes, restricted_to).reshape(-1, len(nodes)) @ weights

    return over_draws(evaluate, draws, len(nodes))


def moments_on_interval(
    cdf: Callable[[Draws, np.ndarray], np.ndarray], draws: Draws, ends: tuple[float, float]
) -> np.ndarray:
    """Return mean and second to fourth central moment for each draw of a law on an interval.

    With u = (y − middle)/half width, E[u^k] = 1 − ∫ k u^(k−1) F du over [−1, 1]: a narrow component makes F a step but
    not a spike, so that none falls between the nodes.
    """
    nodes, weights = panel_nodes(-1.0, 1.0)
    middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
    powers = np.stack([weights * k * nodes ** (k - 1) for k in range(1, 5)], axis=1)

    def evaluate(some: Draws) -> np.ndarray:
        return 1.0 - cdf(some, middle + half * nodes) @ powers

    m1, m2, m3, m4 = over_draws(evaluate, draws, len(nodes)).T
    second = m2 - m1**2
    third = m3 - 3.0 * m1 * m2 + 2.0 * m1**3
    fourth = m4 - 4.0 * m1 * m3 + 6.0 * m1**2 * m2 - 3.0 * m1**4
    return np.stack([middle + half * m1, half**2 * second, half**3 * third, half**4 * fourth], axis=1)
