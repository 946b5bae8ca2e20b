"""The kernel's mass in the bins of a histogram, for mechanisms that see the data through counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from privmix.kernels import Kernel
from privmix.kernels.slots import sample_between
from privmix.mechanisms import Mechanism
from privmix.mechanisms.cells import cell_count, cell_edge
from privmix.mechanisms.histogram import bin_at, bin_between_edges
from privmix.pairs.cells import mass_between, right_tails
from privmix.pairs.slots import bin_masses, draw_in_bin


def masses_of_kernel(mechanism, kernel, z, theta, out):
    """Write P(Y in bin j|θ) of every bin; the outermost bins reach to −∞ and +∞."""
    low, above = 0.0, 1.0
    for j in range(cell_count(mechanism, z)):
        high, rest = right_tails(mechanism, kernel, z, theta, j, low)
        out[j] = mass_between(low, above, high, rest)
        low, above = high, rest


def draw_between(edges, kernel, rng, theta, j, ys, i):
    """Draw a record from the kernel truncated to a bin; the outermost bins are open outwards."""
    lower = edges[j] if j > 0 else -math.inf
    upper = edges[j + 1] if j + 2 < len(edges) else math.inf
    ys[i] = sample_between(kernel, rng, theta, lower, upper)


def draw_in_histogram(mechanism, kernel, rng, theta, j, ys, i):
    """Draw a record from the kernel truncated to a bin of a histogram."""
    draw_between(mechanism.edges, kernel, rng, theta, j, ys, i)


def bin_masses_of(mechanism: Mechanism, kernel: Kernel) -> dict[Callable, Callable]:
    """Return hooks for a mechanism that sees bins one by one and a kernel with a distribution function, else none."""
    cls: Any = type(mechanism)
    if mechanism.bin_edges is None or not kernel.has("cdf") or kernel.dimension > 1:
        return {}
    return {
        cell_count: cls.cell_count,
        cell_edge: cls.cell_edge,
        bin_masses: masses_of_kernel,
        bin_at: bin_between_edges,
        draw_in_bin: draw_in_histogram,
    }
