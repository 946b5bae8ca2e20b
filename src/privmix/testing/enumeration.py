"""Enumeration: the law of the partition of a handful of records, against its exact posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from privmix.model import PrivateMixture
from privmix.samplers import Sampler
from privmix.testing.joint import run_pairs
from privmix.testing.partitions import partition_index
from privmix.testing.simulate import simulate_latent


@dataclass(frozen=True)
class Enumeration:
    """Counts of partitions after short chains, and the χ² test against their exact law."""

    counts: np.ndarray
    expected: np.ndarray
    p_value: float

    def __str__(self) -> str:
        return f"enumeration over {len(self.counts)} partitions: χ² p = {self.p_value:.2g}"


def enumeration_test(
    model: PrivateMixture,
    sampler: Sampler,
    z: np.ndarray,
    exact: np.ndarray,
    *,
    chains: int = 20_000,
    sweeps: int = 300,
    seed: Any = 1,
    replacements: Mapping[Callable, Callable] | None = None,
) -> Enumeration:
    """Run many short, independent chains on one small release and test their last partitions against an exact law.

    Parameters
    ----------
    model, sampler
        What to test.
    z
        A release of at most five records.
    exact
        Posterior probability of each partition, in the order of `set_partitions`. It must not come from the library.
    chains, sweeps, seed
        Independent chains, each from a draw of the prior, sweeps of each, and seed.
    replacements
        Functions to put in the place of the library's own: a planted bug.
    """
    rng = np.random.default_rng(seed)
    n = model.mechanism.count_records(z)
    latent = simulate_latent(model, n, chains, rng)
    repeated = np.ascontiguousarray(np.broadcast_to(z, (chains, *z.shape)))
    _, _, allocation = run_pairs(model, sampler, latent, repeated, sweeps, rng, replacements)
    counts = np.bincount(partition_index(allocation, n), minlength=len(exact))
    expected = exact / exact.sum() * chains
    # Partitions expected fewer than five times are taken together, as χ² needs.
    rare = expected < 5.0
    observed, wanted = counts[~rare], expected[~rare]
    if rare.any() and expected[rare].sum() > 0.0:
        observed, wanted = np.append(observed, counts[rare].sum()), np.append(wanted, expected[rare].sum())
    p_value = float(stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue)
    return Enumeration(counts, expected, p_value)
