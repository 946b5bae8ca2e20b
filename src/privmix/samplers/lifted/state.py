"""The state of a chain of `Lifted`: that of `Binned`, and what trajectories need."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, cast

import numpy as np

from privmix.samplers import base
from privmix.samplers.binned import sampler as binned
from privmix.samplers.lifted.coordinates import HELD, REACH, STAGE
from privmix.samplers.lifted.table import MARGIN, combined, filtered, find_directions
from privmix.samplers.lifted.trajectory import LOG_STEP, MOST_ITERATIONS, MOST_STEPS
from privmix.samplers.lifted.warmup import DIRECTIONS, EMPTY, FILTER, READY, STORED, VALUES

# Probabilities of bins at the points of a table that a chain keeps: 68 MB in single precision, since a coordinate need
# not be exact. Where there would be more, each table computes them again, for as long as some hundred sweeps.
MOST_KEPT = 17_000_000

#: numbers that a chain goes on from
KEPT = (
    "frame",  # middle and unit of places
    "grid",  # points of the table: locations, sizes
    "lift",  # what is done about the table, and the window of warm-up
    "gear",  # the step
    "direction",  # stiff combinations of the bins
    "centre",  # their middle
)
#: what warm-up sums up, and room in which a start climbs
WARM = ("mean_chance", "moment", "moment_count", "jacobian", "normal", "ascent", "rise", "spot")
#: the table, and room in which a trajectory moves
ROOM = (
    *("rows", "table_of", "basis", "trio", "places", "values", "slopes", "shares", "masses", "lifted"),
    *("pace", "force", "pulled", "inverse", "chord", "changes", "strip"),
)
PROPOSED = ("new_theta", "new_row", "new_weight", "new_left")

#: all that `Binned` does not have
LIFTED = (*KEPT, *WARM, *ROOM, *PROPOSED)
State: Any = cast("Any", namedtuple("State", (*binned.State._fields, *LIFTED)))


def warm_arrays(bins: int, sticks: int) -> dict[str, np.ndarray]:
    """Return empty sums of warm-up."""
    return {
        "mean_chance": np.zeros(bins),
        "moment": np.zeros((bins, bins)),
        "moment_count": np.zeros(1),
        "jacobian": np.zeros((3 * sticks, bins)),
        "normal": np.zeros((3 * sticks, 3 * sticks)),
        "ascent": np.zeros(3 * sticks),
        "rise": np.zeros((sticks, 3)),
        "spot": np.zeros((sticks, 3)),
    }


def room_arrays(grid: np.ndarray, bins: int, sticks: int, stiff: int, held: int) -> dict[str, np.ndarray]:
    """Return room for a table and for a trajectory of so many sticks, held along some of so many stiff coordinates."""
    locations, sizes = int(grid[0]), int(grid[1])
    points = locations * sizes if locations * sizes * bins <= MOST_KEPT else 0
    return {
        "rows": np.zeros((points, bins), np.float32),
        "table_of": np.zeros((locations + 2 * MARGIN, sizes + 2 * MARGIN, stiff)),
        "basis": np.zeros((2, 3, 4)),
        "trio": np.arange(3),
        "places": np.zeros((3, sticks, 3)),
        "values": np.zeros((3, sticks, 6, stiff)),
        "slopes": np.zeros((3, 3 * sticks, stiff)),
        "shares": np.zeros((3, sticks)),
        "masses": np.zeros((3, sticks)),
        "lifted": np.zeros((3, stiff)),
        "pace": np.zeros((sticks, 3)),
        "force": np.zeros((sticks, 3)),
        "pulled": np.zeros((3 * sticks, held)),
        "inverse": np.zeros((held, held)),
        "chord": np.zeros((held, held)),
        "changes": np.zeros((MOST_ITERATIONS, held)),
        "strip": np.zeros((7, stiff)),
    }


def empty_room() -> dict[str, np.ndarray]:
    """Return arrays of no length in the place of a table and of room for trajectories."""
    return {name: array[:0] for name, array in room_arrays(np.array([4, 4]), 1, 1, 1, 1).items()}


def proposed_arrays(bins: int, sticks: int, columns: int) -> dict[str, np.ndarray]:
    """Return room for the sticks and atoms that are proposed."""
    return {
        "new_theta": np.zeros((sticks, columns)),
        "new_row": np.zeros((sticks, bins)),
        "new_weight": np.zeros(sticks),
        "new_left": np.zeros(sticks),
    }


def with_directions(state: Any, most: int) -> Any:
    """Return the state with the stiff directions of what it has seen, and room for their table."""
    found, held = find_directions(state, most, float(np.exp(state.gear[LOG_STEP])))
    state.lift[HELD] = held
    for name in ("mean_chance", "moment", "moment_count"):
        getattr(state, name)[...] = 0.0
    known, state = state.rows, with_room(state._replace(**found))
    return with_table(state._replace(rows=known)) if len(known) else state


def with_room(state: Any) -> Any:
    """Return the state with room for the table of its directions and for trajectories: values are wanted next."""
    held = int(state.lift[HELD])
    room = room_arrays(state.grid, len(state.counts), int(state.lift[REACH]), len(state.centre), held)
    return staged(state._replace(**room), VALUES)


def with_table(state: Any) -> Any:
    """Return the state with the coefficients of the spline in place of its values."""
    if len(state.rows):
        combined(state.rows, state.direction, state.table_of)
    return staged(state._replace(table_of=filtered(state.table_of)), READY)


def without_room(state: Any) -> Any:
    """Return the state without its table and all else that is made anew from what is left."""
    slim = state._replace(**empty_room())
    return staged(slim, STORED) if state.lift[STAGE] == READY else slim


def staged(state: Any, stage: int) -> Any:
    """Return the state at a stage."""
    lift = state.lift.copy()
    lift[STAGE] = stage
    return state._replace(lift=lift)


#: what Python does at a stage before compiled code goes on
TASKS = {DIRECTIONS: with_directions, STORED: lambda state, most: with_room(state)}
TASKS |= {FILTER: lambda state, most: with_table(state)}


def check_lifted(state: Any, empty: Any, limits: Any) -> str:
    """Return what is wrong with the part of a state that trajectories use, beside an empty state of the same model."""
    if state.lift.shape != empty.lift.shape:
        return f"lift has shape {state.lift.shape} in place of {empty.lift.shape}"
    stage, reach, length, sweeps, reached, held = (int(value) for value in state.lift)
    stiff = len(state.centre)
    if stage not in (EMPTY, READY, STORED) or not 0 <= reach <= limits.most_sticks or min(length, sweeps, reached) < 0:
        return "lift says nothing that a chain does"
    if (stiff == 0) != (stage == EMPTY) or stiff > limits.most_stiff or (stage != EMPTY and reach == 0):
        return "there is no table for these stiff coordinates"
    if not (0 < held <= stiff or held == stiff == 0):
        return "there is no table for these stiff coordinates"
    wanted = {name: getattr(empty, name) for name in (*WARM, *PROPOSED, "frame", "grid", "lift", "gear")}
    wanted |= {"direction": np.zeros((len(state.counts), stiff)), "centre": np.zeros(stiff)}
    full = room_arrays(empty.grid, len(empty.counts), reach, stiff, held) if stage == READY else empty_room()
    for name, array in {**wanted, **full}.items():
        found = getattr(state, name)
        if found.dtype != array.dtype or found.shape != array.shape:
            return f"{name} has shape {found.shape} and type {found.dtype} in place of {array.shape}, {array.dtype}"
    if not np.array_equal(state.grid, empty.grid) or not np.array_equal(state.frame, empty.frame):
        return "frame or grid is not that of the model"
    finite = base.are_finite(state, "gear", "direction", "centre", "table_of", "mean_chance", "moment")
    return "" if finite and state.gear[MOST_STEPS] == limits.most_steps else "a stiff coordinate or a step is no number"
