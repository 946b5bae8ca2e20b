"""A run of chains: its draws, how to thin them, how to go on and where to keep them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import xarray as xr

from privmix.engine import Chain, Plan, run_chains
from privmix.engine.chains import shorten
from privmix.engine.draws import join_draws, stack_draws
from privmix.frames.trees import add_labels, read_labels
from privmix.model import PrivateMixture
from privmix.parts.checks import check_count
from privmix.posterior.tree import from_tree, to_tree
from privmix.samplers import Sampler
from privmix.samplers.base import Draws


class Run:
    """What the chains of a model drew, and their last states, from which they can go on."""

    def __init__(self, plan: Plan, chains: list[Chain], tree: xr.DataTree) -> None:
        self._plan = plan
        self._chains = chains
        self.datatree = tree

    @classmethod
    def from_chains(
        cls,
        plan: Plan,
        chains: list[Chain],
        *,
        entropy: str,
        complete: bool,
        support: tuple[float, float] | None,
    ) -> Self:
        """Gather chains of one length."""
        draws = stack_draws([chain.draws for chain in chains])
        tree = to_tree(plan, draws)
        tree.attrs["seed"] = entropy
        tree.attrs["complete"] = int(complete)
        tree.attrs["seconds"] = [chain.seconds for chain in chains]
        if support is not None:
            tree.attrs["support"] = list(support)
        # The chains keep views of the stacked draws, not copies.
        views = [Draws(*[array[c] for array in draws]) for c in range(len(chains))]
        return cls(plan, [replace(chain, draws=view) for chain, view in zip(chains, views, strict=True)], tree)

    @property
    def model(self) -> PrivateMixture:
        """The model that was fitted."""
        return self._plan.model

    @property
    def sampler(self) -> Sampler:
        """The sampler that made the draws."""
        return self._plan.sampler

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
    def support(self) -> tuple[float, float] | None:
        """Interval on which densities are renormalised, or None."""
        if "support" not in self.datatree.attrs:
            return None
        lower, upper = (float(value) for value in self.datatree.attrs["support"])
        return lower, upper

    def thinned(self, most: int) -> Self:
        """Return at most so many of the draws, evenly spaced over each chain; the same object where there are no more.

        `resume` goes on from the end of each chain, with new draws as far apart as those that were kept.

        Parameters
        ----------
        most
            Draws of all chains together, at least one for each.
        """
        check_count("most", most, self.chains)
        step = -(-self.draws * self.chains // int(most))
        if step <= 1:
            return self
        kept = slice(step - 1, None, step)
        chains = [replace(chain, draws=Draws(*[array[kept] for array in chain.draws])) for chain in self._chains]
        plan = replace(self._plan, draws=self.draws // step, thin=self._plan.thin * step)
        return type(self)(plan, chains, self.datatree.isel(draw=kept))

    def resume(self, draws: int, *, progress: bool = False, executor: Any = None) -> Self:
        """Go on from the last state of each chain; return a posterior with the old draws and the new.

        The draws are those that one longer run would have made.

        Parameters
        ----------
        draws
            More draws of each chain.
        progress, executor
            As in ``PrivateMixture.sample``.
        """
        check_count("draws", draws, 1)
        plan = replace(self._plan, draws=draws, warmup=0)
        more, complete = run_chains(plan, list(self._chains), progress=progress, executor=executor)
        if not complete:
            more = shorten(more) if len(more) == len(self._chains) else more
            if len({chain.length for chain in more}) > 1 or len(more) < len(self._chains):
                raise KeyboardInterrupt("interrupted before every chain had made new draws; nothing was added")
            warnings.warn(f"interrupted: {more[0].length} of {draws} draws were added.", stacklevel=2)
        joined = [
            replace(new, draws=join_draws(old.draws, new.draws), seconds=old.seconds + new.seconds)
            for old, new in zip(self._chains, more, strict=True)
        ]
        attrs = self.datatree.attrs
        longer = self.from_chains(self._plan, joined, entropy=attrs["seed"], complete=complete, support=self.support)
        add_labels(longer.datatree, read_labels(self.datatree))
        if "auto" in attrs:
            longer.datatree.attrs["auto"] = attrs["auto"]
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

    def __repr__(self) -> str:
        return (
            f"<privmix.Posterior: {self.model.describe()}, {type(self.sampler).__name__}, "
            f"{self.chains} chains × {self.draws} draws, {self._plan.records} records>"
        )

    def _stacked(self) -> Draws:
        return from_tree(self._plan, self.datatree)
