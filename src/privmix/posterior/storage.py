"""Posteriors as netCDF files: written whole or not at all, read back with equal draws."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from privmix.engine import Chain, Plan
from privmix.files import whole_file
from privmix.model import PrivateMixture
from privmix.parts import part_from_dict, part_to_dict
from privmix.posterior.posterior import Posterior
from privmix.posterior.run import Run
from privmix.posterior.tree import from_tree
from privmix.samplers.base import Draws

FORMAT = 1


def save(run: Run, path: str | Path) -> None:
    """Write a run as netCDF; an existing file is replaced only by a complete one."""
    tree = run.datatree.copy()
    tree.attrs |= {"privmix_format": FORMAT, "privmix": json.dumps(_describe(run._plan))}
    for c, chain in enumerate(run._chains):
        tree[f"/chain_state/chain_{c}"] = xr.DataTree(_state_dataset(chain))
    encoding = {"/posterior": {name: {"zlib": True, "complevel": 1} for name in tree["posterior"].data_vars}}
    with whole_file(Path(path)) as temporary:
        tree.to_netcdf(temporary, engine="h5netcdf", encoding=encoding)


def load(path: str | Path, known: dict[str, type] | None = None) -> Posterior:
    """Read a posterior that `Posterior.save` wrote.

    Parameters
    ----------
    path
        A netCDF file.
    known
        Classes of your own that the model uses, by name, if their module is not imported.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
        about = json.loads(tree.attrs["privmix"])
        version = int(tree.attrs["privmix_format"])
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} is not a posterior of privmix, or it is damaged ({error}).") from error
    if version > FORMAT:
        raise ValueError(f"{path} has format {version}; this version of privmix reads up to {FORMAT}. Upgrade privmix.")
    try:
        return _rebuild(tree, about, known)
    except LookupError as error:
        if not isinstance(error, KeyError):
            raise
        raise ValueError(f"{path} is not a posterior of privmix, or it is damaged ({error}).") from error
    except TypeError as error:
        raise ValueError(f"{path} is not a posterior of privmix, or it is damaged ({error}).") from error


def _rebuild(tree: xr.DataTree, about: dict[str, Any], known: dict[str, type] | None) -> Posterior:
    model = PrivateMixture(**{name: part_from_dict(about["model"][name], known) for name in about["model"]})
    sampler = part_from_dict(about["sampler"], known)
    z = np.ascontiguousarray(tree["observed_data"]["z"].values)
    plan = Plan(model=model, sampler=sampler, z=z, **about["plan"])
    stacked = from_tree(plan, tree)
    chains = []
    for c in range(len(stacked.n_clusters)):
        dataset = tree[f"chain_state/chain_{c}"].to_dataset()
        state, rng = _read_state(plan, dataset)
        chains.append(Chain(Draws(*[array[c] for array in stacked]), state, rng, float(dataset.attrs["seconds"])))
    del tree["chain_state"]
    for name in ("privmix", "privmix_format"):
        del tree.attrs[name]
    return Posterior(plan, chains, tree)


def _describe(plan: Plan) -> dict[str, Any]:
    model = {f.name: part_to_dict(getattr(plan.model, f.name)) for f in fields(plan.model)}
    counts = {name: getattr(plan, name) for name in ("draws", "warmup", "thin", "allocations")}
    return {"model": model, "sampler": part_to_dict(plan.sampler), "plan": counts}


def _state_dataset(chain: Chain) -> xr.Dataset:
    """Return a chain's last state: what it needs to go on. Empty arrays are left out; netCDF has no place for them."""
    arrays = {name: array for name, array in chain.state._asdict().items() if array.size}
    variables = {name: ([f"{name}_{axis}" for axis in range(a.ndim)], a) for name, a in arrays.items()}
    attrs = {"rng": json.dumps(chain.rng.bit_generator.state), "seconds": chain.seconds}
    return xr.Dataset(variables, attrs=attrs)


def _read_state(plan: Plan, dataset: xr.Dataset) -> tuple[Any, np.random.Generator]:
    state = plan.sampler.allocate(plan.model, plan.records)
    stored = {str(name): np.ascontiguousarray(variable.values) for name, variable in dataset.data_vars.items()}
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = json.loads(dataset.attrs["rng"])
    return state._replace(**stored), rng
