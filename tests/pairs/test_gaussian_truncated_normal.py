"""Gaussian noise on truncated normals: g against 60 digits, masses of intervals, the law of Y given z."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from mutants.truncated import panel_bugs
from numerics.quadrature import NODES, WEIGHTS
from pairs.pairs import draws_of, log_g_of, masses_of, worst
from pairs.truncated import BOUNDS, DIGITS, gaussian_density, hard_cases
from privmix import PrivateMixture
from privmix.kernels import TruncatedNormal
from privmix.mechanisms import Gaussian
from privmix.samplers.binned.bins import find_bins

KERNEL = TruncatedNormal(BOUNDS)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize("n", [800, pytest.param(40_000, marks=pytest.mark.long)])
def test_log_g(n):
    z, theta, scale = hard_cases(n, 1)
    exact = [mp.log(gaussian_density(z[i], *theta[i], scale[i])) for i in range(n)]
    assert worst(log_g_of(Gaussian(scale=scale), KERNEL, z, theta), exact) < 1e-13


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_finite_everywhere(n):
    z, theta, scale = hard_cases(n, 3, span=6.0)
    mechanism = Gaussian(scale=scale)
    assert np.isfinite(log_g_of(mechanism, KERNEL, z, theta)).all()
    y = draws_of(mechanism, KERNEL, z, theta)
    assert ((y >= BOUNDS[0]) & (y <= BOUNDS[1])).all()


INSIDE = [(0.7, 0.01), (0.7, 1.0), (-1.0, 0.5), (1.0, 1e4), (2.99, 1e-4)]
OUTSIDE = [(-2.4, 0.25), (4.6, 0.25), (-6.0, 1.0), (30.0, 5.0)]


def exact_masses(edges, theta, scale):
    """Return ∫ f(y) (Φ((e_{j+1} − y)/η) − Φ((e_j − y)/η)) dy by Gauss-Legendre on panels that follow f."""
    sd = np.sqrt(theta[1])
    steps = np.concatenate([[0.0], np.geomspace(1e-3, 60.0, 150)])
    near = [
        centre + sign * length * steps for centre in (*BOUNDS, theta[0]) for length in (sd, scale) for sign in (-1, 1)
    ]
    panels = np.unique(np.clip(np.concatenate([*near, np.linspace(*BOUNDS, 800)]), *BOUNDS))
    middle, half = 0.5 * (panels[1:] + panels[:-1]), 0.5 * np.diff(panels)
    y = (middle[:, None] + half[:, None] * NODES).ravel()
    closest = min(max(theta[0], BOUNDS[0]), BOUNDS[1])
    weight = (
        np.exp(-0.5 * (y - closest) * (y + closest - 2.0 * theta[0]) / theta[1]) * (half[:, None] * WEIGHTS).ravel()
    )
    return np.diff(stats.norm.cdf((edges[:, None] - y) / scale), axis=0) @ weight / weight.sum()


@pytest.mark.parametrize("theta", INSIDE + OUTSIDE)
@pytest.mark.parametrize(("scale", "bins"), [(0.02, 7), (0.5, None), (6.0, 30), (6.0, 3), (0.5, 2)])
def test_masses(theta, scale, bins):
    mechanism = Gaussian(scale=scale, bounds=BOUNDS)
    edges = find_bins(PrivateMixture(mechanism, KERNEL), bins).node
    found = masses_of(mechanism, KERNEL, edges, theta)
    exact = exact_masses(edges, theta, scale)
    assert np.abs(found - exact).sum() < 2e-6
    assert found.sum() == pytest.approx(1.0, abs=2e-6)
    assert (found >= 0.0).all()


@pytest.mark.parametrize("mutant", panel_bugs(), ids=lambda m: m.name)
def test_bugs_of_panels(mutant):
    mechanism = Gaussian(scale=0.5, bounds=BOUNDS)
    edges = find_bins(PrivateMixture(mechanism, KERNEL), None).node
    planted = {"replacements": mutant.replacements(), "compiled": False}
    found = [masses_of(mechanism, KERNEL, edges, theta, **planted) for theta in INSIDE[1:3]]
    exact = [exact_masses(edges, theta, 0.5) for theta in INSIDE[1:3]]
    assert np.abs(np.subtract(found, exact)).sum() > 1e-4


@pytest.mark.parametrize(
    ("scale", "z", "theta"), [(1.0, 0.3, (0.0, 1.0)), (0.5, 5.0, (-3.0, 0.5)), (9.0, -7.0, (1.0, 400.0))]
)
def test_records_given_the_release(scale, z, theta):
    y = draws_of(Gaussian(scale=scale), KERNEL, np.full(50_000, z), theta)
    total = theta[1] + scale**2
    centre, sd = theta[0] + theta[1] / total * (z - theta[0]), np.sqrt(theta[1] * scale**2 / total)
    law = stats.truncnorm((BOUNDS[0] - centre) / sd, (BOUNDS[1] - centre) / sd, loc=centre, scale=sd)
    assert stats.kstest(y, law.cdf).pvalue > 1e-4
