"""Settings of chains that several studies share, and what every cell records of a fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.mechanisms import Mechanism
from privmix.model import DEFAULTS, PrivateMixture
from privmix.posterior import Posterior
from privmix.samplers import Sampler
from privmix.sampling.sample import fit
from privmix.studies.runner import Configuration
from privmix.studies.shared.measures import clusters_ess, l1_error, spread_draws, worst_r_hat
from privmix.studies.shared.targets import Target

# Posterior probability of every band in every study.
LEVEL = 0.95


@dataclass(frozen=True)
class ChainConfiguration(Configuration):
    """Sizes of a study whose cells run chains.

    Parameters
    ----------
    draws, thin, chains
        Kept draws of each chain, sweeps for each, independent chains.
    warmup
        Sweeps before the first draw; as many as after it, where it is None.
    points
        Points at which densities are kept.
    """

    draws: int = 50_000
    thin: int = 1
    chains: int = 1
    warmup: int | None = None
    points: int = 200

    def chain_settings(self) -> dict[str, Any]:
        """Return what `sample` and `fit` take."""
        warmup = self.draws * self.thin if self.warmup is None else self.warmup
        return {"draws": self.draws, "warmup": warmup, "thin": self.thin, "chains": self.chains}


# Chains of a miniature of `DefaultChains`.
SHORT: dict[str, Any] = {"draws": 200, "thin": 1, "chains": 2, "warmup": 200}


@dataclass(frozen=True)
class DefaultChains(ChainConfiguration):
    """Chains as `privmix.fit` has them by default."""

    draws: int = DEFAULTS.draws
    thin: int = DEFAULTS.thin
    chains: int = DEFAULTS.chains
    warmup: int | None = DEFAULTS.warmup


def sample(
    model: PrivateMixture,
    z: np.ndarray,
    sampler: Sampler | None,
    configuration: ChainConfiguration,
    seed: np.random.SeedSequence,
    *,
    allocations: bool = False,
) -> Posterior:
    """Draw from the posterior in one thread: the runner has a process for each cell."""
    with ThreadPoolExecutor(1) as one:
        settings = {**configuration.chain_settings(), "allocations": allocations, "executor": one}
        return model.sample(z, sampler, seed=seed, **settings)


def fit_default(
    z: np.ndarray, mechanism: Mechanism, configuration: ChainConfiguration, seed: np.random.SeedSequence
) -> Posterior:
    """Fit by `privmix.fit` with its own model and sampler, in one thread."""
    with ThreadPoolExecutor(1) as one:
        return fit(z, mechanism, **configuration.chain_settings(), allocations=False, seed=seed, executor=one)


def measures_of(posterior: Posterior, target: Target, points: int, watched: np.ndarray | None = None) -> dict[str, Any]:
    """Return what every cell keeps of a fit: mixing, error, and the density with its band.

    Mixing is watched at five points, by default spread over the bounds.
    """
    grid, few = target.grid(points), spread_draws(posterior)
    density = few.density(grid, level=LEVEL)
    lower, upper = target.bounds
    spread = lower + (upper - lower) * np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    return {
        "acceptance": posterior.acceptance,
        "ess": clusters_ess(posterior),
        "r_hat": worst_r_hat(few, spread if watched is None else watched),
        "clusters": float(posterior.n_clusters.mean()),
        "l1": l1_error(density["mean"].values, target.density(grid), grid),
        "covered": coverage(density, target, grid),
        "mean": density["mean"].values,
        "lower": density["lower"].values,
        "upper": density["upper"].values,
    }


def edge_mass(mean: np.ndarray) -> float:
    """Return the share of the outermost fiftieths, where the paper's estimates heap mass; three betas have < .01."""
    last, mass = max(1, len(mean) // 50), mean / mean.sum()
    return float(mass[:last].sum() + mass[-last:].sum())


def coverage(density: Any, target: Target, grid: np.ndarray) -> float:
    """Return the share of the target's mass at whose points the band holds the true density."""
    truth = target.density(grid)
    inside = (density["lower"].values <= truth) & (truth <= density["upper"].values)
    return float((truth * inside).sum() / truth.sum())
