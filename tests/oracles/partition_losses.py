"""Losses, partitions and credible balls in plain Python, from their definitions: pairs counted, entropies summed."""

import itertools
import math
from collections import Counter

import numpy as np


def all_partitions(n):
    """Return the labels of every partition of n records, numbered by first appearance."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*labels, k] for labels in found for k in range(max(labels) + 2)]
    return [tuple(labels) for labels in found]


def random_draws(seed, n=6, draws=12):
    """Return partitions that scatter around a random one, more or less by seed."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, rng.integers(1, n + 1), n)
    changed = rng.random((draws, n)) < rng.uniform(0.1, 0.9)
    return np.where(changed, rng.integers(0, n, (draws, n)), centre)


def entropy(labels):
    n = len(labels)
    return -sum(c / n * math.log2(c / n) for c in Counter(labels).values())


def vi(truth, estimate, a=1.0):
    """Return a·H(estimate|truth) + (2 − a)·H(truth|estimate)."""
    both = entropy(list(zip(truth, estimate, strict=True)))
    return a * (both - entropy(truth)) + (2.0 - a) * (both - entropy(estimate))


def binder(truth, estimate, a=1.0):
    """Return 2/n² times the cost of all pairs."""
    n, total = len(truth), 0.0
    for i, j in itertools.combinations(range(n), 2):
        together, joined = truth[i] == truth[j], estimate[i] == estimate[j]
        total += a * (together and not joined) + (2.0 - a) * (joined and not together)
    return 2.0 * total / n**2


LOSSES = {"vi": vi, "binder": binder}


def expected(loss, draws, estimate, a=1.0):
    return sum(LOSSES[loss](list(draw), list(estimate), a) for draw in draws) / len(draws)


def same(labels):
    """Return the labels numbered by first appearance: equal for equal partitions."""
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def ball(loss, draws, centre, level):
    """Return the radius and the sets of lower, upper and horizontal bounds of the credible ball."""
    pairs = sorted((round(LOSSES[loss](list(draw), list(centre)), 10), same(draw)) for draw in draws)
    radius = pairs[math.ceil(round(level * len(pairs), 10)) - 1][0]
    inside = {partition: distance for distance, partition in pairs if distance <= radius}
    counts = {partition: max(partition) + 1 for partition in inside}

    def most_distant(partitions):
        far = max(inside[partition] for partition in partitions)
        return {partition for partition in partitions if inside[partition] == far}

    many, few = max(counts.values()), min(counts.values())
    lower = most_distant([p for p in inside if counts[p] == many])
    upper = most_distant([p for p in inside if counts[p] == few])
    return radius, lower, upper, most_distant(list(inside))
