"""What is computed draw by draw from mixtures: distribution functions, masses, quantiles and moments (compiled)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.jit import bind
from privmix.kernels import Kernel
from privmix.kernels.slots import cdf, mass, prepare
from privmix.samplers.base import Draws

# Numbers held at a time: 32 MB.
NUMBERS_HELD = 4_000_000
# Bisection stops after this many halvings: more than the digits of a float.
HALVINGS = 70


def run_over(
    kernel: Kernel, function: Callable, draws: Draws, *arguments: Any, hooks: dict[Callable, Callable] | None = None
) -> None:
    """Run a compiled function over all draws, with the kernel's hooks and those of the function itself."""
    flat = [np.ascontiguousarray(array) for array in flattened(draws)]
    run = bind(function, {**kernel.hooks(), **(hooks or {})}, owner=type(kernel).__name__)
    run(kernel.numbers(), *flat, np.zeros((1, kernel.columns)), *arguments)


def flattened(draws: Draws) -> list[np.ndarray]:
    """Return weights, atoms and numbers of components with chains and draws on one axis."""
    return [array.reshape(-1, *array.shape[2:]) for array in (draws.weight, draws.atom, draws.components)]


def count_of(draws: Draws) -> int:
    """Return the number of draws of all chains."""
    return draws.components.size


def parts_of(count: int, each: int) -> list[slice]:
    """Cut things of `each` numbers into equal parts of at most `NUMBERS_HELD` numbers, or of one thing."""
    parts = min(count, max(1, -(-count * each // NUMBERS_HELD)))
    step = -(-count // parts)
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


def over_draws(evaluate: Callable[[Draws], np.ndarray], draws: Draws, width: int) -> np.ndarray:
    """Return evaluate(draws), an array with one row for each draw, of which `width` numbers are held at a time."""
    chains, length = draws.components.shape
    some = [Draws(*[array[:, part] for array in draws]) for part in parts_of(length, width * chains)]
    rows = [evaluate(each) for each in some]
    shaped = [each.reshape(chains, -1, *each.shape[1:]) for each in rows]
    return np.concatenate(shaped, axis=1).reshape(chains * length, *rows[0].shape[1:])


def cdf_values(kernel: Kernel, draws: Draws, points: np.ndarray) -> np.ndarray:
    """Return Σ_h w_h F(y|φ_h) for each draw and point."""
    out = np.empty((count_of(draws), len(points)))
    run_over(kernel, mixture_cdf, draws, np.ascontiguousarray(points), out)
    return out


def mass_values(kernel: Kernel, draws: Draws, lower: float, upper: float) -> np.ndarray:
    """Return the mass of an interval for each draw."""
    out = np.empty(count_of(draws))
    run_over(kernel, mixture_mass, draws, float(lower), float(upper), out)
    return out


def quantile_values(
    kernel: Kernel, draws: Draws, probs: np.ndarray, bracket: tuple[float, float], fixed: bool
) -> np.ndarray:
    """Return quantiles for each draw; a bracket that is not fixed is widened until it holds them."""
    out = np.empty((count_of(draws), len(probs)))
    run_over(kernel, mixture_quantile, draws, probs, float(bracket[0]), float(bracket[1]), fixed, out)
    return out


def load_atom(kernel, atom, d, h, theta):
    """Write atom h of draw d into a row, constants included (compiled)."""
    for p in range(atom.shape[2]):
        theta[p] = atom[d, h, p]
    prepare(kernel, theta)


def mixture_cdf(kernel, weight, atom, components, row, points, out):
    """Fill out[d, j] with Σ_h w_dh F(points_j|φ_dh) (compiled)."""
    theta = row[0]
    for d in range(len(weight)):
        for j in range(len(points)):
            out[d, j] = 0.0
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, theta)
            for j in range(len(points)):
                out[d, j] += weight[d, h] * cdf(kernel, points[j], theta)


def mixture_mass(kernel, weight, atom, components, row, lower, upper, out):
    """Fill out[d] with Σ_h w_dh P(lower < Y ≤ upper|φ_dh) (compiled)."""
    theta = row[0]
    for d in range(len(weight)):
        out[d] = 0.0
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, theta)
            out[d] += weight[d, h] * mass(kernel, lower, upper, theta)


def cdf_at(kernel, weight, atom, components, theta, d, y):
    """Return Σ_h w_dh F(y|φ_dh) (compiled)."""
    total = 0.0
    for h in range(components[d]):
        load_atom(kernel, atom, d, h, theta)
        total += weight[d, h] * cdf(kernel, y, theta)
    return total


def mixture_quantile(kernel, weight, atom, components, row, probs, lower, upper, fixed, out):
    """Fill out[d, j] with the probs_j-quantile of draw d, by bisection; on a fixed bracket, of what it holds."""
    theta = row[0]
    for d in range(len(weight)):
        base, top = 0.0, 1.0
        if fixed:
            base = cdf_at(kernel, weight, atom, components, theta, d, lower)
            top = cdf_at(kernel, weight, atom, components, theta, d, upper)
        for j in range(len(probs)):
            wanted = base + probs[j] * (top - base)
            low, high = lower, upper
            if not fixed:
                width = upper - lower
                while cdf_at(kernel, weight, atom, components, theta, d, low) > wanted and width < 1e300:
                    low -= width
                    width *= 2.0
                width = upper - lower
                while cdf_at(kernel, weight, atom, components, theta, d, high) < wanted and width < 1e300:
                    high += width
                    width *= 2.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if middle in (low, high):
                    break
                if cdf_at(kernel, weight, atom, components, theta, d, middle) < wanted:
                    low = middle
                else:
                    high = middle
            out[d, j] = 0.5 * (low + high)


def mode_counts(values: np.ndarray, prominence: float) -> np.ndarray:
    """Return the number of modes of each row that rise above both sides by a share of the row's highest value."""
    out = np.empty(len(values), np.int64)
    bind(count_modes, {})(np.ascontiguousarray(values), prominence, out)
    return out


def count_modes(values, prominence, out):
    """Count maxima from which each row falls by the threshold before it rises again by it (compiled).

    Outside its ends a row counts as −∞, so that a row that falls from its first point has a mode there.
    """
    for d in range(len(values)):
        top = 0.0
        for j in range(values.shape[1]):
            top = max(top, values[d, j])
        least = prominence * top
        count, rising, high, low = 0, True, -math.inf, math.inf
        for j in range(values.shape[1]):
            value = values[d, j]
            if rising:
                high = max(high, value)
                if value < high and high - value >= least:
                    count += 1
                    rising, low = False, value
            else:
                low = min(low, value)
                if value > low and value - low >= least:
                    rising, high = True, value
        out[d] = count + (1 if rising else 0)
