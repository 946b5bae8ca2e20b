"""The joint one-step test where the number of records is not known: data sets differ in size, and sizes move.

The same identity as in `privmix.testing.joint`; the statistics are those of counts, clusters and atoms, among them the
number of records, alone and times the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from privmix.jit import bind
from privmix.mechanisms.histogram import log_counts
from privmix.model import Data, PrivateMixture
from privmix.samplers import Sampler
from privmix.samplers.base import Latent, adopt, sweep
from privmix.testing.simulate import simulate_latent

# Data sets of more records take too long to simulate one by one.
LARGEST_EXPECTED = 100.0
#: projections of a release that statistics are multiplied with
PROJECTIONS = 3
_COMMON = ("records", "records × z", "clusters", "pairs together", "log q(z|counts)", "concentration", "sum of squares")


def draw_sizes(expected: tuple[float, float], size: int, rng: np.random.Generator) -> np.ndarray:
    """Return numbers of records from their prior: Poisson with a gamma mean, at least 1."""
    shape, rate = expected
    if shape / rate > LARGEST_EXPECTED:
        raise ValueError(
            f"the joint test simulates data sets of about {shape / rate:g} records, by the mechanism's expected=; give "
            f"a prior with a mean of at most {LARGEST_EXPECTED:g}, such as expected=(4.0, 0.4)."
        )
    found = rng.poisson(rng.gamma(shape, 1.0 / rate, size))
    while (found == 0).any():
        empty = found == 0
        found[empty] = rng.poisson(rng.gamma(shape, 1.0 / rate, int(empty.sum())))
    return found


def count_statistic_names(model: PrivateMixture, sampler: Sampler) -> tuple[str, ...]:
    """Return the names of the statistics compared."""
    bins = len(sampler.allocate(model, 1).counts)
    counts = [form.format(j) for j in range(bins) for form in ("count {}", "count {} × z")]
    own = [form.format(name) for name in model.kernel.parameters for form in ("{}", "{} × z")]
    return (*_COMMON, *counts, *own)


class Simulated(NamedTuple):
    """Data sets, their sizes, their releases as hooks read them, and numbers that tell of each release."""

    latent: Latent
    sizes: np.ndarray
    encoded: np.ndarray
    told: np.ndarray


def run_count_pairs(
    model: PrivateMixture,
    sampler: Sampler,
    pairs: int,
    sweeps: int,
    rng: np.random.Generator,
    replacements: Mapping[Callable, Callable] | None = None,
    z: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate data sets and their releases, run sweeps from each; return statistics before and after.

    With `z` all see that release, and start from a draw of the prior.
    """
    sampler.check(model)
    edges = sampler.allocate(model, 1).node
    whole = model.mechanism.is_global
    made = simulate_counts(model, pairs, rng, z) if whole else simulate_published(model, pairs, rng, z, edges)
    state = sampler.allocate(model, int(made.sizes.max()))
    while len(state.size) <= made.latent.labels.max():
        state = sampler.grow(state)
    names, pairs = count_statistic_names(model, sampler), len(made.sizes)
    before, after = np.zeros((pairs, len(names))), np.zeros((pairs, len(names)))
    hooks = {log_counts: nothing_told, **model.hooks(), **sampler.hooks(model), **(replacements or {})}
    run = bind(sweep_count_pairs, hooks, owner=f"{type(sampler).__name__} on {model.describe()}")
    about = (made.latent, made.sizes, made.encoded, _projected(made.told), model.origin(), model.reference())
    done = 0
    while done < pairs:
        done = run(model.parts(), state, rng, *about, before, after, sweeps, done, len(model.kernel.parameters))
        if done < pairs:
            state = sampler.grow(state)
    return before, after


def simulate_counts(model: PrivateMixture, pairs: int, rng: np.random.Generator, z: np.ndarray | None) -> Simulated:
    """Return data sets and what a histogram releases of each, or z of all."""
    mechanism: Any = model.mechanism
    sizes = draw_sizes(mechanism.expected, pairs, rng)
    latent = simulate_latent(model, int(sizes.max()), pairs, rng)
    releases = [mechanism.perturb(rng, y[:n]) if z is None else z for y, n in zip(latent.y, sizes, strict=True)]
    encoded = np.stack([mechanism.encode(release) for release in releases])
    return Simulated(latent, sizes, encoded, encoded)


