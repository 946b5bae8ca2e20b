"""A run of chains: its draws, kept once, how to thin them, how to go on and where to save them."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr

from privmix.checks.check import Worst, worst
from privmix.engine import Chain, End, Plan, run_chains
from privmix.engine.block import join_draws, stack_draws
from privmix.engine.chains import NO_ROOM, available_cpus, rescue, spaced
from privmix.engine.progress import in_time, tell
from privmix.frames.read import add_labels, read_labels
from privmix.model import Limits, PrivateMixture
from privmix.parts.checks import check_count
from privmix.samplers import Sampler
from privmix.samplers.base import Draws

# A run that goes on keeps at most so many times the draws that it began with, or the effective draws that it aims at.
MOST_GROWTH, DRAWS_FOR_AN_EFFECTIVE_ONE = 4, 10
# A block is at least this share of the draws that there are, and at most as many: what a few draws say of R-hat and
# effective sample sizes is rough. Those that are missing are exceeded a little, so as not to stop just short.
LEAST_BLOCK, MARGIN = 0.25, 1.1
# Blocks in a row after which a quantity that did not move in some chain is given up.
MOST_STILL_BLOCKS = 4


class Run:
    """What the chains of a model drew, and where they ended, from which they can go on.

    Parameters
    ----------
    plan
        What each chain was to do: model, sampler, release and sweeps.
    arrays
        The draws of all chains, with axes of chains and draws first: what all answers are computed from.
    ends
        Where each chain stands.
    datatree
        The draws by name, as views of `arrays`.
    """

    def __init__(self, plan: Plan, arrays: Draws, ends: list[End], datatree: xr.DataTree) -> None:
        self.plan = plan
        self.arrays = arrays
        self.ends = ends
        self.datatree = datatree

    @classmethod
    def from_chains(cls, plan: Plan, chains: list[Chain], **attrs: Any) -> Self:
        """Gather chains of one length; `attrs` describe the run in the DataTree."""
        return cls._gather(
            plan, stack_draws([chain.pieces for chain in chains]), [chain.end for chain in chains], attrs
        )

    @classmethod
    def _gather(cls, plan: Plan, arrays: Draws, ends: list[End], attrs: Mapping[Any, Any]) -> Self:
        tree = to_tree(plan, arrays)
        tree.attrs |= {**attrs, "seconds": [end.seconds for end in ends]}
        return cls(plan, arrays, ends, tree)

    @property
    def model(self) -> PrivateMixture:
        """The model that was fitted."""
        return self.plan.model

    @property
    def sampler(self) -> Sampler:
        """The sampler that made the draws."""
        return self.plan.sampler

    @property
    def draws(self) -> int:
        """Draws of each chain."""
        return self.datatree["posterior"].sizes["draw"]

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.datatree["posterior"].sizes["chain"]

    @property
    def dataset(self) -> xr.Dataset:
        """The draws alone, as a Dataset that every version of ArviZ takes; `datatree` needs ArviZ 1.0 or later."""
        return self.datatree["posterior"].to_dataset()

    @property
    def n_clusters(self) -> xr.DataArray:
        """Number of clusters among the records, for each draw."""
        return self.datatree["posterior"].to_dataset()["n_clusters"]

    @property
    def acceptance(self) -> float:
        """Mean acceptance rate of the proposals for confidential records."""
        return float(self.datatree["sample_stats"]["acceptance"].mean())

    @property
    def records(self) -> int:
        """Number of confidential records behind the release; its posterior median where it is not known."""
        known = self.records_of_draws
        return known if isinstance(known, int) else round(float(np.median(known)))

    @property
    def records_of_draws(self) -> int | np.ndarray:
        """Number of confidential records; where it is not known, one for each draw, the chains one after another."""
        if not self.model.mechanism.records_unknown:
            return self.plan.records
        return self.datatree["sample_stats"].to_dataset()["records"].values.reshape(-1)

    def record_count(self, level: float = 0.95) -> xr.Dataset:
        """Return what the release says of the number of records: mean, median, lower and upper.

        Where it is known, all four are the same.

        Parameters
        ----------
        level
            Probability of the interval from lower to upper, which leaves as much on either side.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1; got {level!r}.")
        counts = np.atleast_1d(np.asarray(self.records_of_draws, dtype=np.float64))
        lower, median, upper = np.quantile(counts, [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)])
        values = {"mean": counts.mean(), "median": median, "lower": lower, "upper": upper}
        return xr.Dataset({name: float(value) for name, value in values.items()}, attrs={"level": level})

    def thinned(self, most: int) -> Self:
        """Return at most so many of the draws, evenly spaced over each chain; the same object where there are no more.

        `resume` goes on from the end of each chain, with new draws as far apart as those that were kept.

        Parameters
        ----------
        most
            Draws of all chains together, at least one for each.
        """
        check_count("most", most, self.chains)
        return self._every(-(-self.draws * self.chains // int(most)))

    def _every(self, step: int) -> Self:
        """Return every so manyth draw of each chain."""
        if step <= 1:
            return self
        kept = slice(step - 1, None, step)
        plan = replace(self.plan, draws=max(1, self.draws // step), thin=self.plan.thin * step)
        # A copy in order: what is read off draws by the thousand would else put them in order each time.
        arrays = Draws(*[np.ascontiguousarray(array[:, kept]) for array in self.arrays])
        tree = self.datatree.isel(draw=kept)
        show_arrays(plan, arrays, tree)
        return type(self)(plan, arrays, self.ends, tree)

    def resume(
        self,
        draws: int | None = None,
        *,
        until: Mapping[str, float] | None = None,
        minutes: float | None = None,
        progress: bool = False,
        executor: Any = None,
    ) -> Self:
        """Go on from the last state of each chain; return a posterior with the old draws and the new.

        The draws are those that one longer run would have made.

        Parameters
        ----------
        draws
            More draws of each chain; by default as many as there are.
        until, minutes
            Instead of `draws`: limits until which to go on, and how long at most.
        progress, executor
            As in ``PrivateMixture.sample``, and so are `until` and `minutes`.
        """
        limits = Limits.read(until, minutes, self.chains)
        if limits is not None:
            if draws is not None:
                raise ValueError("resume goes on for so many draws or until limits are reached: give draws or until.")
            return go_on(self, limits, progress, executor)
        draws = self.draws if draws is None else check_count("draws", draws, 1)
        plan = replace(self.plan, draws=draws, warmup=0)
        made, complete = run_chains(plan, list(self.ends), progress=progress, executor=executor)
        plan, more = spaced(plan, made) if complete else rescue(plan, made)
        step = plan.thin // self.plan.thin
        some = "" if step == 1 else f", one in {step} of those made, and as many of those before are kept"
        if not complete:
            if len(more) < self.chains:
                raise KeyboardInterrupt("interrupted before every chain had made new draws; nothing was added")
            warnings.warn(f"interrupted: {more[0].length} of {draws} draws were added{some}.", stacklevel=2)
        elif some:
            warnings.warn(f"{NO_ROOM}: {more[0].length} were added{some}.", stacklevel=2)
        kept = self._every(step)
        arrays = join_draws(kept.arrays, stack_draws([chain.pieces for chain in more]))
        seconds = [old.seconds + new.end.seconds for old, new in zip(self.ends, more, strict=True)]
        ends = [replace(chain.end, seconds=spent) for chain, spent in zip(more, seconds, strict=True)]
        attrs = {**self.datatree.attrs, "complete": int(complete)}
        longer = self._gather(kept.plan, arrays, ends, attrs)
        add_labels(longer.datatree, read_labels(self.datatree))
        return longer

    def save(self, path: str | Path) -> None:
        """Write the draws, the model and the last state of each chain as netCDF; the file appears whole or not at all.

        Parameters
        ----------
        path
            Where to write; an existing file is replaced.
        """
        from privmix.posterior.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, known: dict[str, type] | None = None) -> Any:
        """Read what `save` wrote; the same as ``privmix.load``.

        Parameters
        ----------
        path
            A netCDF file.
        known
            Classes of your own that the model uses, by name, if their module is not imported.
        """
        from privmix.posterior.storage import load

        return load(path, known)

    def __repr__(self) -> str:
        return (
            f"<privmix.Posterior: {self.model.describe()}, {type(self.sampler).__name__}, "
            f"{self.chains} chains × {self.draws} draws, {self.records} records>"
        )


def go_on(run: Any, limits: Limits, progress: bool, executor: Any) -> Any:
    """Return a run that went on in blocks until its chains are within limits, or until the time is over."""
    most = int(max(MOST_GROWTH * run.draws * run.chains, DRAWS_FOR_AN_EFFECTIVE_ONE * limits.ess))
    deadline, pace, still = time.monotonic() + 60.0 * limits.minutes, _seconds_for_a_draw(run), 0
    while not (found := worst(run.summary())).within(limits.r_hat, limits.ess):
        still = still + 1 if found.missing else 0
        left = deadline - time.monotonic()
        wanted = _block(run.draws, found, limits)
        block = wanted if math.isinf(left) else min(wanted, int(left / pace))
        if block < min(wanted, LEAST_BLOCK * run.draws) or still > MOST_STILL_BLOCKS:
            spent = f" in {limits.minutes:g} minutes" if still <= MOST_STILL_BLOCKS else ""
            advice = "Go on with resume, raise warmup, or choose another sampler."
            warnings.warn(f"the limits were not reached{spent}: {found.beyond(limits)} {advice}", stacklevel=4)
            return run
        if progress:
            ends = "" if math.isinf(left) else f"; at most {in_time(left)} left"
            tell(f"{found.beyond(limits)} Going on with {block:,} draws a chain, {in_time(block * pace)}{ends}")
        began = time.monotonic()
        try:
            run = run.resume(block, progress=progress, executor=executor)
        except KeyboardInterrupt:
            warnings.warn("interrupted: what was drawn before is kept.", stacklevel=4)
            run.datatree.attrs["complete"] = 0
        if not run.datatree.attrs["complete"]:
            return run
        pace, before = (time.monotonic() - began) / block, run.draws
        run = run.thinned(max(most, run.chains))
        pace *= before / run.draws
    if progress:
        tell(f"limits reached: the worst R-hat is {found.r_hat:.3f}, the least effective sample size {found.ess:.0f}")
    return run


def _block(draws: int, found: Worst, limits: Limits) -> int:
    """Return how many more draws of each chain bring it within limits: ESS grows as they do, and R-hat − 1 falls."""
    if found.missing or not math.isfinite(found.ess + found.r_hat):
        return draws
    times = max(limits.ess / max(found.ess, 1.0), (found.r_hat - 1.0) / (limits.r_hat - 1.0))
    return max(1, int(draws * min(max(MARGIN * times - 1.0, LEAST_BLOCK), 1.0)))


def _seconds_for_a_draw(run: Run) -> float:
    """Return how long one more draw of every chain takes, by the time of those that were made."""
    made = run.draws + run.plan.warmup / run.plan.thin
    return max(sum(end.seconds for end in run.ends) / min(run.chains, available_cpus()) / made, 1e-9)


def to_tree(plan: Plan, draws: Draws) -> xr.DataTree:
    """Return the draws of all chains as a DataTree with ArviZ's groups, whose variables are views of the arrays."""
    kernel, cd = plan.model.kernel, ("chain", "draw")
    posterior: dict = {
        "n_clusters": (cd, draws.n_clusters),
        "concentration": (cd, draws.concentration),
        "weight": ((*cd, "component"), draws.weight),
    }
    for p, name in enumerate(kernel.parameters):
        posterior[name] = ((*cd, "component"), draws.atom[..., p])
    for p, name in enumerate(kernel.hyperparameters):
        posterior[f"base_{name}"] = (cd, draws.hyper[..., p])
    if draws.allocation.shape[2]:
        posterior["allocation"] = ((*cd, "record"), draws.allocation)
    stats: dict = {name: (cd, draws.statistic[..., s]) for s, name in enumerate(plan.sampler.statistics)}
    stats["n_components"] = (cd, draws.components)
    dims = ("released",) if plan.model.mechanism.is_global else ("record", "coefficient")[: plan.z.ndim]
    coords = {"chain": np.arange(len(draws.n_clusters)), "draw": np.arange(draws.n_clusters.shape[1])}
    return xr.DataTree.from_dict(
        {
            "/posterior": xr.Dataset(posterior, coords=coords),
            "/sample_stats": xr.Dataset(stats, coords=coords),
            "/observed_data": xr.Dataset({"z": (dims, plan.z)}, coords=_names_of_columns(plan)),
        }
    )


def _names_of_columns(plan: Plan) -> dict[str, list[str]]:
    mechanism = plan.model.mechanism
    return {"coefficient": mechanism.file_columns()} if mechanism.names else {}


def share_arrays(plan: Plan, tree: xr.DataTree) -> Draws:
    """Return the draws of all chains from a DataTree that was read, whose variables become views of them."""
    arrays = from_tree(plan, tree)
    show_arrays(plan, arrays, tree)
    return arrays


def show_arrays(plan: Plan, arrays: Draws, tree: xr.DataTree) -> None:
    """Let the variables of a DataTree be views of these draws; its coordinates stay."""
    views = to_tree(plan, arrays)
    for group in ("posterior", "sample_stats"):
        tree[group].dataset = views[group].to_dataset().assign_coords(tree[group].coords)


def from_tree(plan: Plan, tree: xr.DataTree) -> Draws:
    """Return the draws of all chains from a DataTree: the inverse of `to_tree`."""
    kernel = plan.model.kernel
    posterior, stats = tree["posterior"].to_dataset(), tree["sample_stats"].to_dataset()
    shape = posterior["n_clusters"].shape
    hyper = [posterior[f"base_{name}"].values for name in kernel.hyperparameters]
    allocation = posterior["allocation"].values if "allocation" in posterior else np.zeros((*shape, 0), np.int32)
    return Draws(
        n_clusters=posterior["n_clusters"].values,
        concentration=posterior["concentration"].values,
        hyper=np.stack(hyper, axis=-1) if hyper else np.zeros((*shape, 0)),
        components=stats["n_components"].values,
        weight=posterior["weight"].values,
        atom=np.stack([posterior[name].values for name in kernel.parameters], axis=-1),
        allocation=allocation,
        statistic=np.stack([stats[name].values for name in plan.sampler.statistics], axis=-1),
    )
