"""EM on cells: the likelihood of a cell, the maximum, the smoothing and the stopping rules."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize, stats

from privmix import mechanisms
from privmix.baselines import EM, EMS
from privmix.baselines.cells import cell_likelihood
from privmix.mechanisms import LocalMechanism
from privmix.parts import given

BOUNDS = (-3.0, 5.0)
EDGES = np.linspace(*BOUNDS, 6)


@dataclass(frozen=True)
class Logistic(LocalMechanism):
    """Logistic noise: a mechanism without closed forms here."""

    scale: float = 1.0
    bounds: tuple[float, float] | None = given()

    def log_q(self, z, y):
        x = (z - y) / self.scale
        return -x - 2.0 * math.log1p(math.exp(-x)) - math.log(self.scale)

    def perturb(self, rng, y):
        return y + rng.logistic(0.0, self.scale, y.shape)


MECHANISMS = {
    "laplace": mechanisms.Laplace(scale=0.7, bounds=BOUNDS),
    "sharp": mechanisms.Laplace(scale=0.01, bounds=BOUNDS),
    "gaussian": mechanisms.Gaussian(scale=0.7, bounds=BOUNDS),
    "by record": mechanisms.Gaussian(scale=np.array([0.1, 0.5, 1.0, 2.0, 4.0, 8.0]), bounds=BOUNDS),
    "haar": mechanisms.HaarWavelet(levels=2, scale=0.6, bounds=BOUNDS),
    "response": mechanisms.RandomizedResponse(cells=7, epsilon=2.0, bounds=BOUNDS),
    "wave": mechanisms.SquareWave(epsilon=3.0, bounds=BOUNDS),
    "narrow wave": mechanisms.SquareWave(epsilon=12.0, bounds=BOUNDS),
    "logistic": Logistic(scale=0.6, bounds=BOUNDS),
}


def integral(mechanism, z, lower, upper):
    """Return ∫ q(z|y) dy by panels of 40 nodes that are cut where the density may jump or bend."""
    cuts = {lower, upper, *np.linspace(lower, upper, 9), *np.linspace(*BOUNDS, 9), *np.linspace(*BOUNDS, 8)}
    if np.ndim(z) == 0:
        near = np.array([-0.3, -0.1, -0.03, 0.0, 0.03, 0.1, 0.3])
        cuts |= {z - getattr(mechanism, "reach", 0.0), z + getattr(mechanism, "reach", 0.0), *(z + near)}
    cuts = np.array(sorted(cut for cut in cuts if lower <= cut <= upper))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = 0.5 * np.diff(cuts)[:, None]
    y = cuts[:-1, None] + half * (1.0 + nodes)
    return float((half * weights * np.exp(mechanism.logpdf(z, y))).sum())


def alone(mechanism, i):
    """Return the mechanism as record i sees it."""
    return (
        mechanism if np.ndim(getattr(mechanism, "scale", 1.0)) == 0 else mechanisms.Gaussian(scale=mechanism.scale[i])
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_cell_likelihood_is_the_mean_of_the_density(name):
    mechanism = MECHANISMS[name]
    z = mechanism.privatize(np.linspace(*BOUNDS, 6), seed=3)
    values, top = cell_likelihood(mechanism, z, EDGES)
    found = values * np.exp(top)[:, None]
    mass = [[integral(alone(mechanism, i), z[i], *EDGES[k : k + 2]) for k in range(5)] for i in range(6)]
    wanted = mass / np.diff(EDGES)
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_cells_far_away_keep_their_digits(name):
    """Far out the ratio of neighbouring cells is known: e^{w/b} for Laplace, and from mpmath's tails for Gauss."""
    mpmath = pytest.importorskip("mpmath")
    values, top = cell_likelihood(MECHANISMS[name], np.array([60.0]), EDGES)
    assert np.isfinite(top).all()
    ratio = math.log(values[0, -1]) - math.log(values[0, -2]) if values[0, -2] > 0 else math.inf
    width = 1.6
    if name == "laplace":
        assert ratio == pytest.approx(width / 0.7, rel=1e-10)
        assert top[0] == pytest.approx(-55.0 / 0.7 + math.log(-math.expm1(-width / 0.7) / (2 * width)), rel=1e-12)
    else:
        mass = mpmath.ncdf((5 - 60) / mpmath.mpf("0.7")) / width
        assert top[0] == pytest.approx(float(mpmath.log(mass)), rel=1e-10)


