"""Draw from a posterior: check what was asked, run the chains, hand over their draws."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from privmix.engine import Plan, run_chains
from privmix.engine.chains import shorten
from privmix.engine.seeds import root_of
from privmix.frames import Labels, labels_of
from privmix.frames.trees import add_labels
from privmix.model import PrivateMixture
from privmix.posterior.posterior import Posterior
from privmix.release import Release
from privmix.samplers import Auto, Sampler
from privmix.sampling.trial import trials_of
from privmix.settings import Settings

# Allocations are kept by default while they take at most this many bytes.
ALLOCATION_BYTES = 256 * 2**20


def sample(
    model: PrivateMixture,
    z: Any,
    sampler: Sampler | None,
    settings: Settings,
    *,
    seed: Any,
    progress: bool,
    executor: Executor | None,
    allocations: bool | None,
) -> Posterior:
    """Draw from the posterior of a model; `PrivateMixture.sample` documents the parameters."""
    sampler = Auto() if sampler is None else sampler
    if not isinstance(sampler, Sampler):
        hint = f" Did you mean {sampler.__name__}()?" if isinstance(sampler, type) else ""
        raise TypeError(f"sampler must be a Sampler such as samplers.Neal5(); got {sampler!r}.{hint}")
    sampler.check(model)
    labels = Labels() if isinstance(z, Release) else labels_of(z)
    z = read_release(model, z)
    seeds = root_of(seed)
    plan = Plan(model, sampler, z, settings.draws, settings.warmup, settings.thin, allocations=False)
    starts = list(seeds.spawn(settings.chains))
    chosen, why = sampler.choose(model, z, plan.sweeps, trials_of(plan, seeds.spawn(1)[0]))
    plan = replace(plan, sampler=chosen, allocations=keeps_allocations(plan, settings.chains, allocations))
    done, complete = run_chains(plan, starts, progress=progress, executor=executor)
    if not complete:
        done = shorten(done)
        warnings.warn(
            f"interrupted: {len(done)} of {settings.chains} chains kept, with {done[0].length} of {settings.draws} "
            "draws each.",
            stacklevel=3,
        )
    about = {"seed": str(seeds.entropy), "complete": int(complete), **({"auto": why} if why else {})}
    posterior = Posterior.from_chains(plan, done, **about)
    add_labels(posterior.datatree, labels)
    return posterior


def keeps_allocations(plan: Plan, chains: int, wanted: bool | None) -> bool:
    """Return whether to keep the cluster of every record in every draw; refuse where records have none to speak of."""
    mechanism = plan.model.mechanism
    if mechanism.is_global:
        if wanted:
            raise ValueError(
                f"{type(mechanism).__name__} makes one release of all records, which says nothing of any one of "
                "them: the clusters of records are not identified, so they are not kept. Leave allocations out; the "
                "density and its bands are served."
            )
        return False
    return 4 * plan.records * plan.draws * chains <= ALLOCATION_BYTES if wanted is None else wanted


def read_release(model: PrivateMixture, z: Any) -> np.ndarray:
    """Return the released records, checked against the model's mechanism."""
    if isinstance(z, Release):
        if z.mechanism != model.mechanism:
            raise ValueError(
                f"the release was made by {z.mechanism!r}, but the model has {model.mechanism!r}. "
                "Build the model with release.mechanism."
            )
        return np.array(z.z)
    z = np.array(model.mechanism.check_release(z))
    lower, upper = model.kernel.support
    if model.mechanism.reveals and ((z < lower) | (z > upper)).any():
        raise ValueError(f"records lie outside the support [{lower:g}, {upper:g}] of {type(model.kernel).__name__}.")
    return z
