"""The sampler on counts whose steps do not shrink with n: `Binned`, and trajectories along what the counts leave free.

Counts of n records tell some combinations of the bins' probabilities to within 1/√n, and others hardly. Walks and slice
steps see the narrowest direction and take steps of 1/√n in all of them. A trajectory is held to the narrow combinations
and moves freely along the others. All other steps are those of `Binned`: what depends on labels, the concentration, the
base measure and sticks without records, is drawn given counts that were handed out to the sticks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.numerics import uniform
from privmix.parts.checks import check_count
from privmix.samplers import base
from privmix.samplers.binned.bins import find_bins, keep_counts
from privmix.samplers.binned.counts import RECORDS
from privmix.samplers.binned.mixture import (
    LEAST_EXPECTED_RECORDS,
    allocate_counts,
    move_atoms,
    move_sticks,
)
from privmix.samplers.binned.sampler import Binned, complete
from privmix.samplers.binned.slots import redraw_counts
from privmix.samplers.binned.unknown import count_in_bins
from privmix.samplers.lifted.coordinates import REACH, REACHED, STAGE, is_needed_beyond, sticks_reached
from privmix.samplers.lifted.doubts import find_doubts
from privmix.samplers.lifted.renew import renew
from privmix.samplers.lifted.start import climb, excess
from privmix.samplers.lifted.state import (
    LIFTED,
    TASKS,
    State,
    check_lifted,
    empty_room,
    proposed_arrays,
    warm_arrays,
    without_room,
)
from privmix.samplers.lifted.table import tabulate
from privmix.samplers.lifted.trajectory import LAST_STEP, LOG_STEP, travel
from privmix.samplers.lifted.warmup import (
    EMPTY,
    FILTER,
    FIRST_WINDOW,
    READY,
    VALUES,
    adapt,
    close_window,
    observe,
)
from privmix.samplers.moves.sticks import is_needed, swap_sticks

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Share of the bounds' width that is the unit of locations.
UNIT_SHARE = 0.05
# The first step of a trajectory.
FIRST_STEP = 0.2
# Sticks that a start moves beyond the log of n: with too few it does not come to where the counts are.
SPARE_AT_START = 9
# Share of the sweeps that move atoms and sticks one at a time too. In every sweep that took up to a sixth of the time
# for hardly more effective draws: what trajectories move along is narrow for one atom or stick alone.
SHARE_OF_WALKS = 0.25
# Points of the table over log sizes, and over locations: where noise smooths what is seen of an atom, and where it
# does not.
SIZES, SMOOTH_LOCATIONS, SHARP_LOCATIONS = 65, 505, 1009
# Entries of State.statistic beside those of a trajectory.
STEP, STIFF, MOVED, DRIFT, EXCESS = 3, 4, 5, 6, 7


@dataclass(frozen=True)
class Lifted(Binned):
    """The sampler on counts for very many records: trajectories along what the counts leave free.

    A sweep hands records out as one of `Binned` does, and makes one trajectory of the sticks and atoms; its cost
    follows the number of clusters, not n. Stiff combinations of the bins' probabilities are found and tabulated several
    times in warm-up, which takes at least 1,000 sweeps. It needs counts that the release tells exactly, a kernel of a
    location and a positive size, and a Dirichlet process.

    Parameters
    ----------
    bins
        As in `Binned`.
    most_stiff
        Most stiff combinations; a trajectory's cost grows as the square of those along which it is held.
    most_sticks
        Most sticks that a trajectory moves; later ones move as in `Binned`, and are renewed from the prior.
    most_steps
        Most steps of a trajectory. Where steps are short, with a billion records of a square wave, 24 gave 1.6 to 2.3
        effective draws for a second of CPU, 60 gave 1 to 1.4 and 12 gave 1.2.
    grid
        Points of the table over locations and over sizes; by default 505 × 65 where noise is added to records, 1009 ×
        65 where each has one of few outputs.
    """

    most_stiff: int = 80
    most_sticks: int = 64
    most_steps: int = 24
    grid: tuple[int, int] | None = None

    statistics: ClassVar[tuple[str, ...]] = (
        "acceptance",
        "records",
        "failed",
        "step",
        "stiff",
        "sticks_moved",
        "step_drift",
        "excess",
    )
    learns_records: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("most_stiff", 1), ("most_sticks", 1), ("most_steps", 1)):
            check_count(name, getattr(self, name), least, owner="Lifted")
        if self.grid is not None:
            points = tuple(check_count("grid", points, 4, owner="Lifted") for points in self.grid)
            object.__setattr__(self, "grid", points)

    def check(self, model: PrivateMixture) -> None:
        """Refuse counts that are not known, kernels of other parameters, and priors without end."""
        super().check(model)
        bins = find_bins(model, self.bins)
        refuse(model, bins.hooks.get(redraw_counts) is keep_counts and not bins.hidden)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps."""
        return {**super().hooks(model), base.sweep: sweep, is_needed: is_needed_beyond}

    def allocate(self, model: PrivateMixture, n: int) -> Any:
        """Return an empty state: of `Binned`, and without a table."""
        common, columns = super().allocate(model, n)._asdict(), model.kernel.columns
        bins, sticks = len(common["counts"]), self.most_sticks
        lower, upper = bounds_of(model)
        unit = UNIT_SHARE * (upper - lower)
        smooth = model.mechanism.each.noise_spread() is not None
        grid = self.grid or (SMOOTH_LOCATIONS if smooth else SHARP_LOCATIONS, SIZES)
        return State(
            **common,
            frame=np.array([0.5 * (lower + upper), unit, 2.0 * math.log(unit)]),
            grid=np.array(grid, np.int64),
            lift=np.array([EMPTY, min(SPARE_AT_START + int(math.log(n)), sticks), FIRST_WINDOW, 0, 0, 0], np.int64),
            gear=np.array([math.log(FIRST_STEP)] * 2 + [float(self.most_steps), math.log(FIRST_STEP)]),
            direction=np.zeros((bins, 0)),
            centre=np.zeros(0),
            **warm_arrays(bins, sticks),
            **empty_room(),
            **proposed_arrays(bins, sticks, columns),
        )

    def grow(self, state: Any) -> Any:
        """Return the state with what compiled code waits for: directions, room for a table, or more sticks."""
        task = TASKS.get(int(state.lift[STAGE]))
        return super().grow(state) if task is None else task(state, self.most_stiff)

    def check_state(self, model: PrivateMixture, n: int, state: Any) -> str:
        """Return what is wrong with a state: with that of `Binned` in it, or with what trajectories need."""
        empty = self.allocate(model, n)
        common = state._replace(**{name: getattr(empty, name) for name in LIFTED})
        return super().check_state(model, n, common) or check_lifted(state, empty, self)

    def doubts(self, reported: Mapping[str, np.ndarray]) -> list[tuple[str, str]]:
        """Return where steps, tables, limits or counts say that chains may not have come to rest."""
        return find_doubts(reported, self.most_stiff, self.most_sticks)

    def stored(self, state: Any) -> Any:
        """Return the state without its table, which follows from the directions."""
        return without_room(state)


