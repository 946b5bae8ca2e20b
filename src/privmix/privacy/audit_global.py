"""The worst case of a histogram over all data sets and all neighbours of each, by brute force."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import logsumexp

from privmix.privacy.divergences import ALPHAS, Array
from privmix.privacy.guarantees import Guarantee

# Pairs of neighbouring data sets; 4 records in 3 bins have 60.
LARGEST_PAIRS = 20_000
# What is this far below the largest log probability is left out of a sum: e^-60 = 9e-27.
DEPTH = 60.0
# Whole numbers on each side of a count: pairs of counts then take 4 million cells.
LARGEST_REACH = 1024
# Records of the larger data sets where their number is not known: the claim must hold at any.
RECORDS_WHERE_UNKNOWN = 3

Counts = tuple[int, ...]
Case = tuple[float, Any, Array, Array]
#: of bins that change, with their counts before and after: what is spent, and the releases that spend most
Divergence = Callable[[list[tuple[int, int, int]]], tuple[float, Any]]


def worst_neighbours(mechanism: Any, claim: Guarantee | None, outputs: Any) -> Case:
    """Return the worst case of a histogram: its value, the release and the two data sets.

    What is measured is the log-ratio, the delta or D_alpha / alpha, as the claim asks.
    """
    if getattr(mechanism, "bin_count", None) is None:
        raise NotImplementedError(
            f"The audit of {type(mechanism).__name__} would run over all data sets, which it can for mechanisms that "
            f"see the counts of a histogram (subclasses of Histogram) only."
        )
    bins, n = mechanism.bin_count, _records_of(mechanism)
    if math.comb(n + bins - 1, bins - 1) * bins * (bins - 1) > LARGEST_PAIRS:
        raise ValueError(
            f"The audit runs over all data sets of {n} records in {bins} bins, which are too many. Audit a small "
            f"mechanism with the same noise, such as one of 4 records in 3 bins: its claim has the same formula."
        )
    # A mechanism without a claim is asked for its neighbours.
    relation = getattr(mechanism, "neighbours", "replace") if claim is None else claim.neighbours
    pairs = list(neighbouring(n, bins, relation))
    if claim is None or claim.audited == "epsilon":
        return _worst_ratio(mechanism, pairs, mechanism.probes() if outputs is None else outputs)
    if claim.audited == "delta" and hasattr(mechanism, "tables"):
        raise NotImplementedError(
            "The audit of several tables adds up ε or ρ of each; it has no δ of them together. Audit each table."
        )
    # Post-processing cannot raise a divergence: it is that of the noisy counts.
    return _worst_divergence(mechanism, pairs, claim)


def _records_of(mechanism: Any) -> int:
    """Return how many records the larger data sets of the audit have."""
    return RECORDS_WHERE_UNKNOWN if mechanism.records is None else mechanism.records


def neighbouring(records: int, bins: int, relation: str) -> Iterator[tuple[Counts, Counts]]:
    """Yield the counts of all ordered pairs of neighbours: of so many records, or of one less in either of the two."""
    for counts in all_counts(records, bins):
        if relation == "replace":
            yield from ((counts, moved) for moved in replacements(counts))
            continue
        for moved in removals(counts):
            yield counts, moved
            yield moved, counts


def all_counts(records: int, bins: int) -> Iterator[Counts]:
    """Yield every way to put the records into the bins."""
    for bars in combinations(range(records + bins - 1), bins - 1):
        ends = (-1, *bars, records + bins - 1)
        yield tuple(right - left - 1 for left, right in pairwise(ends))


def replacements(counts: Counts) -> Iterator[Counts]:
    """Yield the counts after every replacement that moves a record to another bin."""
    for a, count in enumerate(counts):
        for b in range(len(counts)):
            if count > 0 and a != b:
                yield tuple(c - (j == a) + (j == b) for j, c in enumerate(counts))


def removals(counts: Counts) -> Iterator[Counts]:
    """Yield the counts after every removal of one record."""
    for a, count in enumerate(counts):
        if count > 0:
            yield tuple(c - (j == a) for j, c in enumerate(counts))


def _worst_ratio(mechanism: Any, pairs: list[tuple[Counts, Counts]], outputs: Iterable[Any]) -> Case:
    """Return the largest log-ratio over releases and neighbours, through the mechanism's own density."""
    data = {counts for pair in pairs for counts in pair}
    worst: Case = (-math.inf, None, np.zeros(0), np.zeros(0))
    for z in outputs:
        encoded = mechanism.encode(mechanism.check_release(z))
        log_q = {counts: mechanism.log_of_counts(encoded, counts) for counts in data}
        for counts, moved in pairs:
            if log_q[counts] > -math.inf and log_q[counts] - log_q[moved] > worst[0]:
                ratio = log_q[counts] - log_q[moved]
                worst = (ratio, np.asarray(z), _records(mechanism, counts), _records(mechanism, moved))
    if worst[1] is None:
        raise ValueError("The audit found no release that the mechanism can make: its density is 0 at every one tried.")
    return worst


