"""What mechanisms share that add discrete noise to records on a lattice: whole numbers, or multiples of a step.

A record counts as the multiple of the step that is nearest to it, halves up, and a released value is a multiple too. So
log q is a log probability, and constant on the cell of each point, half a step to either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.mechanisms.additive import AdditiveNoise
from privmix.mechanisms.cells import cell_count, cell_edge, cell_log_q, cell_point
from privmix.mechanisms.discrete_noise import LARGEST_DISCRETE_SCALE
from privmix.mechanisms.lattice import COST_OF_A_CELL
from privmix.mechanisms.post_processing import Intervals
from privmix.mechanisms.slots import log_q
from privmix.parts.checks import check_bounds, check_positive, fill

# Most points over which g is summed; with more, a step is below a two-thousandth of the bounds.
MOST_SUMMED_POINTS = 2048
# Step, in scales of the noise, below which a lattice without bounds counts as fine.
FINE_STEP_IN_SCALES = 1e-3
# The same of a lattice with bounds that has many points.
WIDE_NOISE = 0.05
# How far, in steps, a value may be from a multiple and still be one: what decimal digits lose.
OFF_THE_LATTICE = 1e-6


class LatticeNoise(AdditiveNoise):
    """Add discrete noise to each record, after rounding it to a multiple of a step.

    A subclass is a frozen dataclass with the fields of `AdditiveNoise`, ``step`` and ``ends``, the numbers of the first
    and the last point.
    """

    step: float
    ends: tuple[float, float]

    def on_the_line(self) -> AdditiveNoise:
        """Return the mechanism that this one tends to as the step goes to 0."""
        raise NotImplementedError

    def fill_lattice(self, calibrate: Callable[..., Any], **rest: Any) -> None:
        """Set ``ends``, ``scale`` and ``bounds``, the last half a step beyond the first and the last point."""
        check_positive(self, "step")
        step, bounds, owner = float(self.step), check_bounds(self.bounds), type(self).__name__
        ends = (-math.inf, math.inf)
        if bounds is not None:
            # Ends of bounds that are half-way stay where they are: bounds of bounds are the same.
            ends = (math.floor(bounds[0] / step + 0.5 + 1e-9), math.ceil(bounds[1] / step - 0.5 - 1e-9))
            if not ends[0] < ends[1]:
                raise ValueError(
                    f"{owner}: a lattice of step {step:g} has fewer than two points between {bounds[0]:g} and "
                    f"{bounds[1]:g}. Give a smaller step."
                )
            fill(self, bounds=(ends[0] * step, ends[1] * step))
        self.fill_scale(calibrate, **rest)
        if np.max(self.scale) > LARGEST_DISCRETE_SCALE * step:
            raise ValueError(
                f"{owner}: noise of scale {np.max(self.scale):g} on a lattice of step {step:g} is beyond what floats "
                f"hold. Use {owner.removeprefix('Discrete')}, which differs by less than a billionth."
            )
        wider = None if bounds is None else ((ends[0] - 0.5) * step, (ends[1] + 0.5) * step)
        fill(self, step=step, ends=(float(ends[0]), float(ends[1])), bounds=wider)

    @property
    def sensitivity(self) -> float:
        """How far two records can be apart: from the first to the last point."""
        return (self.ends[1] - self.ends[0]) * self.step

    @property
    def lattice_step(self) -> float:
        """Distance of neighbouring values that a record can take."""
        return self.step

    @property
    def output_step(self) -> float:
        """Distance of neighbouring values that a release can have."""
        return self.step

    @property
    def points(self) -> np.ndarray:
        """Every value that a record can take."""
        return self.step * np.arange(self.ends[0], self.ends[1] + 1.0)

    @property
    def is_fine(self) -> bool:
        """Whether there are too many points to sum over: then the lattice is taken for the line."""
        if self.bounds is None:
            return bool(self.step < FINE_STEP_IN_SCALES * np.min(self.scale))
        many = self.ends[1] - self.ends[0] >= MOST_SUMMED_POINTS
        # Where the noise is not wide beside the step, the line is no likeness: then all points are summed, at a price.
        return bool(many and self.step < WIDE_NOISE * np.min(self.scale))

    @property
    def cell_cost(self) -> float | None:
        """Cost of a sum over the cells of all points."""
        return COST_OF_A_CELL * len(self.points) if self.cell_hooks() else None

    def point_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of one cell for each point; none where there are too many."""
        if self.bounds is None or self.is_fine:
            return {}
        return {cell_count: _count, cell_edge: _edge, cell_point: _point}

    def cell_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the cells, with log q on each."""
        points = self.point_hooks()
        return {**points, cell_log_q: _log_q_of_cell} if points else {}

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as multiples of the step; name the row of one that is none."""
        z = super().check_release(z)
        off = np.flatnonzero(np.abs(z / self.step - np.rint(z / self.step)) > OFF_THE_LATTICE)
        if len(off):
            raise ValueError(
                f"row {off[0]} of the release is {z[off[0]]:g}, which is no multiple of {self.step:g}: discrete noise "
                "on a lattice of that step gives none. Check the value and the step."
            )
        return z

    def interval_rows(self, found: Intervals) -> np.ndarray:
        """Return rows (low, high) whose ends lie between points, so that none is on an edge; a point twice where one.

        Where no point is inside, low is above high.
        """
        first, last = found.multiples(self.step)
        half = np.where(first == last, 0.0, 0.5)
        rows = np.stack([(first - half) * self.step, (last + half) * self.step], axis=-1)
        rows[first > last] = np.inf, -np.inf
        return rows

    def to_points(self, y: np.ndarray) -> np.ndarray:
        """Return the number of the point nearest to each record."""
        return np.clip(np.floor(y / self.step + 0.5), *self.ends)


def point_number(part, y):
    """Return the number of the point nearest to y."""
    return min(max(float(math.floor(y / part.step + 0.5)), part.ends[0]), part.ends[1])


def steps_from(part, z, y):
    """Return by how many steps a release is from the point nearest to y; ∞ where it is no multiple of the step."""
    place = z / part.step
    if not abs(place) < math.inf:  # NaN stays what it is
        return place
    nearest = float(math.floor(place + 0.5))
    if abs(place - nearest) > OFF_THE_LATTICE:
        return math.inf
    return nearest - point_number(part, y)


def whole_steps(part, low, high, y):
    """Return the numbers of the first and the last multiple in (low, high], counted from the point nearest to y."""
    point = point_number(part, y)
    first = float(math.floor(low / part.step)) + 1.0 - point if low > -math.inf else low
    last = float(math.floor(high / part.step)) - point if high < math.inf else high
    return first, last


def _count(part, z):
    """Return the number of points."""
    return int(part.ends[1] - part.ends[0]) + 1


def _edge(part, z, j):
    """Return the left edge of the cell of point j."""
    return part.step * (part.ends[0] + j - 0.5)


def _point(part, j):
    """Return point j."""
    return part.step * (part.ends[0] + j)


def _log_q_of_cell(part, z, j):
    """Return log q(z|point j)."""
    return log_q(part, z, _point(part, j))
