"""The cluster of a new record, given its release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from privmix.curves.mixture import flattened, load_atom
from privmix.jit import bind, slot
from privmix.kernels.slots import draw_y, log_f
from privmix.mechanisms import LocalMechanism
from privmix.mechanisms.evidence import local_evidence
from privmix.mechanisms.slots import at_record
from privmix.model import PrivateMixture
from privmix.pairs.slots import log_g
from privmix.samplers.base import Draws, empty_records

# Confidential values drawn for each component of each draw where g has no closed form. The estimate of g is unbiased
# with any number, and the draws of the posterior average over its error.
AUXILIARIES = 64
NEW = -1


@slot
def propose(kernel, rng, theta, ys):
    """Draw what `log_released` needs of a component."""


@slot
def log_released(mechanism, kernel, data, j, theta, ys):
    """Return log g(z_j|θ), or the log of an unbiased estimate of g."""


def propose_nothing(kernel, rng, theta, ys):
    """Draw nothing: g is known."""


def propose_records(kernel, rng, theta, ys):
    """Draw confidential values from the component."""
    for m in range(len(ys)):
        draw_y(kernel, rng, theta, ys, m)


def closed_form(mechanism, kernel, data, j, theta, ys):
    """Return log g(z_j|θ)."""
    return log_g(at_record(mechanism, j), kernel, data.z[j], theta)


def revealed(mechanism, kernel, data, j, theta, ys):
    """Return log f(z_j|θ): the release is the record."""
    return log_f(kernel, data.z[j], theta)


def monte_carlo(mechanism, kernel, data, j, theta, ys):
    """Return the log of the mean of q(z_j|y) over the proposed y."""
    return local_evidence(mechanism, data, data.origin, j, ys[:1], ys)


def membership(
    model: PrivateMixture, draws: Draws, allocation: np.ndarray, labels: np.ndarray, z: Any, mechanism: Any, seed: Any
) -> xr.DataArray:
    """Return the probability of each cluster, and of a new one, for each new record; see `Posterior.predict_proba`."""
    model = with_mechanism(model, mechanism)
    mass, _ = masses(model, draws, allocation, labels, z, seed)
    total = mass.sum(axis=1, keepdims=True)
    check_possible(total, model)
    names = np.append(np.arange(mass.shape[1] - 1), NEW)
    return xr.DataArray(mass / total, dims=("record", "cluster"), coords={"cluster": names})


def masses(
    model: PrivateMixture, draws: Draws, allocation: np.ndarray, labels: np.ndarray, z: Any, seed: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_h w_h g(z_j|φ_h) s_hc, summed over the draws, and the logarithms of its unit for each new record.

    The first array is (record, cluster), the last column for components without records; where `labels` is empty it is
    the only one, and holds them all.
    """
    data = model.data(np.array(read_new(model.mechanism, z)))
    clusters = int(labels.max(initial=-1)) + 1
    weight, atom, components = (np.ascontiguousarray(array) for array in flattened(draws))
    out, top = np.zeros((len(data.z), clusters + 1)), np.full(len(data.z), -np.inf)
    share = np.zeros((int(allocation.max(initial=-1)) + 1, clusters))
    scratch = np.zeros((1, model.kernel.columns)), share, top, empty_records(model, AUXILIARIES)
    run = bind(add_memberships, {**model.hooks(), **released_hooks(model)}, owner=model.describe())
    parts, rng = model.parts(), np.random.default_rng(seed)
    run(parts.mechanism, parts.kernel, data, rng, components, weight, atom, allocation, labels, *scratch, out)
    return out, top


def read_new(mechanism: Any, z: Any) -> np.ndarray:
    """Return new records, each by itself right: unlike a release, all of them may miss a column."""
    if mechanism.is_global or mechanism.reveals:
        return mechanism.check_release(z)
    rows = mechanism.read_rows(z)
    mechanism.check_records(len(rows))
    return rows


def with_mechanism(model: PrivateMixture, mechanism: Any) -> PrivateMixture:
    """Return the model with the mechanism of the new records; the same as before unless one is given."""
    if mechanism is not None:
        if not isinstance(mechanism, LocalMechanism):
            raise TypeError(f"mechanism must be the mechanism that released the new records; got {mechanism!r}.")
        return replace(model, mechanism=mechanism)
    varying = model.mechanism.varying_fields()
    if varying:
        raise ValueError(
            f"{type(model.mechanism).__name__} has one {varying[0]} for each record that was fitted, so that of a new "
            "record is not known. Give the mechanism that released the new records: predict(z, mechanism=…)."
        )
    return model


def released_hooks(model: PrivateMixture) -> dict[Callable, Callable]:
    """Return how g(z|θ) is had: in closed form, as the kernel's density where z is y, else by Monte Carlo."""
    if model.convolution is not None:
        return {propose: propose_nothing, log_released: closed_form}
    if model.mechanism.reveals:
        return {propose: propose_nothing, log_released: revealed}
    return {propose: propose_records, log_released: monte_carlo}


def check_possible(total: np.ndarray, model: PrivateMixture) -> None:
    """Refuse records that no component of any draw could have given."""
    impossible = np.flatnonzero(~(total[:, 0] > 0.0))
    if len(impossible):
        raise ValueError(
            f"record {impossible[0]} of z (of {len(impossible)} such) has density zero in every draw of the posterior: "
            f"{model.describe()} cannot have released it. Check the mechanism and the support of the kernel."
        )


def add_memberships(
    mechanism, kernel, data, rng, components, weight, atom, allocation, labels, row, share, top, ys, out
):
    """Add w_h g(z_j|φ_h) of every component to the clusters of its records, relative to the largest (compiled).

    top[j] is the logarithm of the unit of out[j]. row, share and ys are scratch: θ, the share of a component's records
    in each cluster, and proposed records.
    """
    theta = row[0]
    new = share.shape[1]
    for d in range(len(components)):
        occupied = share_of_clusters(allocation[d], labels, share)
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, theta)
            propose(kernel, rng, theta, ys)
            for j in range(len(out)):
                value = math.log(weight[d, h]) + log_released(mechanism, kernel, data, j, theta, ys)
                if value > top[j]:
                    for c in range(new + 1):
                        out[j, c] *= math.exp(top[j] - value)
                    top[j] = value
                if value > -math.inf:
                    mass = math.exp(value - top[j])
                    if h >= occupied:
                        out[j, new] += mass
                    else:
                        for c in range(new):
                            out[j, c] += mass * share[h, c]


def share_of_clusters(allocation, labels, share):
    """Fill share[h, c] with the share of the records of component h in cluster c; return the number of components."""
    occupied = 0
    for i in range(len(labels)):
        occupied = max(occupied, allocation[i] + 1)
    for h in range(occupied):
        for c in range(share.shape[1]):
            share[h, c] = 0.0
    for i in range(len(labels)):
        share[allocation[i], labels[i]] += 1.0
    for h in range(occupied):
        size = 0.0
        for c in range(share.shape[1]):
            size += share[h, c]
        for c in range(share.shape[1]):
            share[h, c] /= size
    return occupied
