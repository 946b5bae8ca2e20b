"""Posterior predictive draws: confidential records, and what the mechanism would release of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from privmix.curves.counts import counts_drawer, counts_unknown
from privmix.curves.mixture import count_of, flattened, load_atom
from privmix.frames.rows import Named, with_texts
from privmix.jit import bind
from privmix.kernels import Kernel
from privmix.kernels.slots import coordinate, draw_y
from privmix.model import PrivateMixture
from privmix.numerics import uniform
from privmix.parts.checks import check_count
from privmix.samplers.base import Draws, empty_records

# Draws of a record before it is moved into the interval: reached only where a draw has next to no mass there.
TRIES = 10_000


def draw_records(
    kernel: Kernel,
    draws: Draws,
    which: np.ndarray,
    out: np.ndarray,
    rng: np.random.Generator,
    restricted_to: Any = None,
) -> np.ndarray:
    """Fill `out` with records, one from the mixture of each draw in `which` (numbers on the axis of all draws)."""
    return record_drawer(kernel, draws, restricted_to)(which, out, rng)


def record_drawer(
    kernel: Kernel, draws: Draws, restricted_to: Any
) -> Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]:
    """Return `draw_records` with all that is the same in every call done: for calls by the thousand."""
    lower, upper = (-np.inf, np.inf) if restricted_to is None else restricted_to
    weight, atom, components = (np.ascontiguousarray(array) for array in flattened(draws))
    run = bind(fill_records, kernel.hooks(), owner=type(kernel).__name__)
    numbers, row = kernel.numbers(), np.zeros((1, kernel.columns))

    def fill(which: np.ndarray, out: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        run(numbers, rng, weight, atom, components, row, which, float(lower), float(upper), out)
        return out if restricted_to is None else np.clip(out, lower, upper, out=out)

    return fill


def fill_records(kernel, rng, weight, atom, components, row, which, lower, upper, out):
    """Draw each record from its mixture, again while it falls outside the interval (compiled)."""
    theta = row[0]
    for i in range(len(which)):
        d = which[i]
        for _ in range(TRIES):
            u = uniform(rng)
            h = 0
            while h < components[d] - 1 and u >= weight[d, h]:
                u -= weight[d, h]
                h += 1
            load_atom(kernel, atom, d, h, theta)
            draw_y(kernel, rng, theta, out, i)
            if lower <= coordinate(out, i) <= upper:
                break


def release_records(model: PrivateMixture, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what the mechanism releases of records, without clipping: the model's own channel."""
    return np.asarray(model.mechanism.perturb(rng, y), dtype=np.float64)


def predictive(model: PrivateMixture, draws: Draws, records: Any, size: int, seed: Any) -> xr.Dataset:
    """Return new records and their release, each from a draw of the posterior taken at random.

    Under a global mechanism data sets of so many records as were released; of a table of counts, single records.
    """
    size, rng = check_count("size", size, 1), np.random.default_rng(seed)
    if model.mechanism.is_counted:
        model = dataclasses.replace(model, mechanism=model.mechanism.each)
    if model.mechanism.is_global:
        return _global_predictive(model, draws, records, size, rng)
    varying = model.mechanism.varying_fields()
    # Where records have noise of their own, new ones come in whole sets, each with the noise of its place.
    count = -(-size // records) * records if varying else size
    which = rng.integers(count_of(draws), size=count)
    y = draw_records(model.kernel, draws, which, empty_records(model, count), rng, model.restricted_to)
    blocks = y.reshape(-1, records, *y.shape[1:]) if varying else y[None]
    z = np.concatenate([release_records(model, block, rng) for block in blocks])[:size]
    if model.kernel.names:
        return _by_column(model, y[:size], z)
    return xr.Dataset(
        {"y": (("sample", "coordinate")[: y.ndim], y[:size]), "z": (("sample", "coefficient")[: z.ndim], z)}
    )


def release_counts(
    model: PrivateMixture, counts: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return records without coordinates, as many as were counted, and the release of their counts."""
    mechanism: Any = model.mechanism
    released = counts if mechanism.is_counted else mechanism.perturb_counts(rng, mechanism.gather(counts))
    return np.zeros((int(counts.sum()), 0)), np.asarray(released, dtype=np.float64)


def _by_column(model: PrivateMixture, y: np.ndarray, z: np.ndarray) -> xr.Dataset:
    """Return rows column by column, categories by their names: ``to_dataframe`` has synthetic rows."""
    records = _named(model.kernel, y)
    released = {f"released_{name}": column for name, column in model.mechanism.to_columns(z).items()}
    both = sorted(records.keys() & released.keys())
    if both:
        raise ValueError(
            f"predictive: {both[0]!r} is a column of the records, and would be one of their release too. Rename it "
            "before you fit."
        )
    return xr.Dataset({name: ("sample", np.array(c)) for name, c in with_texts(records | released).items()})


def _named(kernel: Any, y: np.ndarray) -> dict[str, Any]:
    """Return rows as columns, categories with their names."""
    return {
        name: y[:, j] if child.categories is None else Named(y[:, j], child.categories)
        for j, (name, child) in enumerate(kernel.parts)
    }


def _global_predictive(
    model: PrivateMixture, draws: Draws, records: Any, size: int, rng: np.random.Generator
) -> xr.Dataset:
    again = replicator(model, draws, records, rng)
    made = [again() for _ in range(size)]
    z = np.stack([released for _, released in made])
    z_dims = ("sample", *[f"z_{axis}" for axis in range(z.ndim - 1)])
    if np.ndim(records):  # data sets of different sizes have no common table
        sizes = np.array([len(y) for y, _ in made])
        return xr.Dataset({"records": ("sample", sizes), "z": (z_dims, z)})
    y = np.stack([confidential for confidential, _ in made])
    if model.kernel.names:
        columns = with_texts(_named(model.kernel, y.reshape(-1, y.shape[-1])))
        rows = {name: (("sample", "record"), np.reshape(column, y.shape[:2])) for name, column in columns.items()}
        return xr.Dataset({**rows, "z": (z_dims, z)})
    return xr.Dataset({"y": (("sample", "record", "coordinate")[: y.ndim], y), "z": (z_dims, z)})


def replicator(
    model: PrivateMixture, draws: Draws, records: Any, rng: np.random.Generator
) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Return what makes data sets as large as the one behind the release, and their releases, one at each call.

    Each is from the density of one draw as it is shown: restricted, where the model says so. Where the number of
    records is not known, `records` has one for each draw. A table of counts is drawn without its records, which are
    left empty, and so is a histogram where nobody knows how many there may be.
    """
    if model.mechanism.is_counted or counts_unknown(model):
        draw = counts_drawer(model, draws, records, rng)
        return lambda: release_counts(model, draw(), rng)
    fill = record_drawer(model.kernel, draws, model.restricted_to)

    def replicate() -> tuple[np.ndarray, np.ndarray]:
        draw = int(rng.integers(count_of(draws)))
        size = int(records[draw]) if np.ndim(records) else records
        y = fill(np.full(size, draw), empty_records(model, size), rng)
        return y, model.mechanism.keep_published(release_records(model, y, rng))

    return replicate
