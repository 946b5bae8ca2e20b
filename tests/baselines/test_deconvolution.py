"""The deconvolution estimator and its bandwidths against direct quadrature and against simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from privmix.baselines import Deconvolution, NaiveKernel, NaiveMixture
from privmix.baselines.bandwidths import amise, bootstrap_mise, data_spread, pilot_bandwidth
from privmix.baselines.spectrum import spectrum_of
from privmix.mechanisms import Gaussian, Identity, Laplace

BOUNDS = (-5.0, 5.0)
POINTS = np.array([-4.0, -1.0, 0.0, 0.3, 2.5, 6.0])


def sample(mechanism, n=120, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.choice([-2.0, 2.0], n) + 0.6 * rng.standard_normal(n)
    return mechanism.perturb(rng, y)


NOISES = {
    "laplace": (Laplace(scale=0.5, bounds=BOUNDS), lambda t: 1.0 / (1.0 + 0.25 * t * t)),
    "gaussian": (Gaussian(scale=0.5, bounds=BOUNDS), lambda t: math.exp(-0.125 * t * t)),
}


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("h", [0.2, 0.7])
def test_density_is_the_fourier_integral_of_the_deconvolution_kernel(name, h):
    """Each record's kernel (1/2π) ∫ e^{−itx} φ_K(t)/φ_U(t/h) dt by adaptive quadrature, then the average."""
    mechanism, phi = NOISES[name]
    z = sample(mechanism, n=6)

    def kernel(x):
        value = integrate.quad(lambda t: (1.0 - t * t) ** 3 / phi(t / h) * math.cos(t * x), 0.0, 1.0, limit=200)
        return value[0] / math.pi

    wanted = [np.mean([kernel((point - record) / h) for record in z]) / h for point in POINTS]
    found = Deconvolution(bandwidth=h).fit(z, mechanism).density(POINTS)
    assert found == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())


def test_normal_kernel_under_laplace_noise_is_the_closed_form():
    """K − (b/h)² K'' for the normal kernel: φ(x)(1 + (b/h)²(1 − x²))."""
    mechanism, _ = NOISES["laplace"]
    z, h = sample(mechanism), 0.4
    x = (POINTS[:, None] - z) / h
    wanted = (stats.norm.pdf(x) * (1.0 + (0.5 / h) ** 2 * (1.0 - x * x))).mean(axis=1) / h
    assert Deconvolution(h, kernel="normal").fit(z, mechanism).density(POINTS) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("law", [Laplace, Gaussian])
def test_equal_scales_given_by_record_change_nothing(law):
    z = sample(law(scale=0.5))
    one, each = law(scale=0.5, bounds=BOUNDS), law(scale=np.full(len(z), 0.5), bounds=BOUNDS)
    for rule in ("plugin", "bootstrap"):
        first, second = (Deconvolution(rule).fit(z, mechanism) for mechanism in (one, each))
        assert first.bandwidth == pytest.approx(second.bandwidth, rel=1e-5)
        assert first.density(POINTS) == pytest.approx(second.density(POINTS), abs=1e-5)


def test_scales_by_record_give_the_estimator_of_delaigle_and_meister():
    scale = np.linspace(0.2, 1.5, 5)
    mechanism, h = Laplace(scale=scale), 0.6
    z = sample(mechanism, n=5)

    def integrand(t, y):
        phi = 1.0 / (1.0 + np.square(scale * t))
        return (1.0 - (h * t) ** 2) ** 3 * (phi * np.cos(t * (z - y))).sum() / (phi**2).sum() / math.pi

    wanted = [integrate.quad(integrand, 0.0, 1.0 / h, args=(y,), limit=200)[0] for y in POINTS]
    assert Deconvolution(h).fit(z, mechanism).density(POINTS) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    "mechanism", [Laplace(scale=0.5), Laplace(scale=np.repeat([0.3, 1.0], 15))], ids=["one", "own"]
)
def test_bootstrap_criterion_is_the_error_of_bootstrap_samples(mechanism):
    """Simulate: the pilot estimate's law is known through its characteristic function, so draw from a density instead.

    The criterion as a function of |φ̂_g|² is tested with the characteristic function of a normal put in its place; then
    MISE*(h) is the mean integrated squared error of the estimator under that law, which simulation gives too.
    """
    n, h = 30, 0.8
    spectrum = spectrum_of(sample(mechanism, n), mechanism, "compact")

    class Known(type(spectrum)):
        def transform(self, t):
            return np.exp(-0.5 * t * t).astype(complex)

        def frequencies(self, h, points=None):
            return np.linspace(0.0, 8.0, 4001)

    known = Known(spectrum.z, spectrum.scale, spectrum.noise, spectrum.noise_variance, spectrum.kernel)
    # A tiny g leaves the characteristic function of the standard normal as it is.
    criterion = bootstrap_mise(known, 1e-6)(h)
    grid = np.linspace(-40.0, 40.0, 401)
    rng, errors = np.random.default_rng(1), []
    for _ in range(400):
        z = mechanism.perturb(rng, rng.standard_normal(n))
        estimate = Deconvolution(h).fit(z, mechanism).density(grid)
        errors.append(np.trapezoid(np.square(estimate - stats.norm.pdf(grid)), grid))
    score = (np.mean(errors) - criterion) / (np.std(errors, ddof=1) / 20.0)
    assert abs(score) < stats.norm.isf(1e-6 / 2)