def simulate_published(
    model: PrivateMixture, pairs: int, rng: np.random.Generator, z: np.ndarray | None, edges: np.ndarray
) -> Simulated:
    """Return data sets with a row for every record, those withheld among them, so that a state can start from all.

    Data sets of which nothing was published are left out. With z, a random number of records more was withheld. Of a
    release tells how many values were published in each bin: more the sampler does not see.
    """
    mechanism: Any = model.mechanism
    sizes = draw_sizes(mechanism.expected, pairs, rng) + (0 if z is None else len(z))
    latent = simulate_latent(model, int(sizes.max()), pairs, rng)
    rows = np.full(latent.y.shape, np.nan)
    if z is None:
        rows = mechanism.perturb(rng, latent.y.reshape(-1)).reshape(latent.y.shape)
        rows[np.arange(rows.shape[1]) >= sizes[:, None]] = np.nan
    else:
        rows[:, : len(z)] = z
    kept = ~np.isnan(rows).all(axis=1)
    rows = rows[kept]
    encoded = mechanism.encode(rows.reshape(-1)).reshape(*rows.shape, 2)
    place = np.where(np.isnan(rows), np.nan, np.clip(encoded, -1e300, 1e300).mean(axis=-1))
    told = np.stack([np.sum((place >= low) & (place < high), axis=1) for low, high in pairwise(edges)], axis=1)
    return Simulated(Latent(*[array[kept] for array in latent]), sizes[kept], encoded, told)


def nothing_told(mechanism, z, counts):
    """Return 0, where each record was released by itself."""
    return 0.0


def _projected(told: np.ndarray) -> np.ndarray:
    """Return bounded numbers for each release: the ranks of its sum, of its slope and of a projection of it."""
    flat = np.where(np.isinf(told), 0.0, told).reshape(len(told), -1)
    directions = np.random.default_rng(0).standard_normal((flat.shape[1], PROJECTIONS))
    directions[:, 0] = 1.0
    directions[:, 1] = np.linspace(-1.0, 1.0, flat.shape[1])
    return 2.0 * stats.rankdata(flat @ directions, axis=0) / len(flat) - 1.0


def sweep_count_pairs(
    parts, state, rng, latent, sizes, z, feature, origin, reference, before, after, sweeps, first, parameters
):
    """Run the sweeps of every pair from `first` on; return the pair that ran out of room, or the number of pairs."""
    for r in range(first, len(z)):
        n = sizes[r]
        labels, y = latent.labels[r, :n], latent.y[r, :n]
        one = Latent(labels, latent.atoms[r], y, latent.concentration[r], latent.hyper[r])
        data = Data(z[r], origin, reference)
        adopt(parts, data, state, one, rng)
        summarise_counts(parts, data, state, feature[r], parameters, before[r])
        for _ in range(sweeps):
            if not sweep(parts, data, state, rng):
                return r
        summarise_counts(parts, data, state, feature[r], parameters, after[r])
    return len(z)


def summarise_counts(parts, data, state, feature, parameters, out):
    """Compute the statistics of one state together with its release."""
    bins, total = len(state.counts), 0.0
    for c in range(len(out)):
        out[c] = 0.0
    for j in range(bins):
        total += state.counts[j]
        out[6] += state.counts[j] * state.counts[j]
        out[7 + 2 * j] = state.counts[j]
        out[8 + 2 * j] = state.counts[j] * feature[j % len(feature)]
    for h in range(len(state.size)):
        if state.size[h] > 0:
            out[2] += 1.0
            out[3] += state.size[h] * (state.size[h] - 1.0)
            for p in range(parameters):
                share = state.size[h] / total
                out[7 + 2 * bins + 2 * p] += share * state.theta[h, p]
                out[8 + 2 * bins + 2 * p] += share * state.theta[h, p] * feature[1]
    out[0] = total
    out[1] = total * feature[0]
    out[4] = log_counts(parts.mechanism, data.z, state.counts)
    out[5] = state.concentration[0]
