"""One data set of Section 4.1, fitted by one sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from privmix import samplers
from privmix.kernels import Normal
from privmix.mechanisms import Laplace
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.studies.laplace.configuration import Configuration
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import record, sample
from privmix.studies.shared.measures import adjusted_rand_index, hellinger, spread_draws
from privmix.studies.shared.targets import THREE_NORMALS

# N(μ | 0, 10σ²) × IG(σ² | 3, 3).
KERNEL = Normal(mean=0.0, precision_scale=0.1, shape=3.0, rate=3.0)
SAMPLERS = {
    "neal5-m1": samplers.Neal5(),
    "neal5-m5": samplers.Neal5(auxiliaries=5),
    "slice": samplers.Slice(swaps=False),
    "slice-exchange": samplers.Slice(),
}
# Wide enough for all mass of a fit that there is; the prior's tails beyond it overlap with nothing.
WIDE = np.linspace(-40.0, 40.0, 801)


def cell(
    configuration: Configuration,
    *,
    records: int,
    epsilon: float,
    sampler: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return mixing, error, band, distance from the prior and, for the slice samplers, the quality of its clusters."""
    label, z, mechanism = data(records, epsilon, replicate)
    model = PrivateMixture(mechanism, KERNEL, DirichletProcess(configuration.concentration))
    clusters = sampler.startswith("slice")
    posterior = sample(model, z, SAMPLERS[sampler], configuration, seed, allocations=clusters)
    found = record(posterior, THREE_NORMALS, configuration.points)
    few = spread_draws(posterior)
    found["hellinger"] = hellinger(few.density(WIDE)["mean"].values, prior_density(WIDE), WIDE)
    if clusters:
        found["rand"] = adjusted_rand_index(few.clustering(loss="vi").labels, label)
        found["rand_binder"] = adjusted_rand_index(few.clustering(loss="binder").labels, label)
    return found


def data(records: int, epsilon: float, replicate: int) -> tuple[np.ndarray, np.ndarray, Laplace]:
    """Return the component of each record, their release and the mechanism.

    All samplers see the same release, and at every ε the same records with the same noise in units of its scale.
    """
    of_records, of_noise = derive_seed("three normals", records=records, replicate=replicate).spawn(2)
    y, label = THREE_NORMALS.draw(np.random.default_rng(of_records), records)
    mechanism = Laplace(epsilon=epsilon, bounds=THREE_NORMALS.bounds)
    return label, mechanism.privatize(y, seed=of_noise), mechanism


def prior_density(grid: np.ndarray) -> np.ndarray:
    """Return the prior mean density: Student's t with 2a degrees of freedom and squared scale (b/a)(1 + 1/λ)."""
    squared = KERNEL.rate / KERNEL.shape * (1.0 + 1.0 / KERNEL.precision_scale)
    return stats.t(2.0 * KERNEL.shape, KERNEL.mean, np.sqrt(squared)).pdf(grid)