@pytest.mark.parametrize("name", NOISES)
def test_pilot_bandwidth_has_no_asymptotic_bias(name):
    """Both stages again, by minimising the squared bias with adaptive quadrature and a direct double sum."""
    mechanism, phi = NOISES[name]
    z = sample(mechanism)
    spectrum = spectrum_of(z, mechanism, "compact")
    spread = math.sqrt(np.var(z, ddof=1) - (0.5 if name == "laplace" else 0.25))

    def noise(h, r):
        value = integrate.quad(lambda t: t ** (2 * r) * (1 - t * t) ** 6 / phi(t / h) ** 2, 0.0, 1.0, limit=200)[0]
        return value / (math.pi * len(z) * h ** (2 * r + 1))

    def theta(h, r):
        gaps = (z[:, None] - z).ravel()
        inner = lambda t: t ** (2 * r) * (1 - (h * t) ** 2) ** 6 * np.cos(t * gaps).mean() / phi(t) ** 2  # noqa: E731
        return integrate.quad(inner, 0.0, 1.0 / h, limit=200)[0] / math.pi

    def stage(r, theta_next):
        loss = lambda x: math.log(6.0 * theta_next * math.exp(2 * x) / noise(math.exp(x), r)) ** 2  # noqa: E731
        return math.exp(optimize.minimize_scalar(loss, bounds=(-2.5, 2.0), method="bounded", options={"xatol": 1e-9}).x)

    # ∫ f⁗² of a normal, by quadrature.
    hermite = lambda x: ((x**4 - 6 * x**2 + 3) * stats.norm.pdf(x)) ** 2  # noqa: E731
    theta_4 = integrate.quad(hermite, -12.0, 12.0, limit=200)[0] / spread**9
    g = stage(2, theta(stage(3, theta_4), 3))
    assert data_spread(spectrum, None) == pytest.approx(spread)
    assert pilot_bandwidth(spectrum, spread) == pytest.approx(g, rel=1e-4)

    theta_2 = theta(g, 2)
    error = lambda h: noise(h, 0) + 9.0 * h**4 * theta_2  # noqa: E731
    assert amise(spectrum, 0.7, theta_2) == pytest.approx(error(0.7), rel=1e-9)
    grid = np.geomspace(0.1, 3.0, 400)
    best = grid[np.argmin([error(h) for h in grid])]
    assert Deconvolution("plugin").fit(z, mechanism).bandwidth == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("name", NOISES)
def test_bootstrap_bandwidth_minimises_its_criterion(name):
    mechanism, _ = NOISES[name]
    z = sample(mechanism)
    spectrum = spectrum_of(z, mechanism, "compact")
    criterion = bootstrap_mise(spectrum, pilot_bandwidth(spectrum, data_spread(spectrum, None)))
    grid = np.geomspace(0.1, 10.0, 1000)
    best = grid[np.argmin([criterion(h) for h in grid])]
    assert Deconvolution().fit(z, mechanism).bandwidth == pytest.approx(best, rel=0.005)


def test_release_that_varies_less_than_its_noise():
    z = np.array([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(ValueError, match="give a number as bandwidth="):
        Deconvolution().fit(z, Laplace(scale=5.0))
    with pytest.warns(UserWarning, match="uniform density on the bounds"):
        fitted = Deconvolution("plugin").fit(z, Laplace(scale=5.0, bounds=BOUNDS))
    assert np.isfinite(fitted.density(POINTS)).all()


@pytest.mark.parametrize("rule", ["silverman", "scott", 0.3])
def test_naive_kernel_is_the_kernel_estimate_of_the_release(rule):
    z = sample(Laplace(scale=0.5))
    fitted = NaiveKernel(rule).fit(z, Laplace(scale=0.5))
    sd = np.std(z, ddof=1)
    wanted = {"silverman": 0.9 * min(sd, stats.iqr(z) / 1.34) * 120**-0.2, "scott": 1.0592 * sd * 120**-0.2}.get(
        rule, rule
    )
    assert fitted.bandwidth == pytest.approx(wanted, rel=1e-4)
    oracle = stats.gaussian_kde(z, bw_method=fitted.bandwidth / sd)
    assert fitted.density(POINTS) == pytest.approx(oracle(POINTS), rel=1e-9)


def test_naive_mixture_has_the_spread_of_the_release():
    rng = np.random.default_rng(1)
    mechanism = Laplace(scale=2.0, bounds=(-10.0, 10.0))
    z = mechanism.privatize(np.clip(rng.standard_normal(1000), -10, 10), seed=2)
    grid = np.linspace(-40.0, 40.0, 801)
    baseline = NaiveMixture(draws=50, warmup=100, chains=1, seed=3)
    values = baseline.fit(z, mechanism).density(grid)
    assert np.array_equal(values, baseline.fit(z, Identity(bounds=(-10.0, 10.0))).density(grid))
    variance = np.trapezoid(values * grid**2, grid) - np.trapezoid(values * grid, grid) ** 2
    assert variance == pytest.approx(9.0, rel=0.2)
