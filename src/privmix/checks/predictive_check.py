"""Posterior predictive checks on the scale of the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from privmix.checks.shares import Shares, shares_of
from privmix.checks.tables import Table
from privmix.curves.predictive import replicator
from privmix.parts.checks import check_count

if TYPE_CHECKING:
    from privmix.posterior.posterior import Posterior

Statistic = Callable[[np.ndarray], float]
# Numbers drawn in all, unless the user says how many replicates: a second or two.
NUMBERS_DRAWN, FEWEST, MOST = 20_000_000, 200, 1000
# Replicates from which cells and means are taken, before those that are compared.
PILOT = 40
CELLS = 20
BINS = 40
DISTANCE = "distance"
#: the statistic of the bar that is furthest from what the model expects
BAR = "bar"


def spread_statistics() -> dict[str, Statistic]:
    """Return the statistics of a release of one number a record."""
    return {
        "mean": lambda z: float(np.mean(z)),
        "sd": lambda z: float(np.std(z)),
        "skewness": lambda z: float(np.mean((z - z.mean()) ** 3) / max(float(np.std(z)), 1e-100) ** 3),
        "smallest": lambda z: float(np.min(z)),
        "largest": lambda z: float(np.max(z)),
    }


def row_statistics() -> dict[str, Statistic]:
    """Return the statistics of a release of several numbers."""
    return {"mean": lambda z: float(np.mean(z)), "sd": lambda z: float(np.std(z))}


def predictive_check(
    posterior: Posterior, statistics: Mapping[str, Statistic] | None, replicates: int | None, seed: Any
) -> xr.Dataset:
    """Compare the release with replicates of it; `Posterior.predictive_check` documents the parameters."""
    model = posterior.model
    mechanism: Any = model.mechanism
    if mechanism.names and mechanism.bin_count is None:
        raise ValueError(
            "predictive_check compares releases of one column: posterior.marginal(name).predictive_check(). The names "
            f"are {', '.join(mechanism.names)}."
        )
    z = model.mechanism.fill_withheld(posterior.plan.z)
    count = check_replicates(replicates, z.size)
    replicate = replicator(model, posterior.arrays, posterior.records_of_draws, np.random.default_rng(seed))

    def again() -> np.ndarray:
        return model.mechanism.fill_withheld(replicate()[1])

    pilot = [again() for _ in range(PILOT)]
    table = Table(mechanism) if mechanism.is_counted else None
    chosen = dict(statistics) if statistics is not None else usual_statistics(model.mechanism, pilot, table)
    check_statistics(chosen, z)
    edges, histogram = histogram_edges(z, pilot), shares_over_width
    if table is not None:
        edges, histogram = table.histogram_edges(BINS), table.histogram
    shares = None if statistics is not None else table.shares(pilot) if table else shares_of(model.mechanism, pilot)
    values, heights = np.empty((len(chosen), count)), np.empty((count, len(edges) - 1))
    made = np.empty((count, 0 if shares is None else len(shares.lower)))
    for r in range(count):
        new = again()
        values[:, r] = [statistic(new) for statistic in chosen.values()]
        heights[r] = histogram(new, edges)
        made[r] = () if shares is None else shares.of(new)
    observed = np.array([statistic(z) for statistic in chosen.values()])
    if shares is None:
        return _dataset(list(chosen), observed, values, histogram(z, edges), heights, edges)
    seen, bars = bar_deviations(shares, shares.of(z), made)
    names, observed, values = [*chosen, BAR], np.append(observed, seen.max()), np.vstack([values, bars.max(axis=1)])
    found = _dataset(names, observed, values, histogram(z, edges), heights, edges)
    return found.merge(_bars(shares, shares.of(z), made, seen), combine_attrs="no_conflicts")


def columns_of(posterior: Posterior) -> list[tuple[str, Posterior]]:
    """Return each column of a fit by itself with its name; of records without names the fit, with none."""
    return [(name, posterior.marginal(name)) for name in posterior.model.kernel.names] or [("", posterior)]


def compared_parts(posterior: Posterior) -> list[tuple[str, Posterior]]:
    """Return the parts of a fit whose release is compared: each column, but of a table of cells the whole."""
    return columns_of(posterior) if posterior.model.mechanism.bin_count is None else [("", posterior)]


def usual_statistics(mechanism: Any, pilot: list[np.ndarray], table: Table | None) -> dict[str, Statistic]:
    """Return the statistics of a release, with its distance from the predictive law last."""
    if table is not None:
        return {**table.statistics(), DISTANCE: table.distance(pilot)}
    if pilot[0].ndim == 1 and not mechanism.is_global:
        return {**spread_statistics(), DISTANCE: cell_distance(pilot)}
    return {**row_statistics(), DISTANCE: mean_distance(pilot, mechanism.is_global)}


def check_replicates(replicates: Any, size: int) -> int:
    """Return the number of replicates: as asked, or as many as are quickly made."""
    if replicates is None:
        return min(MOST, max(FEWEST, NUMBERS_DRAWN // size))
    check_count("replicates", replicates, 20)
    return int(replicates)


def check_statistics(chosen: Mapping[str, Any], z: np.ndarray) -> None:
    """Refuse what is no function of a release that returns a number."""
    if not chosen:
        raise ValueError("statistics is empty; give at least one function of a release, or leave it out.")
    for name, statistic in chosen.items():
        if not callable(statistic):
            raise TypeError(f"the statistic {name!r} must be a function of a release; got {statistic!r}.")
        value = statistic(z)
        if np.ndim(value) != 0 or not np.isfinite(value):
            raise ValueError(f"the statistic {name!r} must return one finite number; it gave {value!r}.")


def cell_distance(pilot: list[np.ndarray]) -> Statistic:
    """Return the Kolmogorov–Smirnov distance from the predictive law, on cells of equal predictive mass."""
    pooled = np.concatenate(pilot)
    edges = np.unique(np.quantile(pooled, np.arange(1, CELLS) / CELLS))
    expected = np.searchsorted(np.sort(pooled), edges, side="right") / len(pooled)

    def distance(z: np.ndarray) -> float:
        return float(np.max(np.abs(np.searchsorted(np.sort(z), edges, side="right") / len(z) - expected)))

    return distance


def mean_distance(pilot: list[np.ndarray], whole: bool) -> Statistic:
    """Return the root mean square of the standardised deviations of each coefficient (its mean over records)."""
    summaries = np.stack([_summary(z, whole) for z in pilot])
    centre, spread = summaries.mean(axis=0), np.maximum(summaries.std(axis=0), 1e-300)

    def distance(z: np.ndarray) -> float:
        return math.sqrt(float(np.mean(((_summary(z, whole) - centre) / spread) ** 2)))

    return distance


def bar_deviations(shares: Shares, seen: np.ndarray, made: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each bar of the release, and of every replicate, is from its mean, in standard deviations."""
    expected, spread = made.mean(axis=0), shares.spread(made)
    return np.abs(seen - expected) / spread, np.abs(made - expected) / spread


