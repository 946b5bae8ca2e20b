"""Records that are one of a few named categories, with a Dirichlet base measure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from privmix.jit import constant, lookup
from privmix.kernels.base import Kernel
from privmix.kernels.slots import log_moved, log_scale, parameter_count, shift
from privmix.numerics import log_gamma_variate, uniform
from privmix.parts import given
from privmix.parts.checks import check_categories, fill
from privmix.parts.checks import positive as positive_numbers

# The least share of a category: its logarithm is finite, and nothing else notices.
LEAST_SHARE = 1e-300


@dataclass(frozen=True, eq=False)
class Categorical(Kernel):
    """Components in which a record is category j with probability θ_j, and θ ~ Dirichlet(weight).

    A record is the place of its category, 0, 1, …; columns of text or of a categorical type are read by name.

    Parameters
    ----------
    categories
        The names, in their order; known without looking at the data.
    weight
        Of each category in the base measure, as that of so many records: a number for all, or one for each. At 1 all
        shares are equally likely; below, components keep to few categories.

    Examples
    --------
    >>> Categorical(("no", "yes")).parameters
    ('share_no', 'share_yes')
    """

    categories: Sequence[str]
    weight: float | Sequence[float] = given(1.0)
    weights: np.ndarray = field(init=False, repr=False)

    offered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        categories = check_categories("Categorical", self.categories)
        each = positive_numbers("weight", self.weight)
        if each.ndim > 1 or (each.ndim == 1 and len(each) != len(categories)):
            raise ValueError(
                f"Categorical: weight must be a number, or one for each of {len(categories)} categories; got "
                f"{self.weight!r}."
            )
        weights = np.broadcast_to(each, len(categories)).copy()
        weights.setflags(write=False)
        weight = float(each) if each.ndim == 0 else tuple(float(value) for value in each)
        fill(self, categories=categories, weight=weight, weights=weights)

    @classmethod
    def for_mechanism(cls, mechanism: Any) -> Self:
        """Return the kernel over a mechanism's categories."""
        if mechanism.categories is None:
            raise ValueError(f"Categorical needs categories, and {type(mechanism).__name__} has numbers.")
        return cls(mechanism.categories)

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The share of each category, by its name as far as a variable can have it."""
        names = [re.sub(r"\W+", "_", category) for category in self.categories]
        alike = len(set(names)) < len(names)
        return tuple(f"share_{name}_{j}" if alike else f"share_{name}" for j, name in enumerate(names))

    @property
    def positive(self) -> tuple[str, ...]:  # type: ignore[override]
        """All of them."""
        return self.parameters

    @property
    def constants(self) -> int:  # type: ignore[override]
        """A logarithm for each share."""
        return len(self.categories)

    @property
    def support(self) -> tuple[float, float]:
        """From the first place to the last."""
        return 0.0, len(self.categories) - 1.0

    def move_inside(self, y: np.ndarray) -> np.ndarray:
        """Return the nearest places of categories."""
        return np.clip(np.round(y), *self.support)

    def log_f(self, y, theta):
        """Return log θ_y; −∞ where y is no place of a category."""
        count = len(self.weights)
        return theta[count + int(y)] if 0.0 <= y < count and y == math.floor(y) else -math.inf

    def sample(self, rng, theta):
        """Draw the place of a category."""
        u, j = uniform(rng), 0
        while j < len(self.weights) - 1 and u >= theta[j]:
            u -= theta[j]
            j += 1
        return float(j)

    def base(self, rng, theta):
        """Draw θ ~ Dirichlet(weight)."""
        for j in range(len(self.weights)):
            theta[j] = self.weights[j]
        draw_shares(rng, theta, len(self.weights))

    def update(self, rng, theta, ys, tune):
        """Draw θ ~ Dirichlet(weight + counts), its conditional given the records."""
        for j in range(len(self.weights)):
            theta[j] = self.weights[j]
        for i in range(len(ys)):
            if 0.0 <= ys[i] < len(self.weights):
                theta[int(ys[i])] += 1.0
        draw_shares(rng, theta, len(self.weights))

    def log_moved(self, theta, hyper):
        """Return the log density of Dirichlet(weight), of all shares but the last, up to a constant."""
        total = 0.0
        for j in range(len(self.weights)):
            total += (self.weights[j] - 1.0) * theta[len(self.weights) + j]
        return total

    def shift(self, theta, p, step):
        """Multiply one share and divide all by their sum; return the log Jacobian, Σ log θ after less that before.

        A step in log(θ_p/θ_q), the same for every other q, whose reverse is the step back.
        """
        count, total = len(self.weights), 0.0
        if p == count:
            return 0.0  # all of them together stay as they are
        theta[p] *= math.exp(step)
        for j in range(count):
            total += theta[j]
        for j in range(count):
            theta[j] = max(theta[j] / total, LEAST_SHARE)
        return step - count * math.log(total)

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this kernel fills, those of a walk on its shares among them."""
        count = len(self.parameters)
        hooks = super().hooks()
        hooks |= {parameter_count: constant(count), log_scale: lookup((True,) * count)}
        hooks |= {log_moved: type(self).log_moved, shift: type(self).shift}
        return hooks

    def prepare(self, theta):
        """Keep log θ_j."""
        for j in range(len(self.weights)):
            theta[len(self.weights) + j] = math.log(theta[j])


def draw_shares(rng, theta, count):
    """Replace the weights of a Dirichlet law by a draw of it, by way of logarithms: small weights underflow."""
    top, total = -math.inf, 0.0
    for j in range(count):
        theta[j] = log_gamma_variate(rng, theta[j])
        top = max(top, theta[j])
    for j in range(count):
        theta[j] = math.exp(theta[j] - top)
        total += theta[j]
    for j in range(count):
        theta[j] = max(theta[j] / total, LEAST_SHARE)
