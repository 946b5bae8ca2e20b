"""The normal kernel with a base measure that learns its own location and scale: the default of `privmix.fit`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from privmix.kernels.learned_base import LEARNED, LearnedBase
from privmix.kernels.normal_kernel import NormalKernel
from privmix.numerics import gamma, normal
from privmix.parts.checks import check_interval

# Shape of the inverse-gamma prior of a component's variance: its mean exists, its tail lets components be wide.
SHAPE = 3.0


@dataclass(frozen=True)
class HierarchicalNormal(LearnedBase, NormalKernel):
    """Normal components N(μ, σ²) with independent μ ~ N(location, spread) and σ² ~ InverseGamma(3, rate), all learned.

    With width W and midpoint M of the bounds: location ~ N(M, (W/4)²), spread ~ InverseGamma(2, (W/4)²) and
    rate ~ Gamma(2, 2/(3(W/20)²)), whose mean is 3(W/20)². Nothing but the bounds enters, and all scales with them:
    data and bounds times c give the same fit, stretched by c. Learning the rate is what makes loose bounds harmless.

    Parameters
    ----------
    bounds
        Range that the data are known to lie in.
    """

    bounds: tuple[float, float] = (0.0, 1.0)
    shape: float = field(default=SHAPE, init=False, repr=False)
    fixed: tuple[float, float, float] = field(default=(LEARNED, LEARNED, LEARNED), init=False, repr=False)

    def __post_init__(self) -> None:
        check_interval(self, "bounds")

    def update(self, rng, theta, ys, tune, hyper):
        """Draw μ given σ², then σ² given μ: each from its conditional."""
        n = len(ys)
        total = 0.0
        for j in range(n):
            total += ys[j]
        precision = 1.0 / hyper[1] + n / theta[1]
        theta[0] = (hyper[0] / hyper[1] + total / theta[1]) / precision + normal(rng) / math.sqrt(precision)
        squares = 0.0
        for j in range(n):
            deviation = ys[j] - theta[0]
            squares += deviation * deviation
        theta[1] = (hyper[2] + 0.5 * squares) / gamma(rng, self.shape + 0.5 * n)
