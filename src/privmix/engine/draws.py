"""Draws of chains as arrays: stacked, and joined end to end."""

from __future__ import annotations

import numpy as np

from privmix.samplers.base import Draws


def stack_draws(chains: list[Draws]) -> Draws:
    """Return the draws of all chains with a leading axis of chains, padded to as many components as any draw uses."""
    components = max(int(draws.components.max()) for draws in chains)

    def padded(array: np.ndarray, empty: float) -> np.ndarray:
        missing = components - array.shape[1]
        if missing <= 0:
            return array[:, :components]
        widths = [(0, 0), (0, missing)] + [(0, 0)] * (array.ndim - 2)
        return np.pad(array, widths, constant_values=empty)

    columns = {}
    for name in Draws._fields:
        arrays = [getattr(draws, name) for draws in chains]
        if name in ("weight", "atom"):
            arrays = [padded(array, 0.0 if name == "weight" else np.nan) for array in arrays]
        columns[name] = np.stack(arrays)
    return Draws(**columns)


def join_draws(first: Draws, second: Draws) -> Draws:
    """Return the draws of one chain followed by more of the same chain."""
    stacked = [stack_draws([part]) for part in (first, second)]
    room = max(part.weight.shape[2] for part in stacked)
    wide = []
    for part in stacked:
        missing = room - part.weight.shape[2]
        weight = np.pad(part.weight[0], [(0, 0), (0, missing)])
        atom = np.pad(part.atom[0], [(0, 0), (0, missing), (0, 0)], constant_values=np.nan)
        wide.append(Draws(*[array[0] for array in part])._replace(weight=weight, atom=atom))
    return Draws(*[np.concatenate(pair) for pair in zip(*wide, strict=True)])
