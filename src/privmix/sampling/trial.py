"""Trials: short chains by which a sampler that chooses another, such as `samplers.Auto`, compares its candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from privmix.curves.density import density_draws
from privmix.engine import Plan
from privmix.engine.chains import run_chain
from privmix.engine.draws import stack_draws
from privmix.samplers import Sampler


def trials_of(plan: Plan, seed: Any) -> Callable[[Sampler, int, np.ndarray], np.ndarray]:
    """Return the function that runs a sampler for a few sweeps, the first half to warm up, all from one seed.

    Its values are the density of each draw at the given points.
    """

    def trial(sampler: Sampler, sweeps: int, points: np.ndarray) -> np.ndarray:
        half = sweeps // 2
        short = replace(plan, sampler=sampler, draws=sweeps - half, warmup=half, thin=1, allocations=False)
        draws = stack_draws([run_chain(short, seed).draws])
        return density_draws(plan.model.kernel, draws, points)[0]

    return trial
