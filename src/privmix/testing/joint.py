"""The joint one-step test: a sampler that targets its posterior leaves the joint law of state and release unchanged.

Draw the latent configuration and the release from the model, set the sampler's state to it, make a few sweeps, and
compare statistics before and after. If the sampler's stationary law is the posterior, the state after the sweeps has
the same joint law with the release as before; so every statistic has the same mean. The pairs are independent: no
burn-in and no effective sample sizes enter, and 20,000 of them take half a second. (Geweke 2004 tests the same
identity along one chain.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from privmix.jit import bind, slot
from privmix.kernels.slots import log_f
from privmix.mechanisms.slots import at_record, log_q, log_ratio, replace
from privmix.model import Data, PrivateMixture
from privmix.samplers import Sampler
from privmix.samplers.base import Latent, adopt, empty_records, impute, sweep
from privmix.testing.joint_counts import count_statistic_names, run_count_pairs
from privmix.testing.simulate import encode_releases, simulate_latent, simulate_release

#: reject when the least p-value, times the number of statistics, is below this
ALPHA = 1e-6

_COMMON = (
    "clusters",
    "pairs together",
    "pairs together × distance in z",
    "mean y",
    "mean y²",
    "mean y·z",
    "first y·z",
    "last y·z",
    "log q(z|y)",
    "log f(y|θ)",
    "concentration",
    "concentration × spread of z",
)


@dataclass(frozen=True)
class JointTest:
    """Outcome of a joint one-step test."""

    names: tuple[str, ...]
    z_scores: np.ndarray
    p_value: float

    @property
    def rejected(self) -> bool:
        """Whether the sampler is shown not to target its posterior."""
        return self.p_value < ALPHA

    def worst(self) -> str:
        """Return the statistic that moved most, in words."""
        k = int(np.argmax(np.abs(self.z_scores)))
        return f"{self.names[k]} (z = {self.z_scores[k]:+.1f})"

    def __str__(self) -> str:
        verdict = "rejected" if self.rejected else "passed"
        return f"joint one-step {verdict}: p = {self.p_value:.2g} after Bonferroni; largest shift in {self.worst()}"


def joint_test(
    model: PrivateMixture,
    sampler: Sampler,
    *,
    n: int = 10,
    pairs: int = 20_000,
    sweeps: int = 3,
    seed: Any = 1,
    replacements: Mapping[Callable, Callable] | None = None,
    fitted: PrivateMixture | None = None,
) -> JointTest:
    """Test that a sampler leaves the joint law of state and release unchanged.

    Parameters
    ----------
    model, sampler
        What to test; the model's mechanism must have ``perturb``.
    n, pairs, sweeps
        Records in each data set, number of independent data sets, sweeps made on each. Where the number of records is
        not known, it is drawn from its prior instead.
    seed
        Of the simulation.
    replacements
        Functions to put in the place of the sampler's own: a planted bug. The simulation keeps the model's.
    fitted
        Another model that the sampler takes the release for: a planted bug in what is said of the release.
    """
    rng = np.random.default_rng(seed)
    if model.mechanism.records_unknown:
        names = count_statistic_names(model, sampler)
        before, after = run_count_pairs(model, sampler, pairs, sweeps, rng, replacements)
    else:
        names = statistic_names(model)
        latent = simulate_latent(model, n, pairs, rng)
        z = simulate_release(model, latent.y, rng)
        before, after, _ = run_pairs(fitted or model, sampler, latent, z, sweeps, rng, replacements)
    z_scores = np.array([_paired_z(before[:, k], after[:, k]) for k in range(len(names))])
    p_value = float(min(1.0, len(names) * 2.0 * stats.norm.sf(np.max(np.abs(z_scores)))))
    return JointTest(names, z_scores, p_value)


def _paired_z(before: np.ndarray, after: np.ndarray) -> float:
    """Return the z-score of the mean shift in ranks.

    Ranks in the pooled sample make every statistic light-tailed, so that the normal law of the mean holds far out.
    """
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return math.inf
    ranks = stats.rankdata(np.concatenate([before, after]))
    shift = ranks[len(before) :] - ranks[: len(before)]
    spread = shift.std(ddof=1)
    return 0.0 if spread == 0.0 else float(shift.mean() / (spread / math.sqrt(len(shift))))


def statistic_names(model: PrivateMixture) -> tuple[str, ...]:
    """Return the names of the statistics compared, those of the kernel's parameters included."""
    kernel = model.kernel
    own = [form.format(name) for name in kernel.parameters for form in ("{}", "{}·z", "{} of clusters")]
    hyper = [form.format(name) for name in kernel.hyperparameters for form in ("{}", "{} × mean z")]
    return (*_COMMON, *own, *hyper)


