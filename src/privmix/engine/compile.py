"""Bind the engine's block to a model and a sampler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from privmix.engine.block import run_block
from privmix.jit import bind

if TYPE_CHECKING:
    from privmix.model import PrivateMixture
    from privmix.samplers import Sampler


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
