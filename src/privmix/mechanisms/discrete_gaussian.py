"""The discrete Gaussian mechanism on a lattice: z = y rounded to the lattice, plus P(k steps) ∝ e^(−(kh)²/2η²).

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. NeurIPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from privmix.mechanisms.discrete_noise import (
    draw_discrete_gaussian,
    log_discrete_gaussian_between,
    log_discrete_gaussian_norm,
)
from privmix.mechanisms.gaussian import SAFETY, Gaussian, gaussian_scale
from privmix.mechanisms.lattice_noise import LatticeNoise, steps_from, whole_steps
from privmix.mechanisms.noise import distance_from
from privmix.parts import PerRecord, given
from privmix.parts.checks import FloatOrArray, plain, positive, probability
from privmix.privacy import ZCDP, ApproxDP


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(LatticeNoise):
    """Round each record to a lattice and add discrete Gaussian noise: for whole numbers, and for OpenDP's releases.

    Guarantee: with Δ = last point − first point, ρ-zero-concentrated differential privacy for ρ = Δ²/(2·scale²)
    (Canonne, Kamath and Steinke 2020, Theorem 4), or (ε, δ)-differential privacy by the exact profile,
    `discrete_gaussian_delta`.

    With more than 2,048 points, g(z|θ) is that of Gaussian noise on the line: the log of the likelihood of a record at
    distance d from its release is off by at most d·step/(2·scale²) + step²/(8·scale²). The likelihood of proposed
    records, log q, is always exact.

    Parameters
    ----------
    epsilon, delta
        Wanted (ε, δ); needs bounds. Gives the least noise that has it.
    bounds
        Range of a record, known without looking at the data. Kept as half a step beyond the first and the last point:
        the density is that of the value before it was rounded.
    rho
        Wanted zCDP budget instead of (ε, δ), a number or one for each record.
    scale
        η, in the units of the records, instead of a guarantee, a number or one for each record. The standard deviation
        of the noise is at most that, and all but equal to it where η is more than two steps.
    step
        Distance of neighbouring points, multiples of it.
    """

    epsilon: float | np.ndarray | None = given()
    delta: float | None = given()
    bounds: tuple[float, float] | None = given()
    rho: float | np.ndarray | None = given()
    scale: PerRecord = None  # type: ignore[assignment]
    step: float = field(default=1.0, metadata={"metavar": "H"})
    ends: tuple[float, float] = field(init=False, repr=False)
    log_norm: PerRecord = field(init=False, repr=False)

    smooth_noise = True

    def __post_init__(self) -> None:
        if (self.epsilon is None) != (self.delta is None):
            raise ValueError(
                "DiscreteGaussian has a guarantee in (ε, δ): give epsilon= and delta= together; got "
                f"epsilon={self.epsilon!r} and delta={self.delta!r}. For a single budget use rho=."
            )
        calibrate = partial(discrete_gaussian_scale, step=self.step)
        self.fill_lattice(calibrate, **({} if self.delta is None else {"delta": self.delta}))
        norms = [log_discrete_gaussian_norm(s) for s in np.ravel(np.asarray(self.scale) / self.step)]
        log_norm = plain(np.reshape(norms, np.shape(self.scale)))
        if isinstance(log_norm, np.ndarray):
            log_norm.setflags(write=False)
        object.__setattr__(self, "log_norm", log_norm)

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return (
            f"each record was rounded to a multiple of {self.step:g} and published with discrete Gaussian noise added"
        )

    @property
    def guarantee(self) -> ApproxDP | ZCDP | None:
        """(ε, δ)-DP where that was asked for, else ρ-zCDP of the least noisy record; None without bounds."""
        if self.bounds is None:
            return None
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(float(np.max(self.epsilon)), float(self.delta))
        return ZCDP(float(0.5 * (self.sensitivity / np.min(self.scale)) ** 2))

    def on_the_line(self) -> Gaussian:
        """Return the mechanism that this one tends to as the step goes to 0."""
        return Gaussian(scale=self.scale, bounds=self.bounds)

    def noise_spread(self) -> float:
        """Return η, over the records in the mean square."""
        return math.sqrt(float(np.mean(np.square(self.scale))))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return about log Φ(−d/η) for numbers at a distance d from the interval, a step nearer."""
        return log_ndtr(-np.maximum(distance_from(interval, z) - self.step, 0.0) / self.scale)

    def log_q(self, z, y):
        """Return log P(z|y)."""
        deviation = steps_from(self, z, y) * (self.step / self.scale)
        return -0.5 * deviation * deviation - self.log_norm

    def log_between(self, low, high, y):
        """Return log P(low < Z ≤ high|y)."""
        first, last = whole_steps(self, low, high, y)
        return log_discrete_gaussian_between(first, last, self.scale / self.step, self.log_norm)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        scale = np.broadcast_to(np.asarray(self.scale) / self.step, y.shape)
        return self.step * (self.to_points(y) + draw_discrete_gaussian(rng, scale, len(y)))


