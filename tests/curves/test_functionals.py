"""Distribution function, quantiles, probabilities, moments and modes: each against SciPy on the same mixtures."""

import numpy as np
import pytest
from scipy import integrate, optimize, signal, stats

import privmix
from kernels.examples import Exponential
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.curves import density, functionals, mixture

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)
SOME = [0, 7, 23]


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=20, warmup=20, thin=1, chains=2, seed=1)


@pytest.fixture(scope="module")
def fitted():
    return privmix.fit(Z, MECHANISM, draws=20, warmup=20, chains=2, seed=1)


@pytest.fixture(scope="module")
def cut():
    model = PrivateMixture(MECHANISM, kernels.HierarchicalNormal(MECHANISM.bounds), restricted_to=MECHANISM.bounds)
    return model.sample(Z, draws=20, warmup=20, chains=2, seed=1)


@pytest.fixture(scope="module")
def beta():
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=(0.0, 1.0))
    z = mechanism.privatize(np.random.default_rng(2).beta(2.0, 3.0, 30), seed=1)
    return PrivateMixture(mechanism, kernels.Beta()).sample(z, draws=20, warmup=20, thin=1, chains=2, seed=1)


def law(posterior, d):
    """Return the distribution function of draw d by SciPy, cut to the support."""
    draws = posterior.arrays
    weight, atom, components = (array[d] for array in mixture.flattened(draws))
    k = components
    if isinstance(posterior.model.kernel, kernels.Beta):
        parts = stats.beta(atom[:k, 0], atom[:k, 1])
    elif isinstance(posterior.model.kernel, kernels.TruncatedNormal):
        mean, sd = atom[:k, 0], np.sqrt(atom[:k, 1])
        lower, upper = posterior.model.kernel.bounds
        parts = stats.truncnorm((lower - mean) / sd, (upper - mean) / sd, mean, sd)
    else:
        parts = stats.norm(atom[:k, 0], np.sqrt(atom[:k, 1]))

    def plain(y):
        return float(weight[:k] @ parts.cdf(y))

    if posterior.model.restricted_to is None:
        return plain
    lower, upper = (plain(end) for end in posterior.model.restricted_to)
    return lambda y: (plain(min(max(y, -10.0), 10.0)) - lower) / (upper - lower)


@pytest.fixture(params=["posterior", "fitted", "cut", "beta"])
def any_fit(request):
    return request.getfixturevalue(request.param)


def test_cdf_is_that_of_the_mixture(any_fit):
    grid = any_fit.default_grid(9)
    values = functionals.cdf_draws(any_fit.model.kernel, any_fit.arrays, grid, any_fit.model.restricted_to)
    for d in SOME:
        assert values[d] == pytest.approx([law(any_fit, d)(y) for y in grid], abs=1e-12)
    band = any_fit.cdf(grid, level=0.8)
    assert band["mean"].values == pytest.approx(values.mean(axis=0), abs=1e-14)
    assert band["lower"].values == pytest.approx(np.quantile(values, 0.1, axis=0), abs=1e-14)
    assert band["upper"].values == pytest.approx(np.quantile(values, 0.9, axis=0), abs=1e-14)


def test_cdf_outside_the_support(fitted, cut, beta):
    assert fitted.cdf([-11.0, -10.0, 10.0, 11.0])["mean"].values == pytest.approx([0.0, 0.0, 1.0, 1.0])
    assert cut.cdf([-11.0, -10.0, 10.0, 11.0])["mean"].values == pytest.approx([0.0, 0.0, 1.0, 1.0])
    assert beta.cdf([-1.0, 2.0])["mean"].values == pytest.approx([0.0, 1.0])


