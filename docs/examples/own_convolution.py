"""A convolution of one's own: uniform noise on a normal kernel, so that exact samplers serve the pair.

Run it: g is compared with quadrature, then a sampler that uses it is tested and run; so is the pair by hooks of cells.
"""

import math
from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, samplers
from privmix.kernels import Normal
from privmix.mechanisms import LocalMechanism
from privmix.pairs import Convolution, register
from privmix.testing import check_sampler

# Hooks of the kernel as plain functions: P(lower < Y ≤ upper|θ), and a draw of Y between two ends.
mass = Normal.mass
sample_between = Normal.sample_between


@dataclass(frozen=True)
class UniformNoise(LocalMechanism):
    """Add noise that is uniform on ±reach: no privacy, a mechanism to learn from."""

    reach: float = 1.0

    def log_q(self, z, y):
        return -math.log(2.0 * self.reach) if abs(z - y) <= self.reach else -math.inf

    def perturb(self, rng, y):
        return y + self.reach * rng.uniform(-1.0, 1.0, size=y.shape)


def log_g(mechanism, kernel, z, theta):
    """Return log g(z|θ): the mass of the kernel within reach of z, over the length of that interval."""
    near = mass(kernel, z - mechanism.reach, z + mechanism.reach, theta)
    return math.log(near / (2.0 * mechanism.reach)) if near > 0.0 else -math.inf


def sample(mechanism, kernel, rng, z, theta):
    """Draw Y given z: the kernel, truncated to what is within reach of z."""
    return sample_between(kernel, rng, theta, z - mechanism.reach, z + mechanism.reach)


UNIFORM_NORMAL = Convolution("uniform-normal", log_g, sample)
register(UniformNoise, Normal, UNIFORM_NORMAL)


@dataclass(frozen=True)
class UniformByCells(LocalMechanism):
    """The same noise with the hooks of cells: q(z|·) is constant below, within and above the reach."""

    reach: float = 1.0

    log_q = UniformNoise.log_q
    perturb = UniformNoise.perturb

    def cell_count(self, z):
        return 3

    def cell_edge(self, z, j):
        return z - self.reach if j == 1 else z + self.reach

    def cell_log_q(self, z, j):
        return -math.log(2.0 * self.reach) if j == 1 else -math.inf


def quadrature(mechanism, kernel, z, theta):
    """Return log ∫ q(z|y) f(y|θ) dy by the midpoint rule."""
    y = z + mechanism.reach * (np.arange(-2000, 2000) + 0.5) / 2000
    return math.log(np.mean([math.exp(kernel.log_f(point, theta)) for point in y]))


def main():
    model = PrivateMixture(UniformNoise(reach=3.0))
    assert model.convolution is UNIFORM_NORMAL
    theta = np.array([1.0, 2.0, *[0.0] * model.kernel.constants])
    model.kernel.prepare(theta)
    for z in (-4.0, 0.0, 2.5, 9.0):
        ours = log_g(model.mechanism, model.kernel, z, theta)
        exact = quadrature(model.mechanism, model.kernel, z, theta)
        assert math.isclose(ours, exact, abs_tol=1e-5), (z, ours, exact)

    print(check_sampler(model, samplers.Neal8()))

    # Hooks of cells serve every kernel with a distribution function; nothing is registered.
    by_cells = PrivateMixture(UniformByCells(reach=3.0))
    assert by_cells.convolution.name == "piecewise constant"
    print(check_sampler(by_cells, samplers.Neal8(), pairs=5_000))

    z = model.mechanism.privatize(np.random.default_rng(1).normal(3.0, 1.0, 200), seed=2)
    posterior = model.sample(z, samplers.Neal8(), draws=500, warmup=500, thin=1, chains=2, seed=3)
    peak = float(posterior.density(np.linspace(-5.0, 10.0, 151))["mean"].idxmax())
    assert 2.0 < peak < 4.0, peak
    print(f"density of the confidential data peaks at {peak:.1f}")


if __name__ == "__main__":
    main()
