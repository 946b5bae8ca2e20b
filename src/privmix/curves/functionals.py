"""What is read off the density of each draw: distribution function, quantiles, probabilities, moments, modes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr

from privmix.curves import density as densities
from privmix.curves.density import (
    Interval,
    check_level,
    ends_of,
    integrate_density,
    interval_mass,
    need_finite,
    summarise_draws,
)
from privmix.curves.mixture import (
    cdf_values,
    count_of,
    mode_counts,
    over_draws,
    parts_of,
    quantile_values,
)
from privmix.curves.moments import raw_moments
from privmix.kernels import Kernel
from privmix.model import PrivateMixture
from privmix.samplers.base import Draws

MOMENTS = ("mean", "variance", "sd", "skewness", "excess_kurtosis")


def cdf_draws(kernel: Kernel, draws: Draws, points: np.ndarray, restricted_to: Interval) -> np.ndarray:
    """Return P(Y ≤ y) for each draw and point, an array (draw, point)."""
    lower, upper = ends_of(kernel, restricted_to)
    clipped = np.clip(points, lower, upper)
    if not kernel.has("cdf"):
        need_finite(kernel, lower, "a distribution function")
        return _numerical_cdf(kernel, draws, clipped, lower, restricted_to)
    values = cdf_values(kernel, draws, clipped)
    if restricted_to is not None:
        ends = cdf_values(kernel, draws, np.array(restricted_to))
        values = (values - ends[:, :1]) / (ends[:, 1:] - ends[:, :1])
    values[:, points < lower] = 0.0
    values[:, points >= upper] = 1.0
    return np.clip(values, 0.0, 1.0)


def _numerical_cdf(
    kernel: Kernel, draws: Draws, points: np.ndarray, lower: float, restricted_to: Interval
) -> np.ndarray:
    order = np.argsort(points)
    edges = np.concatenate([[lower], points[order]])
    parts = [integrate_density(kernel, draws, a, b, restricted_to) for a, b in pairwise(edges)]
    out = np.empty((count_of(draws), len(points)))
    out[:, order] = np.cumsum(np.stack(parts, axis=1), axis=1)
    return np.clip(out, 0.0, 1.0)


def cdf_bands(model: PrivateMixture, draws: Draws, grid: Any, level: float) -> xr.Dataset:
    """Return the posterior mean and a pointwise band of the distribution function, in parts of the grid."""
    kernel = _single(model, "cdf")
    points, level = densities.check_grid(kernel, grid), check_level(level)
    parts = [points[part] for part in parts_of(len(points), count_of(draws))]
    rows = [summarise_draws(cdf_draws(kernel, draws, part, model.restricted_to), level) for part in parts]
    return _dataset([np.concatenate(column) for column in zip(*rows, strict=True)], "y", points, level)


def quantile_draws(model: PrivateMixture, draws: Draws, z: np.ndarray, probs: Any) -> np.ndarray:
    """Return quantiles of each draw, an array (draw, prob); a law without ends is searched from the range of z."""
    kernel, wanted = _single(model, "quantile"), check_probs(probs)
    if not kernel.has("cdf"):
        raise ValueError(
            f"quantiles invert the distribution function, and {type(kernel).__name__} has none. Give the kernel a hook "
            "cdf(self, y, theta), or invert posterior.cdf(grid) on a grid of your choice."
        )
    ends = kernel.support if model.restricted_to is None else model.restricted_to
    fixed = bool(np.isfinite(ends).all())
    if not fixed:
        grid = densities.default_grid(model, z, 2)
        ends = (max(ends[0], float(grid[0])), min(ends[1], float(grid[1])))
    return quantile_values(kernel, draws, wanted, ends, fixed)


def quantile_bands(model: PrivateMixture, draws: Draws, z: np.ndarray, probs: Any, level: float) -> xr.Dataset:
    """Return the posterior mean and an interval of each quantile, a few quantiles at a time."""
    level, wanted = check_level(level), check_probs(probs)
    parts = [wanted[part] for part in parts_of(len(wanted), count_of(draws))]
    rows = [summarise_draws(quantile_draws(model, draws, z, part), level) for part in parts]
    return _dataset([np.concatenate(column) for column in zip(*rows, strict=True)], "prob", wanted, level)


def check_probs(probs: Any) -> np.ndarray:
    """Return probabilities as an array of floats strictly between 0 and 1."""
    try:
        values = np.atleast_1d(np.asarray(probs, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"probs must be numbers; got {probs!r}.") from error
    if values.ndim != 1 or values.size == 0 or not ((values > 0.0) & (values < 1.0)).all():
        raise ValueError(f"probs must be one or more numbers between 0 and 1, ends excluded; got {probs!r}.")
    return np.ascontiguousarray(values)


def probability(model: PrivateMixture, draws: Draws, lower: Any, upper: Any, level: float) -> xr.Dataset:
    """Return P(lower < Y ≤ upper): posterior mean, interval and draws."""
    kernel, level = _single(model, "probability"), check_level(level)
    a, b = _check_interval(lower, upper)
    return _with_draws(draws, interval_mass(kernel, draws, a, b, model.restricted_to), level)


def beyond(model: PrivateMixture, draws: Draws, level: float) -> xr.Dataset:
    """Return the share of records below and above the bounds to which they were clipped."""
    if model.mechanism.clipped_at is None:
        raise ValueError(
            f"beyond is for clipped records; {type(model.mechanism).__name__} has none beyond its bounds. State it "
            "with mechanisms.Clipped(mechanism) if the bounds cut the tails."
        )
    lower, upper = model.mechanism.clipped_at
    sides = [probability(model, draws, -math.inf, lower, level), probability(model, draws, upper, math.inf, level)]
    return xr.concat(sides, "side").assign_coords(side=["below", "above"], bound=("side", [lower, upper]))


def _check_interval(lower: Any, upper: Any) -> tuple[float, float]:
    try:
        a, b = float(lower), float(upper)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the ends of the interval must be numbers; got {lower!r} and {upper!r}.") from error
    if math.isnan(a) or math.isnan(b) or a > b:
        raise ValueError(
            f"probability needs a lower end that is at most the upper one, neither NaN; got {lower!r} and {upper!r}. "
            "For a half-line give -numpy.inf or numpy.inf."
        )
    return a, b


def moments(model: PrivateMixture, draws: Draws, level: float) -> xr.Dataset:
    """Return the moments of the confidential data's law: posterior mean, interval and draws of each."""
    kernel, level = _single(model, "moments"), check_level(level)
    values = moment_draws(kernel, draws, model.restricted_to)
    columns = dict(zip(("mean", "lower", "upper"), summarise_draws(values, level), strict=True))
    variables: dict = {name: ("moment", column) for name, column in columns.items()}
    variables["draws"] = (("chain", "draw", "moment"), values.reshape(*draws.components.shape, len(MOMENTS)))
    return xr.Dataset(variables, coords={"moment": list(MOMENTS)}, attrs={"level": level})


