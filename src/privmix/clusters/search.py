"""The search for the partition of least expected loss: greedy, from many starts, after SALSO.

Dahl, Johnson and Müller, "Search algorithms and loss functions for Bayesian clustering", JCGS 31 (2022). A run places
records one by one in random order, each where the expected loss grows least; then sweeps over all records in random
order, moving each to its best cluster, until none moves (sweetening); then destroys a cluster at a time and places its
records anew, keeping what is better (zealous updates). Every step compares exact expected losses over the draws.

The loss asks the draws for E Σ_st φ(n_st) and its change with a record, behind slots that `expectations` fills.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privmix.clusters.slots import expected_joint, expected_steps, forget_places, note, rename
from privmix.numerics import uniform_index

# A move must gain this much, in the unit of the sums, or rounding could move records to and fro for ever.
GAIN = 1e-9
# Sweeps of sweetening: every one lowers the loss, and in practice about ten are made.
SWEEPS = 1_000


class Work(NamedTuple):
    """The estimate that a run changes, and its scratch.

    ``label`` is −1 for a record without a place. Clusters in use are 0, …, ``used[0]`` − 1. ``phi[x]`` is φ(x),
    ``step[x]`` is φ(x + 1) − φ(x).
    """

    phi: np.ndarray
    step: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    label: np.ndarray
    used: np.ndarray
    gain: np.ndarray
    order: np.ndarray
    saved: np.ndarray


def make_work(phi: np.ndarray, weight: float, n: int, most: int) -> Work:
    """Return empty work for estimates of at most so many clusters; φ is given for 0, …, n + 1."""
    return Work(
        phi=phi,
        step=np.diff(phi),
        weight=np.array([weight]),
        size=np.zeros(most, np.int64),
        label=np.full(n, -1),
        used=np.zeros(1, np.int64),
        gain=np.zeros(most),
        order=np.arange(n),
        saved=np.zeros(n, np.int64),
    )


def descend(draws, work, rng, start, zealous):
    """Run from a start, in which −1 marks records without a place; the result is in work.label (compiled)."""
    begin(draws, work, start)
    sweeten(draws, work, rng)
    tried = 0
    while tried < zealous and tried < work.used[0]:
        rebuild_cluster(draws, work, rng)
        tried += 1
    sweeten(draws, work, rng)


def begin(draws, work, start):
    """Place the records that have a place, and no others."""
    forget_places(draws)
    for k in range(len(work.size)):
        work.size[k] = 0
    work.used[0] = 0
    for i in range(len(start)):
        work.label[i] = -1
        if start[i] >= 0:
            work.used[0] = max(work.used[0], start[i] + 1)
            join(draws, work, i, start[i])


def sweeten(draws, work, rng):
    """Give each record its best cluster, in random order, again and again until none moves."""
    for _ in range(SWEEPS):
        shuffle(work.order, len(work.order), rng)
        moved = 0
        for place in range(len(work.order)):
            moved += relocate(draws, work, work.order[place])
        if moved == 0:
            break


def shuffle(order, count, rng):
    """Put the first entries in random order."""
    for last in range(count - 1, 0, -1):
        other = uniform_index(rng, last + 1)
        kept = order[last]
        order[last] = order[other]
        order[other] = kept


def relocate(draws, work, i):
    """Move record i to the cluster where it costs least; return whether it moved."""
    own = work.label[i]
    best = best_cluster(draws, work, i, own)
    if best == own:
        return 0
    if own >= 0:
        leave(draws, work, i)
        if work.size[own] == 0:
            best = drop_empty(draws, work, own, best)
    if best == work.used[0]:
        work.used[0] += 1
    join(draws, work, i, best)
    return 1


def best_cluster(draws, work, i, own):
    """Return the cluster in which record i costs least; work.used[0] stands for a new one.

    In cluster t it adds b·φ'(n_t) − (a + b)·E φ'(n_st), where φ'(x) = φ(x + 1) − φ(x) and counts leave i out.
    """
    used = work.used[0]
    expected_steps(draws, work, i)
    joined = 2.0 - work.weight[0]
    least, best = np.inf, own
    if own >= 0:
        least = joined * work.step[work.size[own] - 1] - 2.0 * work.gain[own] - GAIN
    for k in range(used):
        cost = joined * work.step[work.size[k]] - 2.0 * work.gain[k]
        if k != own and cost < least:
            least, best = cost, k
    # A new cluster, for a record that is not alone already.
    alone = own >= 0 and work.size[own] == 1
    if used < len(work.size) and not alone and (joined - 2.0) * work.step[0] < least:
        best = used
    return best


def join(draws, work, i, k):
    """Put record i into cluster k."""
    work.label[i] = k
    work.size[k] += 1
    note(draws, i, k, 1)


def leave(draws, work, i):
    """Take record i out of its cluster."""
    k = work.label[i]
    work.label[i] = -1
    work.size[k] -= 1
    note(draws, i, k, -1)


def drop_empty(draws, work, k, wanted):
    """Give the place of the empty cluster k to the last one; return the new name of the wanted cluster."""
    last = work.used[0] - 1
    work.used[0] = last
    if k != last:
        for i in range(len(work.label)):
            if work.label[i] == last:
                work.label[i] = k
        rename(draws, k, last)
        work.size[k] = work.size[last]
        work.size[last] = 0
    if wanted == last + 1:
        return last
    return k if wanted == last else wanted


def rebuild_cluster(draws, work, rng):
    """Destroy a random cluster and place its records anew, in random order; undo it unless the loss falls."""
    chosen = uniform_index(rng, work.used[0])
    before = objective(draws, work)
    count = 0
    for i in range(len(work.label)):
        work.saved[i] = work.label[i]
        if work.label[i] == chosen:
            work.order[count] = i
            count += 1
    rest = count
    for i in range(len(work.label)):
        if work.saved[i] != chosen:
            work.order[rest] = i
            rest += 1
    for place in range(count):
        leave(draws, work, work.order[place])
    drop_empty(draws, work, chosen, chosen)
    shuffle(work.order, count, rng)
    for place in range(count):
        relocate(draws, work, work.order[place])
    if objective(draws, work) > before - GAIN:
        begin(draws, work, work.saved)


def objective(draws, work):
    """Return b Σ_t φ(n_t) − (a + b) E Σ_st φ(n_st), the part of the expected loss that the estimate changes."""
    total = 0.0
    for k in range(work.used[0]):
        total += (2.0 - work.weight[0]) * work.phi[work.size[k]]
    return total - 2.0 * expected_joint(draws, work)
