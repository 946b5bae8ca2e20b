"""The staircase mechanism: z = y + noise whose density falls in steps, by e^ε at each.

References
----------
Geng, Q. and Viswanath, P. (2014). The optimal mechanism in differential privacy. ISIT.
Geng, Q., Kairouz, P., Oh, S. and Viswanath, P. (2015). The staircase mechanism in differential privacy. IEEE Journal of
    Selected Topics in Signal Processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.ratios import ThreeRatios, budget
from privmix.parts import given
from privmix.parts.checks import check_bounds, fill, single

# The first step is about e^{−ε/2} of the bounds wide: beyond this floats cannot tell its edges apart.
LARGEST_EPSILON = 50.0
# Beyond this the first step is narrower than the cells on which a plan integrates.
LARGEST_PLANNED_EPSILON = 12.0
# Share of the narrower of two neighbouring steps that a release must move to tell another record. Of what a release
# tells of the variance of a component, a twentieth of the bounds wide, bins lost 6% with .8 at ε = .5, 1% with .3.
GRAIN = 0.3


@dataclass(frozen=True)
class Staircase(ThreeRatios):
    """Add noise of density a·e^{−mε}, where m counts the steps at (γ + 0)Δ, (γ + 1)Δ, … that |z − y| has passed.

    Geng and Viswanath (2014), with Δ the width of the bounds and a = (1 − e^−ε)/(2Δ(γ + e^−ε(1 − γ))). Of all noise
    that is added to a record and gives ε, this has the least mean |z − y| at the default γ = 1/(1 + e^{ε/2}). It is
    close to Laplace noise at small ε and much narrower at large ε. y outside the bounds counts as the nearest bound.

    Guarantee: ε-differential privacy for records inside the bounds, exact: |z − y| and |z − y'| differ by at most Δ,
    the distance of neighbouring steps, so the numbers of steps passed differ by at most one. Also ρ-zero-concentrated
    with the ρ of `zcdp`; the total variation that this needs is with `staircase_variation`.

    Parameters
    ----------
    epsilon
        Wanted ε, at most 50.
    bounds
        Range of a record, known without looking at the data.
    gamma
        Place γ of the first step in units of upper − lower, above 0 and at most 1, if not the default.
    rho
        Wanted zCDP budget instead of ε.
    """

    epsilon: float = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    gamma: float = None  # type: ignore[assignment]
    rho: float | None = given()
    drop: float = field(init=False, repr=False)
    log_top: float = field(init=False, repr=False)

    in_words = "each record was published with noise added to it, whose density falls in steps"
    details: ClassVar[dict[str, str]] = {"gamma": "place of the first step, in units of the bounds"}

    def __post_init__(self) -> None:
        bounds = check_bounds(self.bounds, needed_for="Staircase")
        assert bounds is not None
        if self.gamma is not None and not 0.0 < single("gamma", self.gamma) <= 1.0:
            raise ValueError(f"Staircase: gamma must be above 0 and at most 1; got {self.gamma!r}.")
        epsilon = budget("Staircase", self._variation_at, self.epsilon, self.rho, LARGEST_EPSILON)
        gamma = staircase_gamma(epsilon) if self.gamma is None else float(self.gamma)
        height = staircase_height(epsilon, gamma) / (bounds[1] - bounds[0])
        fill(self, epsilon=epsilon, bounds=bounds, gamma=gamma, drop=epsilon, log_top=math.log(height))

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: Any) -> list[Staircase]:
        """Return the one setting that a budget leaves; none where its first step is narrower than a plan can see."""
        if max(budget.get("epsilon", 0.0), budget.get("rho", 0.0)) > LARGEST_PLANNED_EPSILON:
            return []
        made = cls(bounds=bounds, **budget)
        return [made] if made.epsilon <= LARGEST_PLANNED_EPSILON else []

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return staircase_variation(self.epsilon, self.gamma)

    def _variation_at(self, epsilon: float) -> float:
        return staircase_variation(epsilon, staircase_gamma(epsilon) if self.gamma is None else self.gamma)

    def noise_spread(self) -> float:
        """Return the standard deviation of the noise."""
        return (self.bounds[1] - self.bounds[0]) * math.sqrt(staircase_variance(self.epsilon, self.gamma))

    def grain(self) -> float:
        """Return a share of the narrowest step: what tells records apart is on which step a release is.

        The noise is several times as wide; in bins of a tenth of its standard deviation the steps would be lost.
        """
        width = self.bounds[1] - self.bounds[0]
        return GRAIN * width * min(self.gamma, 1.0 - self.gamma) if self.gamma < 1.0 else GRAIN * width

    def period(self) -> float:
        """Return the width of the bounds: a release that is further out by as much has passed one step more."""
        return self.bounds[1] - self.bounds[0]

    def log_q(self, z, y):
        """Return log q(z|y): the height of the first step, less ε for each step passed."""
        inside = min(max(y, self.bounds[0]), self.bounds[1])
        if not abs(z) < math.inf:
            return -math.inf if z == z else math.nan
        return self.log_top - self.drop * _steps(self, abs(z - inside))

    def log_cell_means(self, z: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return log (1/|C|) ∫_C q(z|y) dy of cells in the bounds: a share at the nearest step, the rest beyond.

        Within the bounds |z − y| passes one step at most beside those that all values have passed.
        """
        width = self.bounds[1] - self.bounds[0]
        beyond = np.maximum(np.maximum(self.bounds[0] - z, z - self.bounds[1]), 0.0)
        passed = np.floor(beyond / width + 1.0 - self.gamma)[:, None]
        reach = (self.gamma + passed) * width
        share = np.diff(np.clip(edges - z[:, None], -reach, reach), axis=1) / np.diff(edges)
        return self.log_top - self.drop * passed + np.log(share + (1.0 - share) * math.exp(-self.drop))

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant: before, between and after two steps (hook)."""
        left, right = _edges(self, z)
        return 1 + int(left > self.bounds[0]) + int(right < self.bounds[1])

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0 (hook)."""
        left, right = _edges(self, z)
        return left if j == 1 and left > self.bounds[0] else right

    def cell_log_q(self, z, j):
        """Return log q(z|cell j): the nearest, or one step further (hook)."""
        left, _ = _edges(self, z)
        nearest = j == int(left > self.bounds[0])
        return self.log_top - self.drop * (_steps(self, _beyond(self, z)) + (0.0 if nearest else 1.0))

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y: on which side, after how many steps, and where on the step."""
        lower, upper = self.bounds
        fall = math.exp(-self.drop)
        whole = rng.geometric(-math.expm1(-self.drop), y.shape) - 1.0
        first = rng.random(y.shape) * (self.gamma + (1.0 - self.gamma) * fall) < self.gamma
        place = rng.random(y.shape)
        distance = whole + np.where(first, self.gamma * place, self.gamma + (1.0 - self.gamma) * place)
        sign = np.where(rng.random(y.shape) < 0.5, -1.0, 1.0)
        return np.clip(y, lower, upper) + sign * (upper - lower) * distance


def _steps(part, distance):
    """Return how many steps lie within a distance."""
    return math.floor(distance / (part.bounds[1] - part.bounds[0]) + 1.0 - part.gamma)


def _beyond(part, z):
    """Return how far z is outside the bounds."""
    return max(part.bounds[0] - z, z - part.bounds[1], 0.0)


def _edges(part, z):
    """Return the values of y at the next step on either side of z that is not passed by all values in the bounds."""
    width = part.bounds[1] - part.bounds[0]
    reach = (part.gamma + _steps(part, _beyond(part, z))) * width
    return z - reach, z + reach


def staircase_gamma(epsilon: float) -> float:
    """Return the place of the first step with the least mean absolute noise: 1/(1 + e^{epsilon/2}).

    Geng and Viswanath (2014), for the cost |x|.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    """
    return 1.0 / (1.0 + math.exp(0.5 * epsilon))


def staircase_height(epsilon: float, gamma: float) -> float:
    """Return the density at 0 for bounds of width 1: (1 - e^-epsilon)/(2 (gamma + e^-epsilon (1 - gamma))).

    With b = e^-epsilon, of each interval [m, m + 1) the part of length gamma has density a b^m and the rest a b^{m +
    1}, so that on one side the mass is a (gamma + b (1 - gamma)) (1 + b + b^2 + ...), which is 1/2.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    gamma : float
        Place of the first step.
    """
    return -math.expm1(-epsilon) / (2.0 * (gamma + math.exp(-epsilon) * (1.0 - gamma)))


def staircase_variation(epsilon: float, gamma: float) -> float:
    """Return the largest total variation between the releases of two records: P(|noise| < 1/2), bounds of width 1.

    The noise is symmetric and falls on either side. So of two records x apart the first is the likelier one where z is
    on its side of the middle, and the total variation is P(|noise| < x/2), which is largest at x = 1. Ratios of
    densities are e^epsilon, 1 and e^-epsilon, so nothing else of the two laws enters a Renyi divergence.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    gamma : float
        Place of the first step.
    """
    near = min(gamma, 0.5)
    return 2.0 * staircase_height(epsilon, gamma) * (near + math.exp(-epsilon) * (0.5 - near))


def staircase_variance(epsilon: float, gamma: float) -> float:
    """Return the variance of the noise for bounds of width 1.

    2a sum_m b^m (int_m^{m + gamma} x^2 dx + b int_{m + gamma}^{m + 1} x^2 dx) with b = e^-epsilon, by the sums of b^m,
    m b^m and m^2 b^m.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    gamma : float
        Place of the first step.
    """
    b, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    sums = 1.0 / rest, b / rest**2, b * (1.0 + b) / rest**3
    powers = [gamma**j + b * (1.0 - gamma**j) for j in (1, 2, 3)]
    return (
        2.0 * staircase_height(epsilon, gamma) * (powers[0] * sums[2] + powers[1] * sums[1] + powers[2] * sums[0] / 3.0)
    )