def _records(mechanism: Any, counts: Counts) -> Array:
    """Return a data set that has these counts: records in the middle of their bins."""
    return np.repeat(mechanism.bin_middles, counts, axis=0)


def _worst_divergence(mechanism: Any, pairs: list[tuple[Counts, Counts]], claim: Guarantee) -> Case:
    """Return the largest delta or D_alpha / alpha over neighbours; the bins that do not change add nothing."""
    parts = [_part_of(table, claim) for table in getattr(mechanism, "tables", [mechanism])]
    worst: Case = (-math.inf, None, np.zeros(0), np.zeros(0))
    for counts, moved in pairs:
        found = [
            part(_counts_of(table, mechanism, counts), _counts_of(table, mechanism, moved)) for table, part in parts
        ]
        value = sum(spent for spent, _ in found)
        if value > worst[0]:
            z = np.concatenate([where for _, where in found])
            worst = (value, z, _records(mechanism, counts), _records(mechanism, moved))
    return worst


def _part_of(table: Any, claim: Guarantee) -> tuple[Any, Callable[[Array, Array], tuple[float, Array]]]:
    """Return a table and what two counts of it spend: parts of independent releases add up in ρ."""
    noisy = table.noisy
    divergence = _of_densities(noisy, claim) if noisy.has_smooth_noise else _of_laws(noisy, claim)

    def spend(counts: Array, moved: Array) -> tuple[float, Array]:
        z = counts.astype(np.float64)
        changed = np.flatnonzero(counts != moved)
        if not len(changed):
            return 0.0, z
        value, z[changed] = divergence([(int(j), int(counts[j]), int(moved[j])) for j in changed])
        return value, z

    return table, spend


def _counts_of(table: Any, mechanism: Any, counts: Counts) -> Array:
    """Return the counts of a table from those of the bins of the whole."""
    if table is mechanism:
        return np.array(counts)
    bins = table.bin_of(mechanism.bin_middles)
    return np.bincount(bins, counts, minlength=table.bin_count).astype(np.int64)


def _of_laws(mechanism: Any, claim: Guarantee) -> Divergence:
    """Return the divergence of changed counts whose release is a whole number."""
    grid, bins = _grid(mechanism), mechanism.bin_count
    laws = {(j, c): _law(mechanism, grid, j, c) for j in range(bins) for c in range(_records_of(mechanism) + 1)}

    def divergence(changed: list[tuple[int, int, int]]) -> tuple[float, Any]:
        value, where = claim.divergence_of_counts([(laws[j, c], laws[j, d]) for j, c, d in changed])
        return value, grid[where]

    return divergence


def _of_densities(mechanism: Any, claim: Guarantee) -> Divergence:
    """Return the divergence of changed counts whose release is a real number; equal changes are measured once."""
    bins, known = mechanism.bin_count, {}  # type: int, dict[Any, Any]

    def density(j: int, count: int) -> Any:
        return lambda z: mechanism.log_bin([z if b == j else 0.0 for b in range(bins)], j, float(count))

    def divergence(changed: list[tuple[int, int, int]]) -> tuple[float, Any]:
        key = tuple(changed)
        if key not in known:
            known[key] = claim.divergence_of_densities([(density(j, c), density(j, d)) for j, c, d in changed])
        return known[key]

    return divergence


def _grid(mechanism: Any) -> Array:
    """Return whole numbers on which every law, and every p^alpha q^(1 - alpha), has all but nothing of its mass."""
    reach = 16
    top = _log_p(mechanism, 0.0, 0, 0)
    while _log_p(mechanism, float(reach), 0, 0) > top - DEPTH:
        reach *= 2
        if reach > LARGEST_REACH:
            raise ValueError(
                f"The audit sums over whole numbers, and the noise of {type(mechanism).__name__} reaches beyond "
                f"{LARGEST_REACH}. Audit one with less noise: its claim has the same formula."
            )
    # The integrand of order alpha is centred at alpha where a count moves by one.
    reach += int(max(ALPHAS))
    return np.arange(-reach, _records_of(mechanism) + reach + 1, dtype=np.float64)


def _law(mechanism: Any, grid: Array, j: int, count: int) -> Array:
    """Return the log probabilities of bin j's release, checked to sum to 1."""
    log_p = np.array([_log_p(mechanism, z, j, count) for z in grid])
    total = float(np.exp(logsumexp(log_p)))
    if abs(total - 1.0) > 1e-9:
        raise ValueError(
            f"The law of {type(mechanism).__name__}'s bin {j} sums to {total:.9g} over the whole numbers, not to 1. "
            f"Audit a mechanism with discrete noise, or one with a PureDP guarantee."
        )
    return log_p


def _log_p(mechanism: Any, z: float, j: int, count: int) -> float:
    row = np.zeros(mechanism.bin_count)
    row[j] = z
    return mechanism.log_bin(row, j, float(count))
