"""The mixture in NumPyro: its likelihood, its posterior against ours, and what it says where NumPyro is absent."""

import itertools
import math
import pickle
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from pairs.pairs import log_g_of
from privmix import PrivateMixture, samplers
from privmix.baselines import NumPyroMixture
from privmix.baselines.numpyro_mixture import TruncatedFit, noisy_density
from privmix.checks.summary import summarise
from privmix.kernels import HierarchicalNormal, Normal
from privmix.mechanisms import Gaussian, Laplace

BOUNDS = (-10.0, 10.0)
MISSING = "NumPyro is not installed: pip install 'privmix[numpyro]'"
POINTS = np.array([-7.0, -5.0, -2.0, 0.0, 3.0, 5.0])
MECHANISMS = [Laplace(scale=2.0, bounds=BOUNDS), Gaussian(scale=2.0, bounds=BOUNDS)]


def named(value):
    return type(value).__name__


@pytest.fixture
def jax():
    pytest.importorskip("numpyro", reason=MISSING)
    return pytest.importorskip("jax", reason=MISSING)


def cases(scale):
    """Return z, mean and sd: from narrow to wide beside the noise, from the middle to far out."""
    ratio, d = np.array(
        list(itertools.product([1e-3, 0.1, 1.0, 4.0, 12.0, 300.0], [-1e3, -30.0, -4.0, 0.1, 1.0, 9.0]))
    ).T
    sd = ratio * scale
    return 0.25 + d * (sd + scale), np.full(len(sd), 0.25), sd


def exact_log_g(mechanism, z, mean, sd):
    """Return log g at the digits of mpmath: normal noise, or the two sides of the normal-Laplace density."""
    b = mp.mpf(mechanism.scale)
    if isinstance(mechanism, Gaussian):
        variance = sd * sd + b * b
        return -((z - mean) ** 2) / (2 * variance) - mp.log(2 * mp.pi * variance) / 2
    d, r = (z - mean) / sd, sd / b
    sides = [mp.exp(sign * r * d + r * r / 2) * mp.erfc((r + sign * d) / mp.sqrt(2)) for sign in (-1, 1)]
    return mp.log(mp.fsum(sides) / (4 * b))


def exact_slopes(mechanism, z, mean, sd):
    """Return the derivatives of log g by mean and sd."""
    with mp.workdps(80):
        points = [[mp.mpf(float(value)) for value in row] for row in zip(z, mean, sd, strict=True)]
        by_mean = [float(mp.diff(lambda m, x=x, s=s: exact_log_g(mechanism, x, m, s), m)) for x, m, s in points]
        by_sd = [float(mp.diff(lambda s, x=x, m=m: exact_log_g(mechanism, x, m, s), s)) for x, m, s in points]
    return by_mean, by_sd


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=named)
def test_likelihood_and_its_derivatives_are_those_of_the_convolution(mechanism, jax):
    z, mean, sd = cases(mechanism.scale)
    parameters = np.column_stack([mean, sd * sd])
    with jax.enable_x64(True):
        log_g = noisy_density(type(mechanism))
        found = np.array(log_g(z, mean, sd, mechanism.scale))
        slopes = jax.grad(lambda m, s: log_g(z, m, s, mechanism.scale).sum(), argnums=(0, 1))(mean, sd)
    assert found.dtype == np.float64
    assert found == pytest.approx(log_g_of(mechanism, Normal(), z, parameters), rel=1e-11, abs=1e-11)
    by_mean, by_sd = exact_slopes(mechanism, z, mean, sd)
    assert np.array(slopes[0]) == pytest.approx(by_mean, rel=1e-9, abs=1e-11)
    # 1 − N/g cancels in wide components: r² digits are lost.
    assert np.array(slopes[1]) == pytest.approx(by_sd, rel=1e-9, abs=1e-10)


def test_normal_laplace_density_by_quadrature(jax):
    b, mean, sd = 2.0, 0.5, 1.5
    log_g = noisy_density(Laplace)
    for z in (-9.0, -1.0, 0.5, 2.0, 7.0):
        joint = lambda y, z=z: stats.laplace(y, b).pdf(z) * stats.norm(mean, sd).pdf(y)  # noqa: E731
        exact = integrate.quad(joint, -25.0, z, epsabs=1e-13)[0] + integrate.quad(joint, z, 25.0, epsabs=1e-13)[0]
        with jax.enable_x64(True):
            assert float(log_g(z, mean, sd, b)) == pytest.approx(math.log(exact), abs=1e-9)


def forty_records(mechanism):
    rng = np.random.default_rng(5)
    y = np.clip(rng.choice([-5.0, 0.0, 5.0], 40) + rng.standard_normal(40), *BOUNDS)
    return mechanism.privatize(y, seed=6)


