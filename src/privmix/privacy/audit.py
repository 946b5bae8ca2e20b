"""Does a local mechanism keep its promise? The worst case over inputs and outputs, against the claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privmix.privacy.divergences import (
    Array,
    Integral,
    LogDensity,
    hockey_stick,
    integrate_on,
    log_integral,
    renyi,
)
from privmix.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP

# Log-ratios are exact up to rounding; integrals on 20001 points are good to about 1e-6 for smooth densities,
# and to 1e-4 for densities with jumps.
RATIO_TOLERANCE, INTEGRAL_TOLERANCE = 1e-9, 1e-4
# A claim is tight when the worst case found comes within one in a hundred of it.
TIGHT = 0.99
ALPHAS = (1.01, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
# Divergences are taken between all ordered pairs of this many inputs, both ends among them.
ANCHORS = 7
# Numbers handed to logpdf at once: 8 MB of outputs.
CHUNK = 2**20


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Parameters
    ----------
    worst : float
        The largest log-ratio (pure, or no claim), delta at the claimed epsilon (approximate), or
        D_alpha / alpha (zero-concentrated) that was found. A lower bound of the truth: the search is on a
        grid.
    claimed : float or None
        The epsilon, delta or rho that the mechanism claims.
    z : float or ndarray
        The output of the worst case; for an integral, where its integrand is largest.
    y, y_prime : float
        The inputs of the worst case: q(z|y) against q(z|y_prime).
    holds : bool or None
        False where the worst case breaks the claim.
    tight : bool or None
        True where the claim holds and the worst case comes within one in a hundred of it.
    guarantee : Guarantee or None
        The claim itself.
    """

    worst: float
    claimed: float | None
    z: Any
    y: float
    y_prime: float
    holds: bool | None
    tight: bool | None
    guarantee: Guarantee | None = None

    @property
    def gap(self) -> float | None:
        """Claimed minus worst: what the claim gives away; negative where it is false."""
        return None if self.claimed is None else self.claimed - self.worst

    def __str__(self) -> str:
        what = _parameter(self.guarantee).replace("epsilon", "log-ratio")
        z = np.array2string(np.asarray(self.z), precision=6, threshold=8)
        where = f"at z = {z}, y = {self.y:.6g} against y' = {self.y_prime:.6g}"
        if self.claimed is None:
            return f"no claim; worst {what} {self.worst:.6g} {where}"
        verdict = ("holds, tight" if self.tight else "holds, loose") if self.holds else "BROKEN"
        found = f"worst {what} {self.worst:.6g}, claimed {self.claimed:.6g}"
        return f"{self.guarantee!r}: {verdict}; {found}, {where}"


def audit(
    mechanism: Any,
    inputs: ArrayLike | None = None,
    outputs: ArrayLike | None = None,
    size: int = 2048,
    seed: int = 0,
) -> Audit:
    """Look for the worst case of a local mechanism and compare it with the mechanism's claim.

    The claim decides what is measured, over pairs of inputs y, y' (all are neighbours for a local mechanism):

    - `PureDP`, or no guarantee: max log q(z|y) - log q(z|y') over all pairs of inputs and all outputs;
    - `ApproxDP`: delta = int (q(z|y) - e^epsilon q(z|y'))_+ dz at the claimed epsilon;
    - `ZCDP`: D_alpha(q(.|y) || q(.|y')) / alpha for alpha between 1.01 and 64.

    A grid can only miss a worse case, never invent one: a broken claim is broken, one that holds holds on the
    grid. The arithmetic of the released noise (floating point) is not audited.

    Parameters
    ----------
    mechanism : object
        With ``logpdf(z, y)`` over records, ``guarantee``, and ``bounds`` and ``privatize(y, seed=)`` where
        inputs and outputs are left to the audit. Noise must be the same for every record.
    inputs : array, optional
        Default: 257 points from bound to bound and the floats just left of them, so that both sides of
        every dyadic edge are met.
    outputs : array, optional
        Default: `size` draws of the mechanism, and for real outputs `size` points from lo - 3W to hi + 3W,
        W = hi - lo. For `ApproxDP` and `ZCDP` a grid that finds its own window.
    size : int
        Number of draws.
    seed : int
        Of the draws.

    Returns
    -------
    Audit
        The worst case, the claim, and whether it holds.
    """
    claim = getattr(mechanism, "guarantee", None)
    y = _inputs(mechanism, inputs)
    if claim is None or isinstance(claim, PureDP):
        z = _outputs(mechanism, y, size, seed) if outputs is None else np.asarray(outputs)
        return _conclude(claim, *_worst_ratio(mechanism, z, y))
    if not isinstance(claim, ApproxDP | ZCDP):
        raise TypeError(
            f"The mechanism claims {claim!r}, which the audit cannot read. Its guarantee must be a PureDP, "
            f"ApproxDP or ZCDP, or None."
        )
    return _conclude(claim, *_worst_divergence(mechanism, claim, y, outputs, seed))


