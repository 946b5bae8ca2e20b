"""Densities that the studies draw their data from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from privmix.mechanisms import Mechanism
from privmix.studies.runner import derive_seed


@dataclass(frozen=True)
class Target:
    """A mixture, cut to an interval.

    Parameters
    ----------
    components
        Frozen distributions of scipy.
    bounds
        The interval.
    weights
        Of the components before they are cut, with sum one; equal where none are given.
    """

    components: tuple
    bounds: tuple[float, float]
    weights: tuple[float, ...] = ()

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return n records and the component of each."""
        y, label = np.full(n, np.inf), np.zeros(n, np.int64)
        while (outside := np.flatnonzero((y < self.bounds[0]) | (y > self.bounds[1]))).size:
            label[outside] = rng.choice(len(self.components), size=outside.size, p=self.weights or None)
            for k, component in enumerate(self.components):
                here = outside[label[outside] == k]
                y[here] = component.rvs(size=here.size, random_state=rng)
        return y, label

    def release(
        self, name: str, mechanism: Mechanism, *, records: int, replicate: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the records of a data set, the component of each, and their release.

        Whatever the mechanism, a data set of that name, size and replicate has the same records, and the same noise in
        units of its scale: comparisons are paired.
        """
        of_records, of_noise = derive_seed(name, records=records, replicate=replicate).spawn(2)
        y, label = self.draw(np.random.default_rng(of_records), records)
        return y, label, mechanism.privatize(y, seed=np.random.default_rng(of_noise))

    def density(self, grid: np.ndarray) -> np.ndarray:
        """Return the density at each point."""
        lower, upper = self.bounds
        weights = self.weights or (1.0,) * len(self.components)
        pairs = list(zip(weights, self.components, strict=True))
        mass = sum(weight * (one.cdf(upper) - one.cdf(lower)) for weight, one in pairs)
        values = sum(weight * one.pdf(grid) for weight, one in pairs) / mass
        return np.where((grid >= lower) & (grid <= upper), values, 0.0)

    def uniform_error(self) -> float:
        """Return the L1 error of the uniform density: above it an estimate says less than nothing."""
        lower, upper = self.bounds
        return float(abs(self.density(self.grid(2000)) * (upper - lower) - 1.0).mean())

    def grid(self, points: int) -> np.ndarray:
        """Return the middles of equal cells of the interval: a beta density may be infinite at its ends."""
        lower, upper = self.bounds
        return lower + (upper - lower) * (np.arange(points) + 0.5) / points


# Sections 4.1 and 4.3: variance one, means −5, 0 and 5, cut to [−10, 10].
THREE_NORMALS = Target(tuple(stats.norm(centre, 1.0) for centre in (-5.0, 0.0, 5.0)), (-10.0, 10.0))
# Section 4.2.
THREE_BETAS = Target((stats.beta(5, 50), stats.beta(50, 50), stats.beta(50, 5)), (0.0, 1.0))
# Two that no method was tuned to: a long right tail, and a flat part with edges beside a normal.
SKEWED = Target((stats.gamma(2.0, loc=-9.0, scale=2.0),), (-10.0, 10.0))
HALF_UNIFORM = Target((stats.uniform(-8.0, 6.0), stats.norm(4.0, 1.0)), (-10.0, 10.0))

# Densities that do not vanish at the bounds.
FLAT = Target((stats.uniform(0.0, 10.0),), (0.0, 10.0))
EXPONENTIAL = Target((stats.expon(scale=2.0),), (0.0, 10.0))
HALF_NORMAL = Target((stats.halfnorm(),), (0.0, 10.0))
RAMP = Target((stats.triang(1.0, loc=0.0, scale=10.0),), (0.0, 10.0))
TWO_EDGES = Target((stats.norm(0.0, 0.8), stats.norm(10.0, 0.8)), (0.0, 10.0))
# As incomes: 12% in the lowest hundredth of the range, the rest log-normal.
INFLATED_EDGE = Target((stats.uniform(0.0, 0.1), stats.lognorm(0.6, scale=2.5)), (0.0, 10.0), (0.12, 0.88))
# Four waves 1 + ½ cos, flat on average: half is uniform, half four raised cosines side by side.
WAVES = tuple(stats.cosine(loc=centre, scale=1.25 / np.pi) for centre in (1.25, 3.75, 6.25, 8.75))
RIPPLE = Target((stats.uniform(0.0, 10.0), *WAVES), (0.0, 10.0), (0.5, *(0.125,) * 4))
# Densities that do.
UNEQUAL_MODES = Target((stats.norm(-4.0, 2.0), stats.norm(5.0, 0.7)), (-10.0, 10.0), (0.75, 0.25))
# Marron and Wand (1992), number 10: five peaks, each an eightieth of the range wide.
PEAKS = tuple(stats.norm(centre, 0.1) for centre in (-1.0, -0.5, 0.0, 0.5, 1.0))
CLAW = Target((stats.norm(), *PEAKS), (-4.0, 4.0), (0.5, *(0.1,) * 5))
HEAVY_TAILS = Target((stats.cauchy(0.0, 0.5),), (-10.0, 10.0))
# Bounds four times as wide as they need be, the data to one side.
LOOSE_NORMAL = Target((stats.norm(-5.0, 1.0),), (-12.0, 12.0))
LOOSE_MODES = Target((stats.norm(-6.5, 0.5), stats.norm(-3.5, 0.5)), (-12.0, 12.0))
