"""Posteriors as netCDF files: written whole or not at all, read back with equal draws."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
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
from privmix.posterior.validate import check_attributes, check_draws, check_plan, check_state, read_generator

#: 1 kept the restriction beside the model; 2 had no checksum
FORMAT = 3
PARTS = ("mechanism", "kernel", "prior")
# The last line of a file, which readers of netCDF do not look at: the checksum of all before it.
SEAL, DIGITS = b"\nprivmix sha256 ", 64
LAST_UNSEALED = 2
# Bytes that are read at a time.
PIECE = 2**22


def save(run: Run, path: str | Path) -> None:
    """Write a run as netCDF; an existing file is replaced only by a complete one.

    The file is made in memory, which it takes once more, and then written by Python: HDF5 ends the process where a disk
    is full. After Ctrl-C it is not compressed, which would take ten times as long.
    """
    tree = run.datatree.copy()
    tree.attrs |= {"privmix_format": FORMAT, "privmix": json.dumps(_describe(run.plan))}
    for c, end in enumerate(run.ends):
        tree[f"/chain_state/chain_{c}"] = xr.DataTree(_state_dataset(replace(end, state=run.sampler.stored(end.state))))
    how = {"zlib": True, "complevel": 1} if tree.attrs.get("complete", 1) else {}
    encoding = {"/posterior": dict.fromkeys(tree["posterior"].data_vars, how)}
    content = tree.to_netcdf(engine="h5netcdf", encoding=encoding)
    write_bytes(Path(path), content, seal_of(content))


def seal_of(content: bytes | memoryview) -> bytes:
    """Return the last line of a file with this content."""
    return SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"


def load(path: str | Path, known: dict[str, type] | None = None) -> Posterior:
    """Read a posterior that `Posterior.save` wrote.

    Parameters
    ----------
    path
        A netCDF file.
    known
        Classes of your own that the model uses, by name, if their module is not imported.

    Raises
    ------
    ValueError
        If the file is no posterior, was changed after it was saved, or holds what no run could have made.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        sealed = _check_seal(path)
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
        about, version = json.loads(tree.attrs["privmix"]), int(tree.attrs["privmix_format"])
        if version <= FORMAT:
            if version > LAST_UNSEALED and not sealed:
                raise ValueError("its checksum is missing: it was cut or changed after it was saved")
            return _rebuild(tree, about, known)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file makes the readers raise whatever they like
        if type(error) is LookupError:  # a class of the user's, and what to do about it
            raise
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(f"{path} is not a posterior of privmix, or it is damaged ({said}).") from error
    raise ValueError(f"{path} has format {version}; this version of privmix reads up to {FORMAT}. Upgrade privmix.")


def _check_seal(path: Path) -> bool:
    """Return whether a file has a checksum, before anything else reads it; refuse one that differs."""
    last = len(SEAL) + DIGITS + 1
    with path.open("rb") as file:
        size = max(0, path.stat().st_size - last)
        file.seek(size)
        kept = file.read()
        if not kept.startswith(SEAL):
            return False
        file.seek(0)
        found = hashlib.sha256()
        while size and (piece := file.read(min(size, PIECE))):
            found.update(piece)
            size -= len(piece)
    if kept != SEAL + found.hexdigest().encode() + b"\n":
        raise ValueError("its checksum differs: it was cut or changed after it was saved")
    return True


def _rebuild(tree: xr.DataTree, about: dict[str, Any], known: dict[str, type] | None) -> Posterior:
    # Format 1 kept what the density is restricted to beside the model.
    about["model"].setdefault("restricted_to", tree.attrs.pop("support", None))
    parts = {name: part_from_dict(about["model"][name], known) for name in PARTS}
    model = PrivateMixture(**parts, restricted_to=about["model"]["restricted_to"])
    sampler = part_from_dict(about["sampler"], known)
    z = np.ascontiguousarray(tree["observed_data"]["z"].values)
    plan = Plan(model=model, sampler=sampler, z=z, **about["plan"])
    chains = tree["posterior"].sizes["chain"]
    check_plan(plan, chains)
    ends = [_read_end(plan, tree[f"chain_state/chain_{c}"].to_dataset()) for c in range(chains)]
    del tree["chain_state"]
    for name in ("privmix", "privmix_format"):
        del tree.attrs[name]
    if "seeded" not in tree.attrs:  # formats 1 and 2 kept the seed of a fit unasked
        tree.attrs.pop("seed", None)
    check_attributes(tree, chains)
    arrays = share_arrays(plan, tree)
    check_draws(plan, arrays)
    return Posterior(plan, arrays, ends, tree)


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


def _read_end(plan: Plan, dataset: xr.Dataset) -> End:
    """Return where a chain stood, checked."""
    stored = {str(name): np.ascontiguousarray(variable.values) for name, variable in dataset.data_vars.items()}
    # What is empty was left out, and had grown with the rest.
    state = plan.sampler.allocate_for(plan.model, plan.records, len(stored["size"]))._replace(**stored)
    check_state(plan, state)
    seconds = float(dataset.attrs["seconds"])
    if not 0.0 <= seconds < math.inf:
        raise ValueError(f"a chain took {seconds} seconds")
    return End(state, read_generator(json.loads(dataset.attrs["rng"])), seconds)