def _bars(shares: Shares, seen: np.ndarray, made: np.ndarray, deviation: np.ndarray) -> xr.Dataset:
    return xr.Dataset(
        {
            "observed_share": ("bar", seen),
            "replicated_share": (("replicate", "bar"), made),
            "deviation": ("bar", deviation),
        },
        coords={
            "bar_lower": ("bar", shares.lower),
            "bar_upper": ("bar", shares.upper),
            **({"bar_name": ("bar", shares.names)} if shares.names else {}),
        },
        attrs={"bar": shares.what},
    )


def _summary(z: np.ndarray, whole: bool) -> np.ndarray:
    return z.reshape(-1) if whole else z.mean(axis=0)


def histogram_edges(z: np.ndarray, pilot: list[np.ndarray]) -> np.ndarray:
    """Return equal bins over the middle of the replicates and all but the extremes of the release."""
    pooled = np.concatenate([z.reshape(-1), *[new.reshape(-1) for new in pilot]])
    lower, upper = np.quantile(pooled, [0.002, 0.998])
    if not lower < upper:
        lower, upper = lower - 0.5, upper + 0.5
    return np.linspace(lower, upper, BINS + 1)


def shares_over_width(z: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the share of all numbers in each bin, over its width."""
    return np.histogram(z, edges)[0] / (z.size * np.diff(edges))


def tail_share(values: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return, for each row, the probability of a value as large as the one observed.

    The release counts as one of the replicates, so that it is never 0. Beyond all of them the tail goes on as that of
    an exponential law of their mean and standard deviation, e^−(1 + t) at t deviations: few replicates of a large
    release could else never speak against a model, however far off. Lighter tails, such as those of means and of
    largest values of the noises here, give less than that.
    """
    count = values.shape[1]
    counted = (np.sum(values >= observed[:, None], axis=1) + 1.0) / (count + 1.0)
    beyond = (observed - values.mean(axis=1)) / np.maximum(values.std(axis=1), 1e-300)
    return np.where(counted * (count + 1.0) > 1.0, counted, np.minimum(counted, np.exp(-1.0 - np.maximum(beyond, 0.0))))


def _dataset(
    names: list[str],
    observed: np.ndarray,
    values: np.ndarray,
    height: np.ndarray,
    heights: np.ndarray,
    edges: np.ndarray,
) -> xr.Dataset:
    count = values.shape[1]
    above = (np.sum(values > observed[:, None], axis=1) + 0.5 * np.sum(values == observed[:, None], axis=1)) / count
    lower, upper = tail_share(-values, -observed), tail_share(values, observed)
    one_sided = np.array([name in (DISTANCE, BAR) for name in names])
    p_value = np.where(one_sided, upper, np.minimum(1.0, 2.0 * np.minimum(lower, upper)))
    return xr.Dataset(
        {
            "observed": ("statistic", observed),
            "replicated": (("statistic", "replicate"), values),
            "share_above": ("statistic", above),
            "p_value": ("statistic", p_value),
            "observed_histogram": ("bin", height),
            "replicated_histogram": (("replicate", "bin"), heights),
        },
        coords={
            "statistic": names,
            "bin": 0.5 * (edges[1:] + edges[:-1]),
            "bin_lower": ("bin", edges[:-1]),
            "bin_upper": ("bin", edges[1:]),
        },
    )