def test_quantiles_are_those_of_the_mixture(any_fit):
    probs = [0.01, 0.5, 0.975]
    draws = any_fit.quantile_draws(probs)
    assert draws.dims == ("chain", "draw", "prob")
    values = draws.values.reshape(-1, 3)
    low, high = any_fit.model.restricted_to or np.clip(any_fit.model.kernel.support, -1e4, 1e4)
    for d in SOME:
        for j, p in enumerate(probs):
            exact = optimize.brentq(lambda y, f, p: f(y) - p, low, high, args=(law(any_fit, d), p), xtol=1e-13)
            assert values[d, j] == pytest.approx(exact, abs=1e-9), (d, p)
    table = any_fit.quantile(probs)
    assert table["mean"].values == pytest.approx(values.mean(axis=0))
    assert np.array_equal(table["prob"], probs)


def test_probability(any_fit):
    for a, b in ((0.1, 0.7), (-np.inf, 0.5), (0.2, np.inf), (-np.inf, np.inf), (0.3, 0.3)):
        found = any_fit.probability(a, b)
        values = found["draws"].values.ravel()
        for d in SOME:
            distribution = law(any_fit, d)
            exact = distribution(min(b, 1e6)) - distribution(max(a, -1e6))
            assert values[d] == pytest.approx(exact, abs=1e-12)
        assert found["mean"].item() == pytest.approx(values.mean())
        assert found["lower"].item() <= found["mean"].item() <= found["upper"].item() + 1e-12


def test_moments_are_those_of_the_mixture(any_fit):
    table = any_fit.moments()
    assert list(table["moment"].values) == ["mean", "variance", "sd", "skewness", "excess_kurtosis"]
    values = table["draws"].values.reshape(-1, 5)
    densities = density.density_draws(
        any_fit.model.kernel, any_fit.arrays, np.array([0.0]), any_fit.model.restricted_to
    )
    assert len(values) == densities.size
    for d in SOME:
        raw = raw_moments(any_fit, d)
        mean, variance = raw[0], raw[1] - raw[0] ** 2
        third = raw[2] - 3 * mean * raw[1] + 2 * mean**3
        fourth = raw[3] - 4 * mean * raw[2] + 6 * mean**2 * raw[1] - 3 * mean**4
        exact = [mean, variance, variance**0.5, third / variance**1.5, fourth / variance**2 - 3.0]
        assert values[d] == pytest.approx(exact, rel=1e-5, abs=1e-5)
    assert table["mean"].values == pytest.approx(values.mean(axis=0))


def raw_moments(posterior, d):
    """Return E[Y^k], k = 1 to 4, of draw d: component by component by SciPy."""
    weight, atom, components = (array[d] for array in mixture.flattened(posterior.arrays))
    total, out = 0.0, np.zeros(4)
    for h in range(components):
        if isinstance(posterior.model.kernel, kernels.Beta):
            part, mass = stats.beta(*atom[h]), 1.0
        else:
            part, mass = stats.norm(atom[h, 0], np.sqrt(atom[h, 1])), 1.0
            interval = posterior.model.restricted_to or posterior.model.kernel.support
            if np.isfinite(interval[0]):
                ends = [(end - atom[h, 0]) / np.sqrt(atom[h, 1]) for end in interval]
                part = stats.truncnorm(*ends, atom[h, 0], np.sqrt(atom[h, 1]))
            if posterior.model.restricted_to is not None:
                mass = stats.norm.cdf(ends[1]) - stats.norm.cdf(ends[0])
                if mass < 1e-12:
                    continue
        total += weight[h] * mass
        out += weight[h] * mass * np.array([part.moment(k) for k in range(1, 5)])
    return out / total


def test_modes_are_the_peaks_of_scipy():
    rng = np.random.default_rng(3)
    rows = np.abs(rng.normal(size=(200, 60)).cumsum(axis=1))
    for share in (0.0, 0.05, 0.3):
        counts = mixture.mode_counts(rows, share)
        for row, count in zip(rows, counts, strict=True):
            padded = np.concatenate([[-100.0], row, [-100.0]])
            # A peak's prominence is measured against what lies between it and a higher one, as here.
            peaks = signal.find_peaks(padded, prominence=max(share * row.max(), 1e-300))[0]
            assert count == len(peaks)


