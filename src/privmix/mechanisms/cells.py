"""Mechanisms that are piecewise constant in y: the slots of their cells.

A mechanism has cells if it gives the hooks ``cell_count``, ``cell_edge`` and ``cell_log_q``. The outermost cells reach
to −∞ and +∞: y outside the bounds counts as the nearest bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privmix.jit import slot


@slot
def cell_count(mechanism, z):
    """Return the number of cells of y on which q(z|y) is constant."""


@slot
def cell_edge(mechanism, z, j):
    """Return the left edge of cell j, 0 < j < cells."""


@slot
def cell_log_q(mechanism, z, j):
    """Return log q(z|cell j)."""


@slot
def cell_point(mechanism, j):
    """Return the record that every y of cell j counts as, where a mechanism sees points of a lattice."""


def cell_hooks(mechanism: Any) -> dict[Callable, Callable]:
    """Return the hooks of a mechanism's cells by their slots; empty unless it gives all three."""
    if hasattr(mechanism, "cell_hooks"):  # a wrapper, whose cells depend on what it wraps
        return mechanism.cell_hooks()
    hooks: dict[Callable, Any] = {
        stub: getattr(type(mechanism), stub.__name__, None) for stub in (cell_count, cell_edge, cell_log_q)
    }
    return hooks if all(callable(hook) for hook in hooks.values()) else {}
