"""Skeleton of a mechanism that perturbs each record by itself: Cauchy noise, q(z|y), with its guarantee.

Copy it, then change what is marked CHANGE. Run it to audit its claim and to test it in a fit.
"""

import math
from dataclasses import dataclass

from privmix import PrivateMixture, samplers
from privmix.mechanisms import LocalMechanism
from privmix.privacy import PureDP, audit
from privmix.testing import check_sampler


@dataclass(frozen=True)
class CauchyNoise(LocalMechanism):
    """Add Cauchy noise: ε-DP for records within the bounds, with ε = 2 asinh(width/(2 scale)).

    Proof: the ratio (1 + (x + d)²)/(1 + x²) is largest at x = (√(d² + 4) − d)/2, where it is (d/2 + √(1 + d²/4))², the
    square of exp(asinh(d/2)); d is the distance of two records over the scale, at most width/scale.
    """

    # CHANGE: the size of the noise, and the bounds of a record. `privatize` clips to them.
    scale: float = 1.0
    bounds: tuple[float, float] = (-10.0, 10.0)

    # CHANGE: what is promised, with its proof above; None where nothing is.
    @property
    def guarantee(self):
        return PureDP(2.0 * math.asinh(0.5 * (self.bounds[1] - self.bounds[0]) / self.scale))

    # CHANGE: the density of one release given one record (compiled: see the rules of hooks), and
    def log_q(self, z, y):
        x = (z - y) / self.scale
        return -math.log(math.pi * self.scale) - math.log1p(x * x)

    # CHANGE: the releases of all records (NumPy, not compiled).
    def perturb(self, rng, y):
        return y + self.scale * rng.standard_cauchy(y.shape)


if __name__ == "__main__":
    mechanism = CauchyNoise(scale=2.0)
    print(audit(mechanism))
    print(check_sampler(PrivateMixture(mechanism), samplers.Neal5()))
