"""Records on a lattice: whole numbers, ages, incomes in thousands, before a mechanism perturbs them.

The model has a density of X, the value before it was rounded; the record is y, the point of the lattice nearest to x.
So a mechanism, as a function of x, is constant on the cell of each point, half a step to either side:

    g(z|θ) = Σ_k q(z|y_k) P(X in cell k|θ),

exact for any kernel with a distribution function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privmix.jit import slot
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.cells import cell_count, cell_edge, cell_hooks, cell_log_q, cell_point
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.slots import log_between, log_q
from privmix.mechanisms.wrapper import Wrapper
from privmix.parts.checks import check_positive

# More cells than this make a sum that no sampler waits for.
MOST_POINTS = 100_000
# Cost of a cell of log g, in that of the normal-Laplace pair: measured with truncated components, the dearest.
COST_OF_A_CELL = 3.0


@slot
def wrapped_log_q(mechanism, z, y):
    """Return log q(z|y) of the wrapped mechanism."""


@slot
def wrapped_log_between(mechanism, low, high, y):
    """Return log P(low < Z ≤ high|y) of the wrapped mechanism."""


@slot
def wrapped_cell_count(mechanism, z):
    """Return the number of cells of the wrapped mechanism."""


@slot
def wrapped_cell_edge(mechanism, z, j):
    """Return the left edge of cell j > 0 of the wrapped mechanism."""


@dataclass(frozen=True, eq=False)
class OnLattice(Wrapper):
    """Records that are lattice points, lower + k·step: what a mechanism releases of a value rounded to the nearest.

    The bounds are those of the value before rounding, half a step wider on either side than the lattice. A value beyond
    them counts as the outermost point. Where the wrapped mechanism has cells of its own, its edges move to half a step
    before the first lattice point beyond them; else there is a cell for every point.

    Guarantee: that of the wrapped mechanism, which sees points of the lattice inside its bounds.

    Parameters
    ----------
    mechanism
        What perturbs each record: Laplace or Gaussian noise, a square wave, randomized response. It has bounds; the
        lattice begins at the lower one.
    step
        Distance of neighbouring points.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> OnLattice(Laplace(epsilon=1.0, bounds=(0.0, 100.0)), 1.0).bounds
    (-0.5, 100.5)
    """

    mechanism: LocalMechanism
    step: float

    def __post_init__(self) -> None:
        inner = self.mechanism
        served = isinstance(inner, LocalMechanism) and inner.dimension == 1 and not inner.reveals
        if not served or inner.row_length is not None:
            name = type(inner).__name__ if isinstance(inner, Mechanism) else repr(inner)
            raise ValueError(
                f"OnLattice serves mechanisms that release one number a record, with noise; got {name}. For counts use "
                "bins whose edges lie between the points of the lattice."
            )
        if isinstance(inner, Wrapper):
            raise ValueError(
                "OnLattice goes around the noise itself. Put it inside: Clipped(OnLattice(mechanism, step))."
            )
        if inner.bounds is None:
            raise ValueError(
                f"OnLattice: the lattice begins at the lower bound, and {type(inner).__name__} has none. Give it "
                "bounds=(lower, upper)."
            )
        check_positive(self, "step")
        _points(inner.bounds, self.step)

    @staticmethod
    def around(mechanism: Mechanism, step: float) -> Mechanism:
        """Return a mechanism for records on a lattice that begins at its lower bound.

        A histogram of counts has every edge moved to half a step before the first point that its bin holds: the same
        counts of the same points.

        Parameters
        ----------
        mechanism
            What made the release.
        step
            Distance of neighbouring points.
        """
        if hasattr(mechanism, "tables") and not hasattr(mechanism, "mechanism"):
            raise ValueError(
                f"resolution is not for {type(mechanism).__name__}, which is made of several tables. Leave it out, or "
                "give each table a mechanism of records on a lattice, OnLattice(mechanism, step)."
            )
        if mechanism.is_wrapper and mechanism.counted_edges is None:  # the lattice is that of the records, inside
            return replace(mechanism, mechanism=OnLattice.around(mechanism.mechanism, step))  # type: ignore
        if mechanism.counted_edges is None:
            return OnLattice(mechanism, step)  # type: ignore[arg-type]
        edges, first = mechanism.counted_edges, mechanism.counted_edges[0]
        points = first + step * np.arange(_points((float(first), float(edges[-1])), step))
        moved = np.append(points, points[-1] + step)[np.searchsorted(points, edges)] - 0.5 * step
        moved[-1] = points[-1] + 0.5 * step  # a last bin that is closed has the point at its end
        empty = np.flatnonzero(np.diff(moved) <= 0.0)
        if len(empty):
            raise ValueError(
                f"the bin from {edges[empty[0]]:g} to {edges[empty[0] + 1]:g} holds no point of a lattice of step "
                f"{step:g} from {first:g} on. Give the true resolution, or leave it out."
            )
        return replace(mechanism, bins=moved, bounds=None)

    @property
    def points(self) -> np.ndarray:
        """Every value that a record can take."""
        return self.mechanism.bounds[0] + self.step * np.arange(_points(self.mechanism.bounds, self.step))

    @property
    def bounds(self) -> tuple[float, float]:
        """Half a step beyond the first and the last point."""
        points = self.points
        return float(points[0] - 0.5 * self.step), float(points[-1] + 0.5 * self.step)

    @property
    def lattice_step(self) -> float:
        """Distance of neighbouring points."""
        return self.step

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"{self.mechanism.in_words}; records are multiples of {self.step:g} from {self.mechanism.bounds[0]:g} on"

    @property
    def cell_cost(self) -> float | None:
        """Cost of a sum over the cells of all points; None where the wrapped mechanism has few of its own."""
        return None if cell_hooks(self.mechanism) else COST_OF_A_CELL * len(self.points)

    def own_numbers(self) -> dict[str, Any]:
        """Return the first point, the step and the number of the last point."""
        return {"lattice": (self.mechanism.bounds[0], float(self.step), float(len(self.points) - 1))}

    def wrapped_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the wrapped mechanism in the slots that are called here."""
        cells = cell_hooks(self.mechanism)
        found = {wrapped_cell_count: cells[cell_count], wrapped_cell_edge: cells[cell_edge]} if cells else {}
        hooks = self.mechanism.hooks()
        if log_between in hooks:
            found[wrapped_log_between] = hooks[log_between]
        return {wrapped_log_q: hooks[log_q], **found}

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        hooks = {**super().hooks(), log_q: _rounded_log_q}
        return {**hooks, log_between: _rounded_log_between} if log_between in hooks else hooks

    def log_q(self, z, y):
        """Return log q(z|the point nearest to y)."""
        return self._call(_rounded_log_q, z, y)

    def point_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of one cell for each point, whatever the release."""
        return {cell_count: _point_count, cell_edge: _point_edge, cell_point: _point_at}

    def cell_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the cells: those of the wrapped mechanism, moved, or one for each point."""
        if cell_hooks(self.mechanism):
            return {cell_count: _wrapped_cell_count_of, cell_edge: _moved_edge, cell_log_q: _moved_log_q}
        return {cell_count: _point_count, cell_edge: _point_edge, cell_log_q: _point_log_q}

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant."""
        return self._call(self.cell_hooks()[cell_count], z)

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0."""
        return self._call(self.cell_hooks()[cell_edge], z, j)

    def cell_log_q(self, z, j):
        """Return log q(z|cell j)."""
        return self._call(self.cell_hooks()[cell_log_q], z, j)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the release of the points nearest to y."""
        first, last = self.mechanism.bounds[0], len(self.points) - 1
        return self.mechanism.perturb(
            rng, first + self.step * np.clip(np.floor((y - first) / self.step + 0.5), 0, last)
        )

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return that of the wrapped mechanism."""
        return self.mechanism.log_tail(z, interval)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the point nearest to what the wrapped mechanism starts from."""
        return np.clip(self.mechanism.initial(z), *self.bounds)


def _points(bounds: tuple[float, float], step: float) -> int:
    """Return the number of lattice points inside the bounds, or refuse too few or too many."""
    # Rounding may leave a last point just beyond the upper bound.
    count = math.floor((bounds[1] - bounds[0]) / step + 1e-9) + 1
    if not 2 <= count <= MOST_POINTS:
        raise ValueError(
            f"a lattice of step {step:g} has {count} points in the bounds {bounds[0]:g} to {bounds[1]:g}; it needs "
            f"from 2 to {MOST_POINTS}. Change the resolution."
        )
    return count


def _point_at(part, k):
    """Return point k of the lattice."""
    return part.lattice[0] + part.lattice[1] * k


def _nearest_point(part, y):
    """Return the point of the lattice nearest to y."""
    k = math.floor((y - part.lattice[0]) / part.lattice[1] + 0.5)
    return _point_at(part, min(max(float(k), 0.0), part.lattice[2]))


def _rounded_log_q(part, z, y):
    """Return log q(z|the point nearest to y)."""
    return wrapped_log_q(part, z, _nearest_point(part, y))


def _rounded_log_between(part, low, high, y):
    """Return log P(low < Z ≤ high|the point nearest to y)."""
    return wrapped_log_between(part, low, high, _nearest_point(part, y))


def _point_count(part, z):
    """Return the number of points."""
    return int(part.lattice[2]) + 1


def _point_edge(part, z, j):
    """Return the left edge of the cell of point j."""
    return part.lattice[0] + part.lattice[1] * (j - 0.5)


def _point_log_q(part, z, j):
    """Return log q(z|point j)."""
    return wrapped_log_q(part, z, _point_at(part, float(j)))


def _first_point(part, edge):
    """Return the number of the first point at or beyond an edge: of the one after the last where there is none.

    Compared with the point itself, so that it agrees with log q there to the last bit.
    """
    k = float(math.ceil((edge - part.lattice[0]) / part.lattice[1]))
    if _point_at(part, k - 1.0) >= edge:
        k -= 1.0
    elif _point_at(part, k) < edge:
        k += 1.0
    return min(max(k, 0.0), part.lattice[2] + 1.0)


def _wrapped_cell_count_of(part, z):
    """Return the number of cells of the wrapped mechanism."""
    return wrapped_cell_count(part, z)


def _moved_edge(part, z, j):
    """Return half a step before the first point of the wrapped cell j; a cell without points has no width."""
    k = _first_point(part, wrapped_cell_edge(part, z, j))
    if k == 0.0:
        return -math.inf
    return math.inf if k > part.lattice[2] else part.lattice[0] + part.lattice[1] * (k - 0.5)


def _moved_log_q(part, z, j):
    """Return log q(z|the first point of the wrapped cell j)."""
    k = _first_point(part, wrapped_cell_edge(part, z, j)) if j > 0 else 0.0
    return wrapped_log_q(part, z, _point_at(part, min(k, part.lattice[2])))