def test_wave_below_the_spacing_of_numbers_keeps_its_mass():
    """At ε = 50 the wave is 1e-20 wide, and its cell must still get its share (ε − 1)/ε of the probability."""
    mechanism = mechanisms.SquareWave(epsilon=50.0, bounds=BOUNDS)
    values, top = cell_likelihood(mechanism, np.array([0.3]), EDGES)
    found = (values * np.exp(top)[:, None])[0] * np.diff(EDGES)
    share = np.exp(mechanism.log_high) * 2.0 * mechanism.reach
    assert found == pytest.approx(np.where(np.arange(5) == 2, share, 0.0) + 1.6 * np.exp(mechanism.log_low), rel=1e-9)
    assert share == pytest.approx(49.0 / 50.0, rel=1e-6)


def test_maximum_is_that_of_brute_force():
    mechanism = mechanisms.Laplace(scale=1.0, bounds=(0.0, 3.0))
    z = mechanism.privatize(np.array([0.2, 0.5, 0.7, 1.4, 2.9, 2.2, 0.1, 2.6]), seed=5)

    def loss(x):
        p = np.exp(x - np.logaddexp.reduce(x))
        mass = [stats.laplace.cdf(z - low) - stats.laplace.cdf(z - low - 1.0) for low in (0.0, 1.0, 2.0)]
        return -np.log(p @ np.array(mass)).sum()

    runs = [optimize.minimize(loss, start, method="Nelder-Mead", options={"maxiter": 20_000, "xatol": 1e-10,
            "fatol": 1e-14}) for start in np.random.default_rng(1).normal(size=(5, 3))]  # fmt: skip
    best = min(runs, key=lambda run: run.fun)
    fitted = EM(cells=3, tolerance=1e-13, max_iterations=100_000).fit(z, mechanism)
    assert fitted.log_likelihood[-1] == pytest.approx(-best.fun, abs=1e-8)
    wanted = np.exp(best.x - np.logaddexp.reduce(best.x))
    assert fitted.mass == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("name", MECHANISMS)
def test_likelihood_never_falls(name):
    mechanism = MECHANISMS[name]
    y = np.random.default_rng(1).uniform(*BOUNDS, 6 if name == "by record" else 200)
    fitted = EM(cells=16, tolerance=0.0, max_iterations=60).fit(mechanism.privatize(y, seed=2), mechanism)
    assert np.diff(fitted.log_likelihood).min() > -1e-8
    assert fitted.log_likelihood[-1] > fitted.log_likelihood[0]
    assert not fitted.converged
    assert fitted.mass.sum() == pytest.approx(1.0, rel=1e-12)


def test_smoothing_is_the_matrix_of_the_paper():
    cells = 7
    matrix = sum(weight * np.eye(cells, k=k) for k, weight in ((-1, 1.0), (0, 2.0), (1, 1.0)))
    matrix /= matrix.sum(axis=1, keepdims=True)
    mass = np.random.default_rng(1).dirichlet(np.ones(cells))
    assert EMS(cells).smooth(mass) == pytest.approx(matrix @ mass, rel=1e-14)
    assert np.array_equal(EM(cells).smooth(mass), mass)


@pytest.mark.parametrize("steps", [1, 4])
def test_steps_are_those_of_the_definition(steps):
    """A slow twin of EMS for randomized response, whose likelihood is a table of two numbers."""
    cells = 5
    mechanism = mechanisms.RandomizedResponse(cells=cells, truth=0.6, bounds=BOUNDS)
    z = mechanism.privatize(np.random.default_rng(1).uniform(*BOUNDS, 40), seed=2)
    p = [1.0 / cells] * cells
    for _ in range(steps):
        new = [0.0] * cells
        for record in z:
            row = [(0.6 if k == record else 0.1) * p[k] for k in range(cells)]
            for k in range(cells):
                new[k] += row[k] / sum(row) / len(z)
        near = [[j for j in (k - 1, k, k + 1) if 0 <= j < cells] for k in range(cells)]
        weights = [[2.0 if j == k else 1.0 for j in near[k]] for k in range(cells)]
        p = [sum(w * new[j] for w, j in zip(weights[k], near[k], strict=True)) / sum(weights[k]) for k in range(cells)]
        p = [value / sum(p) for value in p]
    fitted = EMS(cells, tolerance=0.0, max_iterations=steps).fit(z, mechanism)
    assert fitted.mass == pytest.approx(p, rel=1e-12)


