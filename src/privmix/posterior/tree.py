"""Draws as an xarray.DataTree in ArviZ's schema, and back: both share their memory."""

from __future__ import annotations

import numpy as np
import xarray as xr

from privmix.engine import Plan
from privmix.samplers.base import Draws


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
            "/observed_data": xr.Dataset({"z": (dims, plan.z)}),
        }
    )


def share_arrays(plan: Plan, tree: xr.DataTree) -> Draws:
    """Return the draws of all chains from a DataTree that was read, whose variables become views of them."""
    arrays = from_tree(plan, tree)
    views = to_tree(plan, arrays)
    for group in ("posterior", "sample_stats"):
        tree[group].dataset = views[group].to_dataset().assign_coords(tree[group].coords)
    return arrays


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
