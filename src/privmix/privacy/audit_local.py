"""The worst case of a local mechanism, over pairs of inputs and over outputs."""

from __future__ import annotations

import math
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privmix.privacy.divergences import Array, Integral, LogDensity, integrate_on, log_integral, log_sum
from privmix.privacy.guarantees import Guarantee

# Divergences are taken between all ordered pairs of this many inputs, both ends among them.
ANCHORS = 7
# Numbers handed to logpdf at once: 8 MB of outputs.
CHUNK = 2**20


def read_inputs(mechanism: Any, inputs: ArrayLike | None) -> Array:
    """Return the inputs to try, sorted."""
    if getattr(mechanism, "names", ()):
        raise ValueError(
            f"The audit takes records of one number, and these have the columns {', '.join(mechanism.names)}. Audit "
            "the mechanism of each by itself: with independent noise their promises add up. Where noise is set for all "
            "columns at once, compare mechanism.logpdf(z, y) at the two records that lie farthest apart."
        )
    if inputs is not None:
        y = np.unique(np.asarray(inputs, dtype=np.float64))
        if y.size < 2:
            raise ValueError(
                f"The audit was given {y.size} distinct inputs, but needs at least two to tell apart. "
                f"Give both bounds of the domain, or leave inputs out."
            )
        return y
    if getattr(mechanism, "categories", None) is not None:
        return np.arange(float(len(mechanism.categories)))
    bounds = getattr(mechanism, "bounds", None) or getattr(mechanism, "clipped_at", None)
    if bounds is None or not np.isfinite(bounds).all():
        raise ValueError(
            f"The audit was given a mechanism with bounds={bounds!r} and no inputs, but needs to know which "
            f"values are neighbours. Give inputs=, an array of values to try."
        )
    low, high = bounds
    grid = np.linspace(low, high, 257)
    return np.unique(np.concatenate([grid, np.nextafter(grid[1:], low)]))


def try_outputs(mechanism: Any, y: Array, size: int, seed: int) -> Array:
    """Return the outputs to try: the mechanism's own, and a grid around the domain where they are real."""
    draws = np.asarray(mechanism.privatize(np.resize(y, max(size, 1)), seed=seed))
    if draws.ndim > 1 or not np.issubdtype(draws.dtype, np.floating):
        return np.unique(draws, axis=0)
    width = y[-1] - y[0]
    grid = np.linspace(y[0] - 3 * width, y[-1] + 3 * width, max(size, 2))
    publish = getattr(mechanism, "publish", None)
    return np.union1d(draws, grid if publish is None else publish(grid))


def worst_ratio(mechanism: Any, z: Array, y: Array) -> tuple[float, Any, float, float]:
    """Return the largest log-ratio over outputs and pairs of inputs; climb from it where outputs are rows."""
    worst = _scan(mechanism, z, y)
    if z.ndim > 1:
        starts = [worst, (-math.inf, worst[1], float(y[0]), float(y[-1]))]
        climbed = np.stack([_climb(mechanism, z, start) for start in starts])
        worst = max(worst, _scan(mechanism, climbed, y), key=lambda found: found[0])
    return worst