def test_equal_records_taken_together_change_nothing():
    mechanism = MECHANISMS["laplace"]
    z = np.round(mechanism.privatize(np.linspace(*BOUNDS, 60), seed=1), 0)
    by_record = mechanisms.Laplace(scale=np.full(60, 0.7), bounds=BOUNDS)
    together = EMS(16, tolerance=0.0, max_iterations=20).fit(z, mechanism)
    apart = EMS(16, tolerance=0.0, max_iterations=20).fit(z, by_record)
    assert together.mass == pytest.approx(apart.mass, rel=1e-10)
    assert together.log_likelihood == pytest.approx(apart.log_likelihood, rel=1e-12)


def test_stopping_rules():
    weak, strong = (mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS) for epsilon in (20.0, 2.0))
    assert EM().tolerance_for(strong) == pytest.approx(1e-3 * math.exp(2.0))
    assert EM().tolerance_for(weak) == pytest.approx(1e-3 * math.exp(2.5))
    assert EM().tolerance_for(mechanisms.Gaussian(rho=1.0, bounds=BOUNDS)) == 1e-3
    assert EMS().tolerance_for(weak) == EMS().tolerance_for(strong) == 1e-3
    assert EM(tolerance=0.5).tolerance_for(weak) == EMS(tolerance=0.5).tolerance_for(weak) == 0.5
    fitted = EMS(16).fit(strong.privatize(np.linspace(*BOUNDS, 200), seed=1), strong)
    steps = np.abs(np.diff(fitted.log_likelihood))
    assert fitted.converged
    assert steps[-1] < 1e-3 <= steps[:-1].min()


def test_values_that_the_mechanism_cannot_release_are_refused():
    @dataclass(frozen=True)
    class Near(LocalMechanism):
        bounds: tuple[float, float] = BOUNDS

        def log_q(self, z, y):
            return 0.0 if abs(z - y) <= 0.5 else -math.inf

    with pytest.raises(ValueError, match="1 released values have density 0"):
        EM(8).fit(np.array([0.0, 99.0]), Near())


def test_joined_cells_are_lines_between_the_middles():
    mechanism = mechanisms.Laplace(scale=0.7, bounds=BOUNDS)
    z = mechanism.privatize(np.random.default_rng(1).normal(1.0, 1.0, 200), seed=2)
    steps, lines = EMS(cells=8).fit(z, mechanism), EMS(cells=8, joined=True).fit(z, mechanism)
    middles, edges = 0.5 * (steps.edges[1:] + steps.edges[:-1]), steps.edges[1:-1]
    heights = steps.density(middles)
    np.testing.assert_allclose(lines.density(middles), heights, rtol=1e-12)
    np.testing.assert_allclose(lines.density(edges), 0.5 * (heights[1:] + heights[:-1]), rtol=1e-12)
    assert lines.density([BOUNDS[0] - 0.1, BOUNDS[0], BOUNDS[1], BOUNDS[1] + 0.1]) == pytest.approx(
        [0.0, heights[0], heights[-1], 0.0]
    )


def test_groups_stand_for_the_records_inside():
    """With many groups the estimate is that of the records; with two, that of their two middles."""
    mechanism = mechanisms.SquareWave(epsilon=2.0, bounds=BOUNDS)
    z = mechanism.privatize(np.random.default_rng(1).normal(1.0, 0.5, 2000), seed=2)
    fine, exact = (EMS(cells=16, groups=groups).fit(z, mechanism) for groups in (4096, None))
    assert np.abs(fine.mass - exact.mass).sum() < 2e-3
    middle = 0.25 * np.array([3.0 * z.min() + z.max(), z.min() + 3.0 * z.max()])
    upper = z >= 0.5 * (z.min() + z.max())
    two = EMS(cells=16, groups=2).fit(z, mechanism).mass
    assert two == pytest.approx(EMS(cells=16).fit(middle[upper.astype(int)], mechanism).mass, rel=1e-9)
    with pytest.raises(ValueError, match="groups must be a whole number of at least 2"):
        EMS(groups=1)