def _conclude(claim: Guarantee | None, worst: float, z: Any, y: float, y_prime: float) -> Audit:
    """Compare the worst case with the claim."""
    if claim is None:
        return Audit(worst, None, z, y, y_prime, None, None)
    claimed = float(getattr(claim, _parameter(claim)))
    tolerance = RATIO_TOLERANCE if isinstance(claim, PureDP) else INTEGRAL_TOLERANCE
    holds = bool(worst <= claimed * (1 + tolerance))
    return Audit(worst, claimed, z, y, y_prime, holds, holds and worst >= TIGHT * claimed, claim)


def _parameter(claim: Guarantee | None) -> str:
    """Return the name of the parameter that the worst case is compared with."""
    if isinstance(claim, ApproxDP):
        return "delta"
    return "rho" if isinstance(claim, ZCDP) else "epsilon"


def _inputs(mechanism: Any, inputs: ArrayLike | None) -> Array:
    """Return the inputs to try, sorted."""
    if inputs is not None:
        y = np.unique(np.asarray(inputs, dtype=np.float64))
        if y.size < 2:
            raise ValueError(
                f"The audit was given {y.size} distinct inputs, but needs at least two to tell apart. "
                f"Give both bounds of the domain, or leave inputs out."
            )
        return y
    bounds = getattr(mechanism, "bounds", None)
    if bounds is None or not np.isfinite(bounds).all():
        raise ValueError(
            f"The audit was given a mechanism with bounds={bounds!r} and no inputs, but needs to know which "
            f"values are neighbours. Give inputs=, an array of values to try."
        )
    low, high = bounds
    grid = np.linspace(low, high, 257)
    return np.unique(np.concatenate([grid, np.nextafter(grid[1:], low)]))


def _outputs(mechanism: Any, y: Array, size: int, seed: int) -> Array:
    """Return the outputs to try: the mechanism's own, and a grid around the domain where they are real."""
    draws = np.asarray(mechanism.privatize(np.resize(y, max(size, 1)), seed=seed))
    if draws.ndim > 1 or not np.issubdtype(draws.dtype, np.floating):
        return np.unique(draws, axis=0)
    width = y[-1] - y[0]
    return np.union1d(draws, np.linspace(y[0] - 3 * width, y[-1] + 3 * width, max(size, 2)))


def _worst_ratio(mechanism: Any, z: Array, y: Array) -> tuple[float, Any, float, float]:
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


def _worst_divergence(
    mechanism: Any, claim: ApproxDP | ZCDP, y: Array, outputs: ArrayLike | None, seed: int
) -> tuple[float, Any, float, float]:
    """Return the largest delta, or D_alpha / alpha, over ordered pairs of a few inputs."""
    _need_real_outputs(mechanism, y, outputs, seed)
    anchors = y[np.unique(np.linspace(0, y.size - 1, ANCHORS).round().astype(int))]
    density = {a: partial(_log_density, mechanism, a) for a in anchors}
    integrate = partial(_integrate, y=y, outputs=outputs)
    for a in anchors:
        _need_total_one(integrate(density[a]), a)
    found = []
    for a, b in permutations(anchors, 2):
        divergence, z = _divergence(claim, density[a], density[b], integrate)
        found.append((divergence, z, float(a), float(b)))
    return max(found, key=lambda case: case[0])


def _divergence(
    claim: ApproxDP | ZCDP, log_p: LogDensity, log_q: LogDensity, integrate: Callable[[LogDensity], Integral]
) -> tuple[float, float]:
    """Return the claim's divergence between two output laws, and where its integrand is largest."""
    if isinstance(claim, ApproxDP):
        integral = integrate(hockey_stick(log_p, log_q, claim.epsilon))
        return math.exp(integral.log), integral.mode
    integrals = [(alpha, integrate(renyi(log_p, log_q, alpha))) for alpha in ALPHAS]
    return max((found.log / (alpha * (alpha - 1)), found.mode) for alpha, found in integrals)


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
