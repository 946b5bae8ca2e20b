"""Draws of chains as arrays: room for them while a chain runs, stacked, and joined end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.samplers.base import Draws

if TYPE_CHECKING:
    from privmix.engine.chains import Plan


def empty_draws(plan: Plan, d: int, components: int = 32) -> Draws:
    """Return arrays for d draws of one chain."""
    kernel = plan.model.kernel
    return Draws(
        n_clusters=np.zeros(d, np.int64),
        concentration=np.zeros(d),
        hyper=np.zeros((d, len(kernel.hyperparameters))),
        components=np.zeros(d, np.int64),
        weight=np.zeros((d, components)),
        atom=np.zeros((d, components, len(kernel.parameters))),
        allocation=np.zeros((d, plan.records if plan.allocations else 0), np.int32),
        statistic=np.zeros((d, len(plan.sampler.statistics))),
    )


def lengthen(draws: Draws, most: int) -> Draws:
    """Return the draws with room for twice as many: memory follows what was drawn, not what was asked for."""
    extra = min(len(draws.n_clusters), most - len(draws.n_clusters))
    return Draws(*[np.concatenate([array, np.zeros_like(array[:extra])]) for array in draws])


def widen(draws: Draws) -> Draws:
    """Return the draws with room for twice as many components."""
    extra = np.zeros_like(draws.weight)
    return draws._replace(
        weight=np.concatenate([draws.weight, extra], axis=1),
        atom=np.concatenate([draws.atom, np.full_like(draws.atom, np.nan)], axis=1),
    )


def stack_draws(chains: list[Draws]) -> Draws:
    """Return the draws of all chains with a leading axis of chains, padded to as many components as any draw uses."""
    components = max(int(draws.components.max()) for draws in chains)
    wide = [_with_room(draws, components) for draws in chains]
    return Draws(*[np.stack(arrays) for arrays in zip(*wide, strict=True)])


def join_draws(first: Draws, second: Draws) -> Draws:
    """Return the draws of all chains followed by more of the same chains."""
    components = max(first.weight.shape[-1], second.weight.shape[-1])
    wide = [_with_room(draws, components) for draws in (first, second)]
    return Draws(*[np.concatenate(pair, axis=1) for pair in zip(*wide, strict=True)])


def _with_room(draws: Draws, components: int) -> Draws:
    """Return the draws with room for so many components and no more: empty ones have no weight and no atom."""
    missing = max(0, components - draws.weight.shape[-1])
    widths = [(0, 0)] * (draws.weight.ndim - 1) + [(0, missing)]
    weight, atom = draws.weight[..., :components], draws.atom[..., :components, :]
    if missing:
        weight, atom = np.pad(weight, widths), np.pad(atom, [*widths, (0, 0)], constant_values=np.nan)
    return draws._replace(weight=weight, atom=atom)