def bounds_of(model: PrivateMixture) -> tuple[float, float]:
    """Return the interval that holds the records: of the kernel, or of the mechanism."""
    support = model.kernel.support
    return support if np.isfinite(support).all() else model.mechanism.bounds


def refuse(model: PrivateMixture, counts_known: bool) -> None:
    """Say why a model is not served, if it is not."""
    kernel, prior = model.kernel, model.prior
    if not counts_known:
        raise ValueError(
            "Lifted() needs counts that the release tells exactly; here noise was added to the counts, or to the bits "
            "of each record. Use Binned(), which learns the true ones."
        )
    if len(kernel.parameters) != 2 or kernel.positive != kernel.parameters[1:]:
        raise ValueError(
            f"Lifted() moves a location and a positive size; {type(kernel).__name__} has the parameters "
            f"{', '.join(kernel.parameters)}. Use Binned(), or a normal kernel."
        )
    if prior.most_clusters(2**62) < 2**62 or prior.law_size(1) != prior.law_size(2):
        raise ValueError(
            f"Lifted() moves sticks without end; {type(prior).__name__} has finitely many components. Use Binned(), or "
            "DirichletProcess as the prior."
        )


def sweep(parts, data, state, rng):
    """Draw what sizes allow, then move sticks and atoms together on the likelihood of counts, then hand them out.

    Now and then these also move one at a time. Returns False where Python has a task: more room, or a table.
    """
    if not is_ready(parts, data, state):
        return False
    n = count_in_bins(state, 0)
    if not complete(parts, data, state, rng, n):
        return False
    if state.lift[STAGE] == EMPTY:
        begin(parts, data, state, rng, n)
        return False
    if uniform(rng) < SHARE_OF_WALKS:
        move_atoms(parts, data, state, rng, n)
        move_sticks(parts, state, rng, n)
    travel(parts, data, state, rng)
    renew(parts, data, state, rng, n)
    swap_sticks(parts, state, rng, LEAST_EXPECTED_RECORDS / n)
    allocate_counts(state, rng)
    adapt(parts, data, state, n)
    report(state, n)
    return True


def is_ready(parts, data, state):
    """Return whether there is a table, or none yet; compute its values where these are wanted, for Python to filter."""
    if state.lift[STAGE] == VALUES:
        tabulate(parts, data, state)
        state.lift[STAGE] = FILTER
    return state.lift[STAGE] == READY or state.lift[STAGE] == EMPTY


def begin(parts, data, state, rng, n):
    """Climb to where the counts are, in warm-up, and ask for a first table from there."""
    if state.tune[0] > 0.0:
        climb(parts, data, state, rng, n)
        allocate_counts(state, rng)
    observe(parts, data, state, n)
    state.lift[REACHED] = sticks_reached(state, n)
    close_window(state, 1)


def report(state, n):
    """Write what is reported of a sweep, beside what the trajectory wrote."""
    state.statistic[RECORDS] = n
    state.statistic[STEP] = math.exp(state.gear[LOG_STEP])
    state.statistic[STIFF] = len(state.centre)
    state.statistic[MOVED] = state.lift[REACH]
    state.statistic[DRIFT] = state.gear[LOG_STEP] - state.gear[LAST_STEP]
    state.statistic[EXCESS] = excess(state, n)
