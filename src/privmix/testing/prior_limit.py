"""The prior limit: with noise that drowns the data, the number of clusters follows the law of the prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.engine import block, chains
from privmix.engine.chains import Plan
from privmix.kernels import Kernel, Normal
from privmix.mechanisms import Laplace
from privmix.model import PrivateMixture
from privmix.priors import Prior
from privmix.samplers import Sampler

# The least probability of a number of clusters whose share of draws is compared with it.
LEAST_SHARE = 0.02


@dataclass(frozen=True)
class PriorLimit:
    """Number of clusters of a chain on pure noise: its mean and its law, against the exact ones."""

    mean: float
    error: float
    exact: float
    law_scores: np.ndarray  # distance of each share of draws from its probability, in standard errors

    @property
    def z_score(self) -> float:
        """Distance from the exact value in Monte Carlo standard errors."""
        return (self.mean - self.exact) / self.error

    def __str__(self) -> str:
        return f"E[K] = {self.mean:.3f} ± {self.error:.3f}, exact {self.exact:.3f} (z = {self.z_score:+.1f})"


def prior_limit(
    prior: Prior,
    sampler: Sampler,
    *,
    n: int = 50,
    kernel: Kernel | None = None,
    draws: int = 40_000,
    thin: int = 5,
    epsilon: float = 1e-4,
    seed: Any = 1,
    replacements: Mapping[Callable, Callable] | None = None,
) -> PriorLimit:
    """Run one long chain on a release at tiny ε and compare the number of clusters K with the law of the prior.

    Parameters
    ----------
    prior, sampler, kernel
        What to test, by default with a normal kernel.
    n, draws, thin, epsilon, seed
        Records, kept draws, sweeps for each, privacy of the Laplace release, and seed.
    replacements
        Functions to put in the place of the library's own: a planted bug.
    """
    mechanism = Laplace(epsilon=epsilon, bounds=(-10.0, 10.0))
    model = PrivateMixture(mechanism, kernel or Normal(), prior)
    rng = np.random.default_rng(seed)
    z = mechanism.privatize(rng.normal(size=n), seed=rng)
    plan = Plan(model, sampler, z, draws, draws // 20 * thin, thin, allocations=False)
    run = block.compile_block(model, sampler, replacements=replacements)
    chain = chains.run_chain(plan, np.random.SeedSequence(seed), run=run)
    found, law = chain.draws.n_clusters, prior.cluster_law(n)
    if law is None:
        raise ValueError(f"{type(prior).__name__} has no cluster_law(n), so there is nothing to compare with. Give it.")
    mean, error = batch_means(found.astype(float))
    likely = np.flatnonzero(law >= LEAST_SHARE)
    shares = [batch_means((found == k).astype(float)) for k in likely]
    scores = np.array([(share - law[k]) / max(e, 1e-12) for k, (share, e) in zip(likely, shares, strict=True)])
    return PriorLimit(mean, error, float(law @ np.arange(len(law))), scores)


def batch_means(values: np.ndarray, batches: int = 50) -> tuple[float, float]:
    """Return the mean of a chain and its standard error from the spread of batch means."""
    length = len(values) // batches
    means = values[: length * batches].reshape(batches, length).mean(axis=1)
    return float(means.mean()), float(means.std(ddof=1) / math.sqrt(batches))
