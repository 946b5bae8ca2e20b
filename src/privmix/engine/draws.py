"""Draws of chains as arrays: stacked, and joined end to end."""

from __future__ import annotations

import numpy as np

from privmix.samplers.base import Draws


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
