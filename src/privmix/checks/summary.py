"""Effective sample sizes and R-hat of what does not depend on labels: clusters, hyperparameters, the density."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.curves.density import density_mean, short_names

if TYPE_CHECKING:
    import pandas as pd

    from privmix.posterior.posterior import Posterior

# Where the density is followed: quantiles of the posterior mean density.
WATCHED = (0.05, 0.25, 0.5, 0.75, 0.95)


def summary(posterior: Posterior, at: Any) -> pd.DataFrame:
    """Return the diagnostics of a posterior; `Posterior.summary` documents the parameters."""
    draws, kernel = posterior.dataset, posterior.model.kernel
    quantities = {"n_clusters": draws["n_clusters"].values.astype(float)}
    if np.ptp(draws["concentration"].values) > 0.0:
        quantities["concentration"] = draws["concentration"].values
    if posterior.model.mechanism.records_unknown:
        quantities["records"] = posterior.datatree["sample_stats"].to_dataset()["records"].values
    for name in kernel.hyperparameters:
        quantities[f"base_{name}"] = draws[f"base_{name}"].values
    quantities |= followed(posterior, at)
    table = summarise(quantities)
    acceptance = posterior.datatree["sample_stats"].to_dataset()["acceptance"].values
    table.loc["acceptance", ["mean", "sd", "note"]] = [acceptance.mean(), acceptance.std(), ""]
    return table


def followed(posterior: Posterior, at: Any) -> dict[str, np.ndarray]:
    """Return the density at some points in each draw, by name; of records of several columns, that of each."""
    kernel = posterior.model.kernel
    if kernel.names:
        if at is not None and not isinstance(at, Mapping):
            raise ValueError(f"summary: give points by column, such as at={{{kernel.names[0]!r}: points}}; got {at!r}.")
        asked = dict.fromkeys(kernel.names) if at is None else at
        each = {name: followed(posterior.marginal(name), points) for name, points in asked.items()}
        return {f"{name} {what}": values for name, found in each.items() for what, values in found.items()}
    if at is None and kernel.dimension > 1:
        return {}
    if kernel.categories is not None:
        values = posterior.density_draws(posterior.default_grid()).values
        return {f"share of {category}": values[..., j] for j, category in enumerate(kernel.categories)}
    points = np.atleast_1d(watched_points(posterior) if at is None else np.asarray(at, dtype=np.float64))
    values = posterior.density_draws(points).values
    return {f"density at {name}": values[..., j] for j, name in enumerate(short_names(points))}


def watched_points(posterior: Posterior) -> np.ndarray:
    """Return quantiles of the posterior mean density, at the points where it is shown."""
    grid = posterior.shown_grid()
    mean = density_mean(posterior.model.kernel, posterior.arrays, grid, posterior.model.restricted_to)
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (mean[1:] + mean[:-1]) * np.diff(grid))])
    return np.unique(np.interp(np.array(WATCHED) * mass[-1], mass, grid))


def summarise(quantities: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return mean, sd, effective sample sizes and R-hat of named quantities (chain, draw).

    A quantity that did not move in some chain has no effective sample size: its ESS and R-hat are missing, and the
    column `note` says so, where the usual formulas would report a perfect chain.
    """
    import pandas as pd

    return pd.DataFrame.from_dict({name: _row(values) for name, values in quantities.items()}, orient="index")


def _row(values: np.ndarray) -> dict[str, Any]:
    row: dict[str, Any] = {"mean": values.mean(), "sd": values.std(), "ess_bulk": np.nan, "ess_tail": np.nan}
    row |= {"r_hat": np.nan, "note": ""}
    still = np.flatnonzero(np.ptp(values, axis=1) == 0.0)
    if not np.isfinite(values).all():
        row["note"] = "not finite"
    elif values.shape[1] < 4:
        row["note"] = "too few draws"
    elif len(still):
        which = "no chain" if len(still) == len(values) else f"chain {', '.join(str(c + 1) for c in still)} never"
        row["note"] = f"{which} moved"
    else:
        row |= _effective(values)
    return row


def _effective(values: np.ndarray) -> dict[str, float]:
    from arviz_stats.base import array_stats  # imported here: it takes longer to load than a fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "ess_bulk": float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="bulk")),
            "ess_tail": float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))),
            "r_hat": float(array_stats.rhat(values, chain_axis=0, draw_axis=1)),
        }
