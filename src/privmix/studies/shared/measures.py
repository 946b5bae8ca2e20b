"""How good a fit is, how far it moved from the prior, and how well its chains mixed."""

from __future__ import annotations

import numpy as np

from privmix.baselines import proper
from privmix.checks.summary import summarise
from privmix.posterior import Posterior

# Draws, evenly spaced, from which densities and clusters are estimated: their neighbours repeat one another.
KEPT = 2000


def l1_error(values: np.ndarray, truth: np.ndarray, grid: np.ndarray) -> float:
    """Return ∫|f − truth| over the grid, both made densities there: 0 is perfect, 2 the worst there is."""
    return float(np.trapezoid(np.abs(proper(values, grid) - proper(truth, grid)), grid))


def hellinger(first: np.ndarray, second: np.ndarray, grid: np.ndarray) -> float:
    """Return the Hellinger distance √(1 − ∫√(fg)), from 0 to 1, of two densities whose overlap the grid covers."""
    return float(np.sqrt(max(0.0, 1.0 - np.trapezoid(np.sqrt(first * second), grid))))


def log_score(values: np.ndarray, truth: np.ndarray) -> float:
    """Return ∫ truth log f, the mean log density of a record to come, of densities at the middles of equal cells."""
    return float(np.average(np.log(np.maximum(values, np.finfo(float).tiny)), weights=truth))


def adjusted_rand_index(first: np.ndarray, second: np.ndarray) -> float:
    """Return the adjusted Rand index of two partitions: 1 where they agree, 0 on average where they are unrelated.

    Hubert and Arabie (1985). Two partitions that both have one cluster, or both none but singletons, agree.
    """
    _, rows = np.unique(first, return_inverse=True)
    _, columns = np.unique(second, return_inverse=True)
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    together, in_rows, in_columns = (_pairs(x) for x in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = in_rows * in_columns / _pairs(np.array([float(len(rows))]))
    largest = 0.5 * (in_rows + in_columns)
    return 1.0 if largest == expected else float((together - expected) / (largest - expected))


def _pairs(counts: np.ndarray) -> float:
    return float((counts * (counts - 1.0) / 2.0).sum())


def clusters_ess(posterior: Posterior) -> float:
    """Return the effective sample size of the number of clusters per 1,000 draws; NaN where a chain never moved."""
    clusters = posterior.n_clusters.values.astype(float)
    return float(1000.0 * summarise({"clusters": clusters}).loc["clusters", "ess_bulk"] / clusters.size)


def worst_r_hat(posterior: Posterior, points: np.ndarray) -> float:
    """Return the worst R-hat of the density at some points, chains split in half; NaN where one has none."""
    values = posterior.density_draws(points).values
    halves = values[:, : values.shape[1] // 2 * 2].reshape(2 * len(values), -1, len(points))
    table = summarise({str(x): halves[..., j] for j, x in enumerate(points)})
    return float(table["r_hat"].max(skipna=False))


def spread_draws(posterior: Posterior, most: int = KEPT) -> Posterior:
    """Return the posterior with at most so many draws, evenly spaced over each chain."""
    return posterior.thinned(most)