def moment_draws(kernel: Kernel, draws: Draws, restricted_to: Interval) -> np.ndarray:
    """Return mean, variance, sd, skewness and excess kurtosis of each draw."""
    exact = need_moments(kernel, restricted_to)
    mean, variance, third, fourth = raw_moments(kernel, draws, ends_of(kernel, restricted_to), exact).T
    least = np.maximum(variance, 1e-300)
    sd = np.sqrt(least)
    return np.stack([mean, variance, np.sqrt(variance), third / least / sd, fourth / least / least - 3.0], axis=1)


def need_moments(kernel: Kernel, restricted_to: Interval) -> bool:
    """Return whether a kernel states its moments; refuse one whose moments cannot be integrated either."""
    exact = restricted_to is None and kernel.has("central_moments")
    if not exact and not np.isfinite(ends_of(kernel, restricted_to)).all():
        raise ValueError(
            f"{type(kernel).__name__} reaches to infinity and does not say its moments. Give the kernel a hook "
            "central_moments(self, theta, out), or summarise posterior.predictive(size)."
        )
    return exact


def mode_count(model: PrivateMixture, draws: Draws, grid: Any, prominence: float, level: float) -> xr.Dataset:
    """Return the number of modes of the density on a grid: posterior mean, interval, draws and probabilities."""
    kernel, level = _single(model, "mode_count"), check_level(level)
    points = np.sort(densities.check_grid(kernel, grid))
    if len(points) < 3:
        raise ValueError(f"mode_count needs a grid of at least 3 points; got {len(points)}.")
    if not 0.0 <= prominence < 1.0:
        raise ValueError(f"prominence must be at least 0 and below 1; got {prominence!r}.")

    def count(some: Draws) -> np.ndarray:
        values = densities.density_draws(kernel, some, points, model.restricted_to)
        return mode_counts(values.reshape(-1, len(points)), prominence)

    counts = over_draws(count, draws, len(points))
    shares = np.bincount(counts) / counts.size
    found = _with_draws(draws, counts, level)
    return found.assign(probability=("modes", shares)).assign_coords(modes=np.arange(len(shares)))


def _single(model: PrivateMixture, name: str) -> Kernel:
    kernel = model.kernel
    if kernel.dimension > 1:
        way = f"posterior.marginal({kernel.names[0]!r}).{name}(…)" if kernel.names else "posterior.predictive(size)"
        raise ValueError(f"{name} is for records of one number; these have {kernel.dimension}. Read it off {way}.")
    if kernel.categories is not None:
        raise ValueError(f"{name} is for numbers; these records are categories. Read shares off posterior.density().")
    return kernel


def _dataset(columns: list[np.ndarray], dim: str, coordinate: np.ndarray, level: float) -> xr.Dataset:
    names = ("mean", "lower", "upper")
    variables = {name: (dim, column) for name, column in zip(names, columns, strict=True)}
    return xr.Dataset(variables, coords={dim: coordinate}, attrs={"level": level})


def _with_draws(draws: Draws, values: np.ndarray, level: float) -> xr.Dataset:
    mean, lower, upper = summarise_draws(values, level)
    shaped = values.reshape(draws.components.shape)
    variables = {"mean": mean, "lower": lower, "upper": upper, "draws": (("chain", "draw"), shaped)}
    return xr.Dataset(variables, attrs={"level": level})