def run_pairs(
    model: PrivateMixture,
    sampler: Sampler,
    latent: Latent,
    z: np.ndarray,
    sweeps: int,
    rng: np.random.Generator,
    replacements: Mapping[Callable, Callable] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run sweeps from each latent configuration; return statistics before and after, and the last allocations."""
    sampler.check(model)
    pairs, n = latent.labels.shape
    names = statistic_names(model)
    before, after = np.zeros((pairs, len(names))), np.zeros((pairs, len(names)))
    allocation = np.zeros((pairs, n), np.int64)
    state = sampler.allocate(model, n)
    while sampler.holds_sticks and len(state.size) <= latent.labels.max():
        state = sampler.grow(state)
    whole = model.mechanism.is_global
    hooks = {**model.hooks(), **sampler.hooks(model), **(replacements or {})}
    hooks[agreement] = agreement_of_all if whole else agreement_of_each
    hooks[seen_of] = number_itself if model.kernel.dimension == 1 else projection
    run = bind(sweep_pairs, hooks, owner=f"{type(sampler).__name__} on {model.describe()}")
    encoded = encode_releases(model, z)
    features = _features_of_all(encoded, n) if whole else _features(z if not model.mechanism.names else _ranked(z))
    origin = model.origin()
    scratch = Scratch(
        empty_records(model, n), np.zeros_like(origin), origin, model.reference(), _sizes(model), _direction(latent.y)
    )
    arguments = (latent, encoded, features, before, after, allocation)
    done = 0
    while done < pairs:  # a state that is out of room stops the loop; the pair is begun again with more
        done = run(model.parts(), state, rng, *arguments, scratch, sweeps, done)
        if done < pairs:
            state = sampler.grow(state)
    return before, after, allocation


class Scratch(NamedTuple):
    """What the compiled loop needs beside the pairs: room for records and for what a global mechanism sees."""

    ys: np.ndarray
    seen: np.ndarray
    origin: np.ndarray
    reference: np.ndarray
    sizes: np.ndarray
    direction: np.ndarray


@slot
def seen_of(scratch, i):
    """Return a number that sees the whole of record i."""


def number_itself(scratch, i):
    """Return the record."""
    return scratch.ys[i]


def projection(scratch, i):
    """Return a projection of a row that weighs all its columns about alike."""
    total = 0.0
    for c in range(len(scratch.direction)):
        total += scratch.direction[c] * scratch.ys[i, c]
    return total


def _direction(y: np.ndarray) -> np.ndarray:
    """Return weights of the columns of rows: unequal, over the spread of each, by its quartiles."""
    if y.ndim == 2:
        return np.ones(1)
    low, high = np.quantile(y.reshape(-1, y.shape[2]), [0.25, 0.75], axis=0)
    return (1.0 + 0.3 * np.arange(y.shape[2])) / np.maximum(high - low, 1e-3)


def _ranked(z: np.ndarray) -> np.ndarray:
    """Return every column of released rows by its ranks in [−1, 1]; 0 where an entry is missing."""
    flat = z.reshape(-1, z.shape[2])
    ranks = [stats.rankdata(column, nan_policy="omit") / max(1, np.isfinite(column).sum()) for column in flat.T]
    return np.nan_to_num(2.0 * np.stack(ranks, axis=1) - 1.0).reshape(z.shape)


def _sizes(model: PrivateMixture) -> np.ndarray:
    return np.array([len(model.kernel.parameters), len(model.kernel.hyperparameters)])


def _features(z: np.ndarray) -> np.ndarray:
    """Return a bounded number in [−1, 1] for each released record: the rank of z, or of a projection of its row."""
    z = np.where(np.isnan(z), -np.inf, z)  # withheld
    if z.ndim == 3:
        z = z @ np.random.default_rng(0).standard_normal(z.shape[2])
    return (2.0 * stats.rankdata(z) / z.size - 1.0).reshape(z.shape)


def _features_of_all(z: np.ndarray, n: int) -> np.ndarray:
    """Return n bounded numbers for each release of a whole data set: the ranks of as many projections of it."""
    z = np.where(np.isinf(z), 0.0, z).reshape(len(z), -1)  # what is behind a count may be open to one side
    length = z.shape[1]
    directions = np.random.default_rng(0).standard_normal((length, n))
    directions[:, 0] = np.linspace(-1.0, 1.0, length)
    directions[:, -1] = np.abs(directions[:, 0])
    return 2.0 * stats.rankdata(z @ directions, axis=0) / len(z) - 1.0


@slot
def agreement(parts, data, scratch):
    """Return log q(release|records), up to a constant, for each record on average."""


def agreement_of_each(parts, data, scratch):
    """Return the mean log q(z_i|y_i)."""
    total = 0.0
    for i in range(len(scratch.ys)):
        total += log_q(at_record(parts.mechanism, i), data.z[i], scratch.ys[i])
    return total / len(scratch.ys)


def agreement_of_all(parts, data, scratch):
    """Return log q(z|y) less that of the reference data, reached by replacing one record after another."""
    total = 0.0
    for c in range(len(scratch.seen)):
        scratch.seen[c] = data.origin[c]
    for i in range(len(scratch.ys)):
        total += log_ratio(parts.mechanism, data.z, scratch.seen, data.reference[0], scratch.ys[i])
        replace(parts.mechanism, scratch.seen, data.reference[0], scratch.ys[i])
    return total / len(scratch.ys)


def sweep_pairs(parts, state, rng, latent, z, feature, before, after, allocation, scratch, sweeps, first):
    """Run the sweeps of every pair from `first` on; return the pair that ran out of room, or the number of pairs."""
    for r in range(first, len(z)):
        one = Latent(latent.labels[r], latent.atoms[r], latent.y[r], latent.concentration[r], latent.hyper[r])
        data = Data(z[r], scratch.origin, scratch.reference)
        adopt(parts, data, state, one, rng)
        impute(parts, data, state, rng, scratch.ys, allocation[r])
        summarise(parts, data, state, allocation[r], scratch, feature[r], before[r])
        for _ in range(sweeps):
            if not sweep(parts, data, state, rng):
                return r
        impute(parts, data, state, rng, scratch.ys, allocation[r])
        summarise(parts, data, state, allocation[r], scratch, feature[r], after[r])
    return len(z)


def summarise(parts, data, state, labels, scratch, feature, out):
    """Compute the statistics of one state together with its release."""
    ys, sizes = scratch.ys, scratch.sizes
    n = len(labels)
    spread = summarise_partition(labels, feature, out)
    for c in range(3, len(out)):
        out[c] = 0.0
    for i in range(n):
        theta = state.theta[labels[i]]
        y = seen_of(scratch, i)
        out[3] += y / n
        out[4] += y * y / n
        out[5] += y * feature[i] / n
        out[9] += log_f(parts.kernel, ys[i], theta) / n
        for p in range(sizes[0]):
            out[12 + 3 * p] += theta[p] / n
            out[13 + 3 * p] += theta[p] * feature[i] / n
            if is_first(labels, i):
                out[14 + 3 * p] += theta[p] / out[0]
    out[8] = agreement(parts, data, scratch)
    out[6] = seen_of(scratch, 0) * feature[0]
    out[7] = seen_of(scratch, n - 1) * feature[n - 1]
    out[10] = state.concentration[0]
    out[11] = state.concentration[0] * spread
    for c in range(sizes[1]):
        mean = 0.0
        for i in range(n):
            mean += feature[i] / n
        out[12 + 3 * sizes[0] + 2 * c] = state.hyper[c]
        out[13 + 3 * sizes[0] + 2 * c] = state.hyper[c] * mean


def is_first(labels, i):
    """Return whether record i is the first of its cluster."""
    first = True
    for j in range(i):
        first = first and labels[j] != labels[i]
    return first


def summarise_partition(labels, feature, out):
    """Compute the statistics of the partition; return the mean distance between features."""
    n = len(labels)
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    for i in range(n):
        out[0] += is_first(labels, i)
    pairs = 0.5 * n * (n - 1)
    spread = 0.0
    for i in range(n):
        for j in range(i):
            distance = abs(feature[i] - feature[j])
            spread += distance / pairs
            if labels[i] == labels[j]:
                out[1] += 1.0 / pairs
                out[2] += distance / pairs
    return spread
