"""From a request to a posterior: check what was asked, choose the sampler, run the chains, hand over their draws."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from privmix.curves.density import density_draws
from privmix.engine import Plan, run_chains
from privmix.engine.block import stack_draws
from privmix.engine.chains import NO_ROOM, rescue, root_of, spaced
from privmix.engine.progress import tell
from privmix.frames import Labels, labels_of
from privmix.frames.read import add_labels
from privmix.mechanisms import Mechanism
from privmix.model import DEFAULTS, PrivateMixture, Settings, default_model
from privmix.posterior.posterior import Posterior
from privmix.release import Release
from privmix.samplers import Auto, Sampler
from privmix.samplers.capabilities import check_served

# Allocations are kept by default while they take at most this many bytes.
ALLOCATION_BYTES = 256 * 2**20
NO_WEIGHTS = (
    "fit takes no weights: each release stands for one record, and a posterior of weighted records has no meaning. "
    "Where weights count equal releases, repeat them: fit(np.repeat(z, weights), mechanism). With survey weights, fit "
    "each stratum by itself and mix the densities by the strata's known shares."
)
# A released number that is less likely than this, whatever the record, is a mistake in the mechanism or in the units.
LEAST_PROBABILITY = 1e-12
# Fourth powers of records up to this, and squares of numbers with any usual noise, are inside floating point.
LARGEST_NUMBER = 1e75
# Numbers that a chain may keep of the prior: 80 MB.
LARGEST_LAW = 10_000_000
# Numbers that a message names.
MOST_NAMED = 3


def fit(
    z: Any,
    mechanism: Mechanism | None = None,
    *,
    resolution: float | None = None,
    sampler: Sampler | None = None,
    draws: int = DEFAULTS.draws,
    warmup: int = DEFAULTS.warmup,
    thin: int = DEFAULTS.thin,
    chains: int = DEFAULTS.chains,
    until: Mapping[str, float] | None = None,
    minutes: float | None = None,
    seed: Any = None,
    progress: bool = False,
    executor: Executor | None = None,
    allocations: bool | None = None,
    weights: None = None,
) -> Posterior:
    """Fit a mixture to a release: ``default_model(mechanism).sample(z, …)``.

    The kernel is `kernels.TruncatedNormal` on the mechanism's bounds, the prior a Dirichlet process whose concentration
    is learned.

    Parameters
    ----------
    z
        The released records (an array, or a column of pandas, polars, pyarrow or xarray, whose labels and name are
        kept), the release of a whole data set, or a `Release`.
    mechanism
        What made them; not needed with a `Release`. It must have bounds.
    resolution
        Distance of neighbouring values that a record can take, counted from the lower bound: 1 where records are whole
        numbers. None where they are not rounded.
    sampler, draws, warmup, thin, chains, until, minutes, seed, progress, executor, allocations
        As in ``PrivateMixture.sample``.
    weights
        Refused, with what to do instead: records of a posterior have no weights.

    Examples
    --------
    >>> import numpy as np, privmix
    >>> mechanism = privmix.mechanisms.Laplace(epsilon=10, bounds=(-10, 10))
    >>> z = mechanism.privatize(np.random.default_rng(1).normal(2, 1, 300), seed=2)
    >>> posterior = privmix.fit(z, mechanism, seed=3)
    >>> float(posterior.density()["mean"].idxmax())  # doctest: +SKIP
    2.06
    """
    if weights is not None:
        raise TypeError(NO_WEIGHTS)
    if isinstance(z, str | os.PathLike):
        raise TypeError(f"fit takes a release, not the path of one: fit(Release.load({os.fspath(z)!r})).")
    if mechanism is None:
        if not isinstance(z, Release):
            raise TypeError("fit needs the mechanism that made the release: fit(z, mechanism), or fit(release).")
        mechanism = z.mechanism
    if resolution is not None and isinstance(z, Release):
        z = z.z  # the model's mechanism is that of the release, seen on the lattice
    return default_model(mechanism, resolution=resolution).sample(
        z,
        sampler,
        draws=draws,
        warmup=warmup,
        thin=thin,
        chains=chains,
        until=until,
        minutes=minutes,
        seed=seed,
        progress=progress,
        executor=executor,
        allocations=allocations,
    )


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
    check_served(sampler, model)
    labels = Labels() if isinstance(z, Release) else labels_of(z)
    z = read_release(model, z)
    check_room(model, z)
    seeds = root_of(seed)
    plan = Plan(model, sampler, z, settings.draws, settings.warmup, settings.thin, allocations=False)
    if progress:
        asked = f"{settings.chains} chains of {plan.sweeps:,} sweeps over {plan.records:,} records"
        tell(f"{asked}; what this machine has not compiled yet is compiled first, 10 s to a minute")
    starts = list(seeds.spawn(settings.chains))
    chosen, why = sampler.choose(model, z, plan.sweeps, trials_of(plan, seeds.spawn(1)[0]))
    check_served(chosen, model)
    plan = replace(plan, sampler=chosen, allocations=keeps_allocations(plan, settings.chains, allocations))
    made, complete = run_chains(plan, starts, progress=progress, executor=executor)
    plan, done = spaced(plan, made) if complete else rescue(plan, made)
    some = "" if plan.thin == settings.thin else f", one in {plan.thin // settings.thin} of those made"
    if not complete:
        warnings.warn(
            f"interrupted: {len(done)} of {settings.chains} chains kept, with {done[0].length} of {settings.draws} "
            f"draws each{some}.",
            stacklevel=3,
        )
    elif some:
        warnings.warn(
            f"{NO_ROOM}: {done[0].length} are kept{some}; a larger thin asks for fewer.",
            stacklevel=3,
        )
    about = {**about_seed(seed, seeds), "complete": int(complete), **({"auto": why} if why else {})}
    posterior = Posterior.from_chains(plan, done, **about)
    add_labels(posterior.datatree, labels)
    if settings.until is None or not complete:
        return posterior
    return posterior.resume(until=settings.until, minutes=settings.minutes, progress=progress, executor=executor)


def about_seed(seed: Any, root: np.random.SeedSequence) -> dict[str, Any]:
    """Return what a posterior says of its seed: whether one was given; the seed itself only where it was fresh.

    One that was given may have made the release too, and would then take its noise off. No fingerprint is kept: trying
    all small numbers finds the one that it belongs to.
    """
    return {"seeded": 1} if seed is not None else {"seeded": 0, "seed": str(root.entropy)}


def trials_of(plan: Plan, seed: Any) -> Callable[[Sampler, int, np.ndarray], np.ndarray]:
    """Return the function that runs a sampler for a few sweeps, the first half to warm up, all from one seed.

    Its values are the density of each draw at the given points.
    """

    def trial(sampler: Sampler, sweeps: int, points: np.ndarray) -> np.ndarray:
        half = sweeps // 2
        short = replace(plan, sampler=sampler, draws=sweeps - half, warmup=half, thin=1, allocations=False)
        # In a thread of its own, as chains are: where the main thread compiles, the compiler may swallow Ctrl-C.
        (chain,), complete = run_chains(short, [seed])
        if not complete or chain.length < short.draws:  # a pilot that was stopped has no use for what it has drawn
            raise KeyboardInterrupt
        draws = stack_draws([chain.pieces])
        return density_draws(plan.model.kernel, draws, points)[0]

    return trial


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
    if isinstance(z, Release) and z.mechanism != model.mechanism:
        raise ValueError(
            f"the release was made by {z.mechanism!r}, but the model has {model.mechanism!r}. "
            "Build the model with release.mechanism."
        )
    z = np.array(z.z if isinstance(z, Release) else model.mechanism.check_release(z))
    check_possible(model, z)
    lower, upper = model.kernel.support
    outside = np.count_nonzero((z < lower) | (z > upper)) if model.mechanism.reveals else 0
    if outside:
        raise ValueError(
            f"{outside} records lie outside [{lower:g}, {upper:g}], which {type(model.kernel).__name__} gives no "
            "probability. Widen the bounds, or choose a kernel on the whole line such as kernels.HierarchicalNormal."
        )
    return z


def check_room(model: PrivateMixture, z: np.ndarray) -> None:
    """Refuse a prior that keeps a number for each record, where there are more than memory should hold."""
    records = model.mechanism.count_records(z)
    if model.prior.law_size(records) > LARGEST_LAW:
        raise ValueError(
            f"{type(model.prior).__name__} keeps a number for each record, and there are {records:,}. Use "
            "DirichletProcess or Dirichlet."
        )


def check_possible(model: PrivateMixture, z: np.ndarray) -> None:
    """Refuse released numbers that the mechanism cannot have made of any record, before a fit makes sense of them."""
    mechanism, whatever, known = model.mechanism, "whatever the records", "number of records"
    refuse_numbers(
        z, np.abs(z) > LARGEST_NUMBER, f"beyond ±{LARGEST_NUMBER:g}, where floating point ends", "Check the units."
    )
    interval = mechanism.bounds or model.kernel.support if mechanism.dimension == 1 else (-math.inf, math.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # infinitely many scales away; or anything, where withheld
        bad = mechanism.log_tail(z, interval) < math.log(LEAST_PROBABILITY)
    if not mechanism.is_global:
        inside = f"[{interval[0]:g}, {interval[1]:g}]" if mechanism.dimension == 1 else "their bounds"
        whatever, known = f"{whatever} inside {inside}", "bounds"
    refuse_numbers(
        z,
        bad,
        f"less likely than {LEAST_PROBABILITY:g} under {type(mechanism).__name__}, {whatever}",
        f"Check the {known}, the scale or epsilon of the noise, and the units: a fit would mean nothing.",
    )


def refuse_numbers(z: np.ndarray, bad: np.ndarray, what: str, advice: str) -> None:
    """Refuse the numbers of a release at some places, if any; the first are named by row and value."""
    places = np.argwhere(bad)
    if len(places):
        named = [f"{z[tuple(at)]:g} (row {', number '.join(str(k + 1) for k in at)})" for at in places[:MOST_NAMED]]
        more = ", …" if len(places) > MOST_NAMED else ""
        verb = "is" if len(places) == 1 else "are"
        raise ValueError(
            f"{len(places)} of {z.size} released numbers {verb} {what}: {', '.join(named)}{more}. {advice}"
        )