def discrete_gaussian_delta(sensitivity: float, scale: float, epsilon: float, step: float = 1.0) -> float:
    """Return the exact delta at epsilon of discrete Gaussian noise on one number.

    With D = sensitivity/step and s = scale/step, whole shifts of P(k) proportional to e^(-k^2/(2 s^2)): the loss of an
    output k is (2 k D + D^2)/(2 s^2), above epsilon from a = floor(epsilon s^2/D - D/2) + 1 on, so

        delta = P(K >= a) - e^epsilon P(K >= a + D)

    (Canonne, Kamath and Steinke 2020, Theorem 7).

    Parameters
    ----------
    sensitivity : float
        Distance of the two inputs, a multiple of the step.
    scale : float
        Scale of the noise.
    epsilon : float
        At least 0.
    step : float
        Step of the lattice.

    Returns
    -------
    float
        The smallest delta with which the noise is (epsilon, delta)-DP.
    """
    shift, s = float(np.rint(positive("sensitivity", sensitivity) / step)), float(positive("scale", scale) / step)
    return math.exp(min(_log_delta(shift, s, float(epsilon)), 0.0))


def _log_delta(shift: float, s: float, epsilon: float) -> float:
    """Return the log of the profile; −∞ where it underflows."""
    first, norm = math.floor(epsilon * s * s / shift - 0.5 * shift) + 1.0, log_discrete_gaussian_norm(s)
    above = log_discrete_gaussian_between(first, math.inf, s, norm)
    beyond = epsilon + log_discrete_gaussian_between(first + shift, math.inf, s, norm)
    return above + math.log(-math.expm1(beyond - above)) if beyond < above else -math.inf


def discrete_gaussian_scale(
    sensitivity: float,
    *,
    epsilon: ArrayLike | None = None,
    delta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    step: float = 1.0,
) -> FloatOrArray:
    """Return the scale of discrete Gaussian noise for a budget.

    With `rho` it is that of Gaussian noise, sensitivity/sqrt(2 rho): shifts by whole steps have the same Renyi
    divergences (Canonne, Kamath and Steinke 2020, Proposition 5). With `epsilon` and `delta` it is a root of the exact
    profile `discrete_gaussian_delta`, rounded up, near that of continuous noise.

    Parameters
    ----------
    sensitivity : float
        Distance of the two inputs, a multiple of the step.
    epsilon, delta : float or array
        Both or neither.
    rho : float or array
        Instead of epsilon and delta.
    step : float
        Step of the lattice.

    Returns
    -------
    float or ndarray
        An array where any argument is one.
    """
    start = gaussian_scale(sensitivity, epsilon=epsilon, delta=delta, rho=rho)
    if rho is not None:
        return start
    budgets = np.broadcast_arrays(positive("epsilon", epsilon), probability(delta), start)
    shift = float(np.rint(sensitivity / step))
    roots = [
        _least_scale(shift, float(e), math.log(d), float(s) / step)
        for e, d, s in zip(*map(np.ravel, budgets), strict=True)
    ]
    return plain(step * np.reshape(roots, budgets[0].shape))


def _least_scale(shift: float, epsilon: float, target: float, start: float) -> float:
    """Return a scale at which the log profile is at most the target, and no smaller is near."""
    low, high = 0.9 * start, 1.1 * start
    while _log_delta(shift, low, epsilon) <= target:
        low *= 0.7
    while _log_delta(shift, high, epsilon) > target:
        high *= 1.4
    from scipy.optimize import brentq  # loads slowly

    root = brentq(lambda x: _log_delta(shift, math.exp(x), epsilon) - target, math.log(low), math.log(high), rtol=1e-14)
    scale = math.exp(root) * (1 + SAFETY)
    while _log_delta(shift, scale, epsilon) > target:
        scale *= 1 + SAFETY
    return scale
