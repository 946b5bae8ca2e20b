"""The discrete Laplace mechanism on a lattice: z = y rounded to the lattice, plus noise with P(k steps) ∝ e^(−|k|h/b).

References
----------
Ghosh, A., Roughgarden, T. and Sundararajan, M. (2009). Universally utility-maximizing privacy mechanisms. STOC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from privmix.mechanisms.discrete_noise import draw_discrete_laplace, log_discrete_laplace_between
from privmix.mechanisms.laplace import Laplace, laplace_scale
from privmix.mechanisms.lattice_noise import LatticeNoise, steps_from, whole_steps
from privmix.mechanisms.noise import distance_from
from privmix.parts import PerRecord, given
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class DiscreteLaplace(LatticeNoise):
    """Round each record to a lattice and add discrete Laplace noise: for whole numbers, and for OpenDP's releases.

    Guarantee: ε-differential privacy with ε = (last point − first point)/scale: the log-ratio of two probabilities is
    (|z − y'| − |z − y|)/scale, at most the distance of the two points, and reaches it beyond either of them (Ghosh,
    Roughgarden and Sundararajan 2009). Where records have scales of their own, it is that of the least noise.

    A release of OpenDP's ``make_laplace`` with granularity 2^k is ``DiscreteLaplace(scale=…, step=2.0**k, …)``. With
    more than 2,048 points, g(z|θ) is that of Laplace noise on the line: for every record its log is off by at most
    step/(2·scale) and a term of second order. The likelihood of proposed records, log q, is always exact.

    Parameters
    ----------
    epsilon
        Wanted ε, a number or one for each record; needs bounds.
    bounds
        Range of a record, known without looking at the data. Kept as half a step beyond the first and the last point:
        the density is that of the value before it was rounded.
    rho
        Wanted zCDP budget instead of ε: uses ε = √(2ρ).
    scale
        Scale of the noise, in the units of the records, instead of a guarantee; a number or one for each record.
    step
        Distance of neighbouring points, multiples of it.

    Examples
    --------
    >>> ages = DiscreteLaplace(epsilon=1.0, bounds=(0, 100))
    >>> ages.scale, ages.bounds
    (100.0, (-0.5, 100.5))
    """

    epsilon: float | np.ndarray | None = given()
    bounds: tuple[float, float] | None = given()
    rho: float | np.ndarray | None = given()
    scale: PerRecord = None  # type: ignore[assignment]
    step: float = field(default=1.0, metadata={"metavar": "H"})
    ends: tuple[float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.fill_lattice(laplace_scale)

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        return f"each record was rounded to a multiple of {self.step:g} and published with discrete Laplace noise"

    @property
    def guarantee(self) -> PureDP | None:
        """Pure ε-DP of the least noisy record, or None without bounds."""
        return None if self.bounds is None else PureDP(float(self.sensitivity / np.min(self.scale)))

    def on_the_line(self) -> Laplace:
        """Return the mechanism that this one tends to as the step goes to 0."""
        return Laplace(scale=self.scale, bounds=self.bounds)

    def noise_spread(self) -> float:
        """Return the standard deviation of the noise, h/(√2 sinh(h/2b)), over the records in the mean square."""
        return float(np.sqrt(np.mean(np.square(self.step / np.sinh(0.5 * self.step / np.asarray(self.scale))) / 2.0)))

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return −d/b for numbers at a distance d from the interval."""
        return -np.maximum(distance_from(interval, z) - self.step, 0.0) / self.scale

    def log_q(self, z, y):
        """Return log P(z|y) = −|z − point|/b + log tanh(h/2b)."""
        rate = self.step / self.scale
        return -abs(steps_from(self, z, y)) * rate + math.log(math.tanh(0.5 * rate))

    def log_between(self, low, high, y):
        """Return log P(low < Z ≤ high|y)."""
        first, last = whole_steps(self, low, high, y)
        return log_discrete_laplace_between(first, last, self.scale / self.step)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        scale = np.broadcast_to(np.asarray(self.scale) / self.step, y.shape)
        return self.step * (self.to_points(y) + draw_discrete_laplace(rng, scale, len(y)))