def test_mode_count(posterior):
    found = posterior.mode_count(np.linspace(-10.0, 10.0, 301), prominence=0.05)
    assert found["draws"].shape == (2, 20)
    assert float(found["probability"].sum()) == pytest.approx(1.0)
    assert float(found["probability"] @ found["modes"]) == pytest.approx(found["mean"].item())
    assert found["probability"].values[0] == 0.0
    assert (posterior.mode_count(prominence=0.0)["draws"] >= posterior.mode_count(prominence=0.5)["draws"]).all()


@pytest.fixture(scope="module")
def bare():
    """A fit with a kernel that has neither distribution function nor moments."""
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=(0.0, 10.0))
    z = mechanism.privatize(np.random.default_rng(2).exponential(1.0, 20), seed=1)
    return PrivateMixture(mechanism, Exponential()).sample(
        z, samplers.Slice(), draws=10, warmup=10, thin=1, chains=1, seed=1
    )


def test_kernel_without_distribution_function_is_integrated(bare, monkeypatch):
    monkeypatch.setattr(Exponential, "support", property(lambda self: (0.0, np.inf)))
    weight, atom, _ = mixture.flattened(bare.arrays)
    grid = np.array([2.0, 0.5, 1.0])
    exact = np.nansum(weight[:, :, None] * -np.expm1(-atom[:, :, :1] * grid), axis=1)
    assert bare.cdf(grid)["mean"].values == pytest.approx(exact.mean(axis=0), abs=1e-6)
    wanted = np.nansum(weight * (np.exp(-0.5 * atom[..., 0]) - np.exp(-3.0 * atom[..., 0])), axis=1)
    assert bare.probability(0.5, 3.0)["draws"].values.ravel() == pytest.approx(wanted, abs=1e-9)
    d = 3
    by_scipy = integrate.quad(lambda y: float(bare.density_draws([y]).values[0, d, 0]), 0.5, 3.0)[0]
    assert by_scipy == pytest.approx(wanted[d], abs=1e-6)
    with pytest.raises(ValueError, match="Exponential has no cdf, so that this probability would be an integral"):
        bare.probability(0.5, np.inf)


def test_refusals_say_what_is_missing(bare):
    with pytest.raises(ValueError, match="quantiles invert the distribution function, and Exponential has none"):
        bare.quantile(0.5)
    with pytest.raises(ValueError, match="Exponential reaches to infinity and does not say its moments"):
        bare.moments()
    with pytest.raises(ValueError, match="Exponential has no cdf, so that a distribution function would be"):
        bare.cdf([1.0])


def test_bad_input(posterior):
    for probs in (0.0, 1.0, [0.5, np.nan], [], [[0.5]]):
        with pytest.raises(ValueError, match=r"^probs must be one or more numbers between 0 and 1"):
            posterior.quantile(probs)
    with pytest.raises(TypeError, match=r"^probs must be numbers"):
        posterior.quantile("median")
    with pytest.raises(ValueError, match=r"lower end that is at most the upper one, neither NaN; got 2 and 1"):
        posterior.probability(2, 1)
    with pytest.raises(ValueError, match="neither NaN"):
        posterior.probability(np.nan, 1)
    with pytest.raises(TypeError, match="ends of the interval must be numbers"):
        posterior.probability("a", 1)
    with pytest.raises(ValueError, match="the grid has values that are NaN or infinite"):
        posterior.cdf([np.nan])
    with pytest.raises(ValueError, match="at least 3 points; got 2"):
        posterior.mode_count([0.0, 1.0])
    for prominence in (-0.1, 1.0, np.nan):
        with pytest.raises(ValueError, match=r"^prominence must be at least 0 and below 1"):
            posterior.mode_count(prominence=prominence)
    for call in (posterior.cdf, posterior.moments, posterior.mode_count):
        with pytest.raises(ValueError, match=r"^level must be between 0 and 1; got 2"):
            call(level=2)
    with pytest.raises(ValueError, match=r"^level must be between 0 and 1"):
        posterior.quantile(0.5, level=0.0)
