"""A block of sweeps: the compiled heart of a chain, bound once for each model and sampler; and room for its draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from privmix.jit import bind
from privmix.kernels.slots import copy_y, draw_atom, draw_hyper, update_atom
from privmix.priors.slots import draw_concentration, draw_unseen
from privmix.samplers.base import Draws, adopt, keep, sweep

if TYPE_CHECKING:
    from privmix.engine.chains import Plan
    from privmix.model import PrivateMixture
    from privmix.samplers import Sampler

# Entries of the control array: where the chain is, kept across calls
STARTED, DONE, DUE, KEPT, WARMUP, THIN = 0, 1, 2, 3, 4, 5
# Updates of each atom before the first sweep: a start that lies near its records, whatever the base measure
START_UPDATES = 20
# What a block returns
FINISHED, STATE_FULL, DRAWS_FULL = 0, 1, 2


def compile_block(
    model: PrivateMixture,
    sampler: Sampler,
    *,
    compiled: bool = True,
    replacements: Mapping[Callable, Callable] | None = None,
) -> Callable:
    """Return the block of sweeps for this model and sampler, compiled or, for its slow twin, in plain Python.

    `replacements` puts other functions in the place of the library's own: how tests plant bugs.
    """
    hooks = {**model.hooks(), **sampler.hooks(model), **(replacements or {})}
    return bind(run_block, hooks, compiled=compiled, owner=f"{type(sampler).__name__} on {model.describe()}")


def run_block(parts, data, state, rng, latent, draws, control, stop):
    """Run sweeps until `stop` are done, or more room is needed; then it is called again and goes on where it was.

    No draw depends on where blocks begin and end or on how much room there was.
    """
    if control[STARTED] == 0:
        start(parts, rng, state, latent)
        adopt(parts, data, state, latent, rng)
        control[STARTED] = 1
    while control[DONE] < stop or control[DUE] == 1:
        if control[DUE] == 0:
            state.tune[0] = gain(control)
            if not sweep(parts, data, state, rng):
                return STATE_FULL
            control[DONE] += 1
            past = control[DONE] - control[WARMUP]
            control[DUE] = 1 if past > 0 and past % control[THIN] == 0 else 0
        if control[DUE] == 1:
            if not keep(parts, data, state, rng, draws, control[KEPT]):
                return DRAWS_FULL
            control[KEPT] += 1
            control[DUE] = 0
    return FINISHED


def gain(control):
    """Return the gain of adaptation: it falls as t^−0.6 during warm-up (so that tuning settles), and is 0 after it."""
    if control[DONE] >= control[WARMUP]:
        return 0.0
    return (1.0 + control[DONE]) ** -0.6


def start(parts, rng, state, latent):
    """Complete a latent configuration that has labels and records: draw its hyperparameters and atoms.

    Each atom is drawn from the base measure and then updated a few times given the records of its label.
    """
    latent.concentration[0] = draw_concentration(parts.prior, rng)
    draw_unseen(parts.prior, rng, latent.concentration)
    draw_hyper(parts.kernel, rng, latent.hyper)
    members = state.members
    stride = 1 + (len(latent.labels) - 1) // len(members)  # a sampler that keeps no records has room for some only
    for h in range(len(latent.atoms)):
        size = 0
        for i in range(0, len(latent.labels), stride):
            if latent.labels[i] == h:
                copy_y(members, size, latent.y, i)
                size += 1
        draw_atom(parts.kernel, rng, latent.atoms[h], latent.hyper)
        for _ in range(START_UPDATES):
            update_atom(parts.kernel, rng, latent.atoms[h], members[:size], state.tune, latent.hyper)


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


def widen(draws: Draws) -> Draws:
    """Return the draws with room for twice as many components."""
    extra = np.zeros_like(draws.weight)
    return draws._replace(
        weight=np.concatenate([draws.weight, extra], axis=1),
        atom=np.concatenate([draws.atom, np.full_like(draws.atom, np.nan)], axis=1),
    )


def stack_draws(chains: list[list[Draws]]) -> Draws:
    """Return the draws of all chains with a leading axis of chains, padded to as many components as any draw uses.

    Each chain comes in pieces, one after the other.
    """
    components = max(int(piece.components.max(initial=1)) for pieces in chains for piece in pieces)
    wide = [[_with_room(piece, components) for piece in pieces] for pieces in chains]
    joined = [[_join(arrays) for arrays in zip(*pieces, strict=True)] for pieces in wide]
    return Draws(*[np.stack(arrays) for arrays in zip(*joined, strict=True)])


def _join(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


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
