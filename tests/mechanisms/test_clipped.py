"""Records clipped before the noise: atoms at the bounds, and what the posterior says of records beyond them."""

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from pairs.pairs import draws_of, log_g_of
from privmix import Release, default_model, fit, load
from privmix.kernels import Beta, HierarchicalNormal, Normal
from privmix.mechanisms import (
    Clamped,
    Clipped,
    DiscreteLaplace,
    Gaussian,
    Identity,
    Laplace,
    NoisyHistogram,
    OnLattice,
    SmoothedHistogram,
    SquareWave,
)
from privmix.pairs import find

BOUNDS = (-3.0, 5.0)
EXAMPLES = [
    Clipped(Laplace(epsilon=2.0, bounds=BOUNDS)),
    Clipped(SquareWave(epsilon=2.0, bounds=BOUNDS)),
    Clipped(OnLattice(Laplace(epsilon=3.0, bounds=(0.0, 6.0)), 1.0)),
    Clipped(DiscreteLaplace(epsilon=3.0, bounds=(0.0, 6.0))),
]
HISTOGRAM = NoisyHistogram(900, 16, epsilon=1.0, bounds=BOUNDS)
NOISE = {"laplace": (Laplace, stats.laplace), "gaussian": (Gaussian, stats.norm)}


def test_records_beyond_count_as_the_bound():
    mechanism = EXAMPLES[0]
    assert mechanism.logpdf(0.3, [-9.0, 7.0]) == pytest.approx(mechanism.mechanism.logpdf(0.3, [-3.0, 5.0]))
    assert np.array_equal(mechanism.privatize([-9.0, 70.0], seed=1), mechanism.mechanism.privatize([-3.0, 5.0], seed=1))
    assert mechanism.clipped_at == BOUNDS
    assert mechanism.bounds is None
    assert mechanism.guarantee == mechanism.mechanism.guarantee
    assert mechanism.in_words.endswith("; records beyond -3 and 5 were moved there first")
    assert Clamped(mechanism, lower=0.0).clipped_at == BOUNDS


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("theta", [(1.0, 4.0), (4.9, 0.3), (-9.0, 1.0), (1.0, 400.0)])
def test_density_has_an_atom_at_each_bound(noise, theta):
    kind, law = NOISE[noise]
    mechanism, f = Clipped(kind(scale=1.5, bounds=BOUNDS)), stats.norm(theta[0], np.sqrt(theta[1]))
    z = np.array([-5.0, -3.0, 0.5, 4.9, 8.0])
    points = sorted({*np.linspace(*BOUNDS, 9), *np.clip(z, *BOUNDS), *np.clip(theta[:1], *BOUNDS)})
    wanted = []
    for value in z:
        q = law(loc=value, scale=1.5).pdf
        middle = sum(
            integrate.quad(lambda y, q=q: q(y) * f.pdf(y), a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(points)
        )
        wanted.append(q(BOUNDS[0]) * f.cdf(BOUNDS[0]) + q(BOUNDS[1]) * f.sf(BOUNDS[1]) + middle)
    assert np.exp(log_g_of(mechanism, Normal(), z, theta)) == pytest.approx(wanted, rel=1e-9)
    # Records that are clamped after the noise: both sides of a limit make 1.
    halves = np.array([[-np.inf, 0.7], [0.7, np.inf]])
    assert np.exp(log_g_of(Clamped(mechanism, lower=0.7), Normal(), halves, theta)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("noise", NOISE)
def test_draws_beyond_and_between(noise):
    mechanism, theta, z = Clipped(NOISE[noise][0](scale=1.5, bounds=BOUNDS)), (3.0, 9.0), 4.0
    y = draws_of(mechanism, Normal(), np.full(20_000, z), theta)
    grid = np.linspace(-15.0, 21.0, 36_001)
    weight = np.exp(mechanism.logpdf(z, grid)) * stats.norm(3.0, 3.0).pdf(grid)
    cumulative = np.cumsum(weight) / weight.sum()
    assert stats.kstest(y, lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-5


def test_cells_are_those_of_the_mechanism():
    for mechanism in EXAMPLES[1:]:
        z = mechanism.privatize([1.0, 2.0, 30.0], seed=1)
        inner = log_g_of(mechanism.mechanism, Normal(), z, (1.0, 4.0))
        assert log_g_of(mechanism, Normal(), z, (1.0, 4.0)) == pytest.approx(inner, rel=1e-13)
    assert find(EXAMPLES[0], Beta()).convolution is None


def test_default_model_and_what_a_fit_says(tmp_path):
    mechanism = Clipped(Laplace(epsilon=8.0, bounds=(0.0, 10.0)))
    assert isinstance(default_model(mechanism).kernel, HierarchicalNormal)
    lattice = default_model(mechanism, resolution=1.0).mechanism
    assert lattice == Clipped(OnLattice(mechanism.mechanism, 1.0))
    y = np.concatenate([np.random.default_rng(1).normal(4.0, 1.0, 150), np.full(50, 30.0)])
    release = Release.from_data(y, mechanism, seed=1)
    release.save(tmp_path / "z.csv")
    assert Release.load(tmp_path / "z.csv") == release
    posterior = fit(release, draws=100, warmup=100, thin=1, chains=1, seed=1)
    beyond = posterior.beyond()
    # A record just inside the bound and one beyond it look alike under this noise: at most a quarter lies above.
    assert 0.04 < beyond["mean"].sel(side="above") < 0.3
    assert beyond["mean"].sel(side="below") < 0.04
    assert (beyond["lower"] < beyond["mean"]).all()
    (note,) = [f for f in posterior.check(replicates=20) if f.title == "clipped records"]
    assert re.search(
        r"of the records lie below 0 and .* of the records lie above 10; how they lie out there", note.text
    )
    posterior.save(tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").model == posterior.model
    with pytest.raises(ValueError, match=r"^beyond is for clipped records; Laplace has none beyond its bounds"):
        fit(release.z, mechanism.mechanism, draws=2, warmup=0, thin=1, chains=1, seed=1).beyond()


def test_histogram_of_clipped_records(tmp_path):
    """The likelihood is that of a histogram with a kernel on the whole line; beside it stands what lies beyond."""
    mechanism = Clipped(HISTOGRAM)
    y = np.concatenate([np.random.default_rng(1).normal(1.0, 1.0, 700), np.full(200, 30.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = Release.from_data(y, mechanism, seed=1)
    assert release.z[-1] > 190
    release.save(tmp_path / "z.csv")
    assert Release.load(tmp_path / "z.csv") == release
    model = default_model(mechanism)
    assert model.kernel == HierarchicalNormal(BOUNDS)
    assert model.mechanism.guarantee == HISTOGRAM.guarantee
    counts = HISTOGRAM.statistic(y)
    assert counts.sum() == len(y)
    assert mechanism.log_of_counts(mechanism.encode(release.z), counts) == HISTOGRAM.log_of_counts(release.z, counts)
    assert find(mechanism, Normal()).masses == find(HISTOGRAM, Normal()).masses
    found = model.sample(release.z, draws=100, warmup=200, thin=1, chains=1, seed=1)
    assert 0.1 < found.beyond()["mean"].sel(side="above") < 0.3
    grid = found.default_grid(8)
    assert BOUNDS[0] < grid[0]
    assert grid[-1] < BOUNDS[1]
    assert any(f.title == "clipped records" for f in found.check(replicates=20))
    both = Clamped(mechanism, lower=0.0)
    assert both.clipped_at == BOUNDS
    assert "are in the outermost bins; values below 0 set to 0" in both.in_words
    assert mechanism.bars(release.z, *BOUNDS).label == "released counts (noisy)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Clipped(Laplace(scale=1.0)),
            "Clipped: Laplace has no bounds to clip records to. Give it bounds=(lower, upper).",
        ),
        (
            lambda: Clipped(Clamped(EXAMPLES[0].mechanism, lower=0.0)),
            "Clipped: records are clipped before the noise and released values post-processed after it. Put Clipped "
            "inside: Clamped(Clipped(mechanism), …).",
        ),
        (
            lambda: Clipped(Clamped(HISTOGRAM, lower=0.0)),
            "Clipped: records are clipped before the noise and released values post-processed after it. Put Clipped "
            "inside: Clamped(Clipped(mechanism), …).",
        ),
        (
            lambda: Clipped(Identity(BOUNDS)),
            "Clipped serves mechanisms that perturb records of one number, and noisy histograms of them; got Identity.",
        ),
        (
            lambda: Clipped(SmoothedHistogram(9, 3, epsilon=1.0, bounds=BOUNDS)),
            "Clipped serves mechanisms that perturb records of one number, and noisy histograms of them; got "
            "SmoothedHistogram.",
        ),
        (
            lambda: OnLattice(EXAMPLES[0], 1.0),
            "OnLattice goes around the noise itself. Put it inside: Clipped(OnLattice(mechanism, step)).",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
