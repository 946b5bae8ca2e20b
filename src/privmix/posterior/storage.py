"""Posteriors as netCDF files: written whole or not at all, read back with equal draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from privmix.engine import End, Plan
from privmix.files import write_bytes
from privmix.model import PrivateMixture
from privmix.parts import part_from_dict, part_to_dict
from privmix.posterior.posterior import Posterior
from privmix.posterior.run import Run, share_arrays

FORMAT = 2
PARTS = ("mechanism", "kernel", "prior")


def save(run: Run, path: str | Path) -> None:
    """Write a run as netCDF; an existing file is replaced only by a complete one.

    The file is made in memory, which it takes once more, and then written by Python: HDF5 ends the process where a disk
    is full. After Ctrl-C it is not compressed, which would take ten times as long.
    """
    tree = run.datatree.copy()
    tree.attrs |= {"privmix_format": FORMAT, "privmix": json.dumps(_describe(run.plan))}
    for c, end in enumerate(run.ends):
        tree[f"/chain_state/chain_{c}"] = xr.DataTree(_state_dataset(end))
    how = {"zlib": True, "complevel": 1} if tree.attrs.get("complete", 1) else {}
    encoding = {"/posterior": dict.fromkeys(tree["posterior"].data_vars, how)}
    write_bytes(Path(path), tree.to_netcdf(engine="h5netcdf", encoding=encoding))


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
    # Format 1 kept what the density is restricted to beside the model.
    about["model"].setdefault("restricted_to", tree.attrs.pop("support", None))
    parts = {name: part_from_dict(about["model"][name], known) for name in PARTS}
    model = PrivateMixture(**parts, restricted_to=about["model"]["restricted_to"])
    sampler = part_from_dict(about["sampler"], known)
    z = np.ascontiguousarray(tree["observed_data"]["z"].values)
    plan = Plan(model=model, sampler=sampler, z=z, **about["plan"])
    ends = []
    for c in range(tree["posterior"].sizes["chain"]):
        dataset = tree[f"chain_state/chain_{c}"].to_dataset()
        ends.append(End(*_read_state(plan, dataset), float(dataset.attrs["seconds"])))
    del tree["chain_state"]
    for name in ("privmix", "privmix_format"):
        del tree.attrs[name]
    return Posterior(plan, share_arrays(plan, tree), ends, tree)


def _describe(plan: Plan) -> dict[str, Any]:
    model = {name: part_to_dict(getattr(plan.model, name)) for name in PARTS}
    counts = {name: getattr(plan, name) for name in ("draws", "warmup", "thin", "allocations")}
    restricted = {"restricted_to": plan.model.restricted_to}
    return {"model": model | restricted, "sampler": part_to_dict(plan.sampler), "plan": counts}


def _state_dataset(end: End) -> xr.Dataset:
    """Return a chain's last state: what it needs to go on. Empty arrays are left out; netCDF has no place for them."""
    arrays = {name: array for name, array in end.state._asdict().items() if array.size}
    variables = {name: ([f"{name}_{axis}" for axis in range(a.ndim)], a) for name, a in arrays.items()}
    attrs = {"rng": json.dumps(end.rng.bit_generator.state), "seconds": end.seconds}
    return xr.Dataset(variables, attrs=attrs)


def _read_state(plan: Plan, dataset: xr.Dataset) -> tuple[Any, np.random.Generator]:
    state = plan.sampler.allocate(plan.model, plan.records)
    stored = {str(name): np.ascontiguousarray(variable.values) for name, variable in dataset.data_vars.items()}
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = json.loads(dataset.attrs["rng"])
    return state._replace(**stored), rng
