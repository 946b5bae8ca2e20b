"""What a saved fit must be before compiled code sees it: counts, draws and chain states that a run could have made.

Compiled code checks no index. So a file is believed in nothing: each number is checked to be of the right kind, and in
the range that its use needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from privmix.engine import Plan
from privmix.engine.block import empty_draws
from privmix.model import Settings
from privmix.samplers import Sampler
from privmix.samplers.base import Draws
from privmix.samplers.capabilities import check_served

# How far the weights of a draw may miss 1: thousands of roundings, far below what any answer shows.
WEIGHT_ERROR = 1e-6


def check_plan(plan: Plan, chains: int) -> None:
    """Refuse counts that are none, a sampler that does not serve the model, and a release of another kind."""
    Settings(plan.draws, plan.warmup, plan.thin, chains)
    if not isinstance(plan.allocations, bool):
        raise ValueError(f"allocations must be true or false; got {plan.allocations!r}.")
    if not isinstance(plan.sampler, Sampler):
        raise ValueError(f"{plan.sampler!r} is no sampler.")
    check_served(plan.sampler, plan.model)
    if plan.z.dtype != np.float64:
        raise ValueError(f"the release has numbers of type {plan.z.dtype}; float64 is needed.")
    plan.model.mechanism.check_release(plan.z)


def check_draws(plan: Plan, draws: Draws) -> None:
    """Refuse draws that no run could have made."""
    for wrong in _shape_faults(plan, draws):
        raise ValueError(wrong)
    for wrong in _value_faults(plan, draws):
        raise ValueError(wrong)


def _shape_faults(plan: Plan, draws: Draws) -> Iterator[str]:
    (chains, length), components = draws.n_clusters.shape, draws.weight.shape[-1]
    if 0 in (chains, length, components):
        yield "there is no draw"
    for name, wanted in empty_draws(plan, length, components)._asdict().items():
        array = getattr(draws, name)
        if array.dtype != wanted.dtype or array.shape != (chains, *wanted.shape):
            yield f"{name} has shape {array.shape} and type {array.dtype}, which its draws cannot have"


def _value_faults(plan: Plan, draws: Draws) -> Iterator[str]:
    kernel, width = plan.model.kernel, draws.weight.shape[-1]
    positive = [name in kernel.positive for name in kernel.parameters]
    used = np.arange(width) < draws.components[..., None]
    atoms = draws.atom[used]
    if not ((draws.components >= 1) & (draws.components <= width)).all():
        yield f"a draw has a number of components that is not from 1 to {width}"
    most = np.inf if plan.model.mechanism.records_unknown else plan.records
    if not ((draws.n_clusters >= 1) & (draws.n_clusters <= np.minimum(most, draws.components))).all():
        yield "a draw has more clusters than records or components, or none"
    if not (np.isfinite(draws.concentration) & (draws.concentration > 0)).all():
        yield "a concentration is not positive and finite"
    if not ((draws.weight >= 0) & (draws.weight <= 1)).all() or draws.weight[~used].any():
        yield "a weight is not from 0 to 1, or belongs to no component"
    if np.abs(draws.weight.sum(axis=-1) - 1.0).max() > WEIGHT_ERROR:
        yield "the weights of a draw do not sum to 1"
    if not np.isfinite(atoms).all() or (atoms[:, positive] <= 0).any():
        yield "a parameter of a component is not finite, or not positive where it must be"
    if not np.isfinite(draws.hyper).all():
        yield "a hyperparameter is not finite"
    if ((draws.allocation < 0) | (draws.allocation >= draws.components[..., None])).any():
        yield "a record belongs to a component that its draw does not have"
    if np.isinf(draws.statistic).any():
        yield "what a sampler reported of a draw is infinite"


def check_state(plan: Plan, state: Any) -> None:
    """Refuse the state of a chain with which its sampler could not go on."""
    wrong = plan.sampler.check_state(plan.model, plan.records, state)
    if wrong:
        raise ValueError(f"the state of a chain cannot be one of {type(plan.sampler).__name__}: {wrong}.")


def read_generator(told: Any) -> np.random.Generator:
    """Return the generator of random numbers that a chain had, or say what is wrong with its description."""
    limits = {"has_uint32": 2, "uinteger": 2**32}
    numbers = {name: told[name] for name in limits} | dict(told["state"])
    limits |= {"state": 2**128, "inc": 2**128}
    whole = all(type(numbers.get(name)) is int and 0 <= numbers[name] < limit for name, limit in limits.items())
    if told["bit_generator"] != "PCG64" or not whole or numbers["inc"] % 2 == 0:
        raise ValueError("the random numbers of a chain are not described by a state of PCG64.")
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = told
    return rng


def check_attributes(tree: xr.DataTree, chains: int) -> None:
    """Refuse attributes of a fit that reports could not show."""
    seconds = np.atleast_1d(np.asarray(tree.attrs["seconds"], dtype=np.float64))
    if seconds.shape != (chains,) or not (np.isfinite(seconds) & (seconds >= 0)).all():
        raise ValueError("the seconds of the chains are not one number for each.")
    for name in ("complete", "seeded"):
        if name in tree.attrs and tree.attrs[name] not in (0, 1):
            raise ValueError(f"{name} must be 0 or 1; got {tree.attrs[name]!r}.")
    if "complete" not in tree.attrs or not isinstance(tree.attrs.get("auto", ""), str):
        raise ValueError("what is said of the run is missing or no text.")