def moments(draws):
    """Return mean and Monte Carlo error of the density at each point."""
    table = summarise({str(x): draws[..., j] for j, x in enumerate(POINTS)})
    assert table["r_hat"].max() < 1.03
    return table["mean"].values, (table["sd"] / np.sqrt(table["ess_bulk"])).values


@pytest.mark.parametrize(
    ("mechanism", "kernel"),
    [
        (Laplace(epsilon=10.0, bounds=BOUNDS), Normal()),
        (Laplace(epsilon=10.0, bounds=BOUNDS), HierarchicalNormal(BOUNDS)),
        (Gaussian(scale=np.linspace(1.0, 4.0, 40), bounds=BOUNDS), Normal()),
    ],
    ids=named,
)
def test_posterior_mean_density_is_that_of_our_samplers(mechanism, kernel, jax):
    """The same model, cut off at 20 components, which changes the law of 40 records by less than 1e-6."""
    z = forty_records(mechanism)
    ours = PrivateMixture(mechanism, kernel).sample(
        z, samplers.Neal8(), draws=4000, warmup=1000, thin=4, chains=4, seed=1, allocations=False
    )
    theirs = NumPyroMixture(kernel, draws=1500, warmup=700, chains=2, seed=2).fit(z, mechanism)
    (mean, error), (peer, peer_error) = (
        moments(ours.density_draws(POINTS).values),
        moments(theirs.density_draws(POINTS)),
    )
    assert (peer_error < 0.05 * peer).all()
    assert np.abs((peer - mean) / np.hypot(error, peer_error)).max() < 4.0


def test_default_base_measure_is_that_of_fit_and_a_seed_repeats(jax):
    mechanism = MECHANISMS[0]
    z = forty_records(mechanism)
    short = {"components": 5, "draws": 30, "warmup": 30, "chains": 2, "seed": 3}
    one = NumPyroMixture(**short).fit(z, mechanism)
    two = NumPyroMixture(HierarchicalNormal(BOUNDS), **short).fit(z, mechanism)
    assert one.weight.shape == (2, 30, 5)
    assert one.weight.sum(axis=-1) == pytest.approx(np.ones((2, 30)))
    assert np.array_equal(one.density_draws(POINTS), two.density_draws(POINTS))
    assert not np.array_equal(one.mean[0], one.mean[1])
    assert jax.numpy.zeros(1).dtype == np.float32  # double precision was for the fit alone


def test_density_is_the_mean_of_its_draws_in_pieces(monkeypatch):
    rng = np.random.default_rng(1)
    weight = rng.dirichlet(np.ones(3), (2, 7))
    fitted = TruncatedFit(weight, rng.normal(size=weight.shape), rng.gamma(2.0, size=weight.shape), 0)
    draws = fitted.density_draws(POINTS)
    components = stats.norm(fitted.mean[1, 4], np.sqrt(fitted.variance[1, 4]))
    assert draws[1, 4] == pytest.approx([(weight[1, 4] * components.pdf(x)).sum() for x in POINTS], rel=1e-12)
    assert fitted.density(POINTS) == pytest.approx(draws.mean(axis=(0, 1)), rel=1e-12)
    monkeypatch.setattr("privmix.baselines.numpyro_mixture.CHUNK", 90)
    assert fitted.density(POINTS) == pytest.approx(draws.mean(axis=(0, 1)), rel=1e-12)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).density_draws(POINTS), draws)


def test_options_travel_between_processes():
    baseline = NumPyroMixture(Normal(), draws=10, seed=[1, 2])
    assert pickle.loads(pickle.dumps(baseline)) == baseline


@pytest.mark.parametrize("absent", ["numpyro", "jax"])
def test_absence_names_the_extra(absent, monkeypatch):
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(ImportError, match=r"pip install 'privmix\[numpyro\]'"):
        NumPyroMixture().fit(np.array([0.1, 0.2]), MECHANISMS[0])


def test_importing_the_baselines_loads_no_jax():
    code = "import sys, privmix.baselines; sys.exit('jax' in sys.modules or 'numpyro' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components": 1}, "components must be a whole number of at least 2; got 1"),
        ({"draws": 0}, "draws must be a whole number of at least 1"),
        ({"warmup": 2.5}, "warmup must be a whole number"),
        ({"concentration": 0.0}, "concentration must be a positive number; got 0.0"),
        ({"kernel": "normal"}, "kernel must be kernels.Normal"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        NumPyroMixture(**options)


def test_a_base_measure_needs_bounds():
    with pytest.raises(ValueError, match=r"give bounds=\(lower, upper\) to it, or kernel="):
        NumPyroMixture().fit(np.array([0.1, 0.2]), Laplace(scale=1.0))