def _scan(mechanism: Any, z: Array, y: Array) -> tuple[float, Any, float, float]:
    """Return the largest log-ratio, its output and its two inputs; outputs go in chunks of bounded memory."""
    worst: tuple[float, Any, float, float] = (-math.inf, None, math.nan, math.nan)
    width = int(np.prod(z.shape[1:]))
    step = max(1, CHUNK // (y.size * width))
    for start in range(0, len(z), step):
        block = z[start : start + step]
        log_q = _logpdf(mechanism, np.repeat(block, y.size, axis=0), np.tile(y, len(block)))
        log_q = log_q.reshape(len(block), y.size)
        ratio = _difference(log_q.max(axis=1), log_q.min(axis=1))
        i = int(np.argmax(ratio))
        if ratio[i] > worst[0]:
            most, least = y[log_q[i].argmax()], y[log_q[i].argmin()]
            output = block[i] if block.ndim > 1 else block[i].item()
            worst = (float(ratio[i]), output, float(most), float(least))
    if worst[0] == -math.inf:
        raise ValueError(
            "The audit found no output that the mechanism can produce: its density is 0 at every output "
            "tried. Check that logpdf and privatize agree, or give outputs=."
        )
    return worst


def _climb(mechanism: Any, z: Array, start: tuple[float, Any, float, float], rounds: int = 3) -> Array:
    """Raise log q(z|y) - log q(z|y') for one pair of inputs by changing one coordinate of z at a time.

    Draws of many coordinates can miss the corner where all log-ratios are extreme together (255 Haar
    coefficients at epsilon = 20: 64 draws reach .93 epsilon). For noise independent over coordinates this
    search finds it in one round, because the log-ratios add up.
    """
    _, best, y, y_prime = start
    low, high = z.min(axis=0), z.max(axis=0)
    candidates = [low, high, 2 * low - high, 2 * high - low]
    ratio = partial(_pair_ratio, mechanism, y=y, y_prime=y_prime)
    best = np.array(best, dtype=z.dtype)
    for _ in range(rounds):
        moved = [np.where(np.eye(best.size, dtype=bool), candidate, best) for candidate in candidates]
        values = np.stack([ratio(best[None, :]).repeat(best.size), *map(ratio, moved)])
        choice = values.argmax(axis=0)
        every = np.stack([best, *candidates])[choice, np.arange(best.size)]
        single = best.copy()
        single[values.max(axis=0).argmax()] = every[values.max(axis=0).argmax()]
        best = max((best, every, single), key=lambda row: ratio(row[None, :])[0])
    return best


def _pair_ratio(mechanism: Any, z: Array, y: float, y_prime: float) -> Array:
    """Return log q(z|y) - log q(z|y') for every row of z."""
    rows = np.ones(len(z))
    return _difference(_logpdf(mechanism, z, y * rows), _logpdf(mechanism, z, y_prime * rows))


def _difference(log_p: Array, log_q: Array) -> Array:
    """Return log p - log q, with -inf where p is 0: an impossible output gives nothing away."""
    possible = log_p > -np.inf
    return np.where(possible, np.where(possible, log_p, 0.0) - log_q, -np.inf)


def _logpdf(mechanism: Any, z: Array, y: Array) -> Array:
    """Return the mechanism's log density, checked."""
    log_q = np.asarray(mechanism.logpdf(z, y), dtype=np.float64)
    if log_q.shape != y.shape or np.isnan(log_q).any() or (log_q == np.inf).any():
        raise ValueError(
            f"The mechanism's logpdf gave shape {log_q.shape} for {y.size} records, or values that are NaN "
            f"or +inf. It must give one log density (or log probability) a record, -inf where it is 0."
        )
    return log_q


def worst_divergence(
    mechanism: Any, claim: Guarantee, y: Array, outputs: ArrayLike | None, seed: int
) -> tuple[float, Any, float, float]:
    """Return the largest delta, or D_alpha / alpha, over ordered pairs of a few inputs."""
    _need_real_outputs(mechanism, y, outputs, seed)
    anchors = y[np.unique(np.linspace(0, y.size - 1, ANCHORS).round().astype(int))]
    density = {a: partial(_log_density, mechanism, a) for a in anchors}
    step = getattr(mechanism, "output_step", None)
    integrate = partial(_integrate, y=y, outputs=outputs) if step is None else partial(log_sum, step=step, y=y)
    for a in anchors:
        _need_total_one(integrate(density[a]), a)
    found = []
    for a, b in permutations(anchors, 2):
        divergence, z = claim.divergence(density[a], density[b], integrate)
        found.append((divergence, z, float(a), float(b)))
    return max(found, key=lambda case: case[0])


def _log_density(mechanism: Any, y: float, z: Array) -> Array:
    return _logpdf(mechanism, z, np.full(z.shape, y))


def _integrate(integrand: LogDensity, *, y: Array, outputs: ArrayLike | None) -> Integral:
    """Integrate on the outputs given, or on a window that starts around the domain."""
    if outputs is not None:
        return integrate_on(integrand, np.unique(np.asarray(outputs, dtype=np.float64)))
    width = y[-1] - y[0]
    return log_integral(integrand, float(y[0] - 3 * width), float(y[-1] + 3 * width), y)


def _need_real_outputs(mechanism: Any, y: Array, outputs: ArrayLike | None, seed: int) -> None:
    """Refuse rows of outputs, whose divergences are integrals over many dimensions."""
    sample = np.asarray(mechanism.privatize(y[:2], seed=seed) if outputs is None else outputs)
    if sample.ndim > 1:
        raise NotImplementedError(
            f"The audit of {type(mechanism).__name__} was to integrate over {sample.shape[1]} outputs a "
            f"record, but ApproxDP and ZCDP are audited for one real output a record only. Audit one "
            f"coordinate on its own, or a mechanism with a PureDP guarantee."
        )


def _need_total_one(integral: Integral, y: float) -> None:
    """Refuse a density that does not integrate to 1: its divergences would mean nothing."""
    total = math.exp(integral.log)
    if abs(total - 1) > 1e-3:
        raise ValueError(
            f"The mechanism's density given y={y:.6g} integrates to {total:.6g}, not 1, on the audit's "
            f"outputs. Give outputs=, a grid of real numbers that covers and resolves it; a mechanism with "
            f"discrete outputs needs a PureDP guarantee."
        )
