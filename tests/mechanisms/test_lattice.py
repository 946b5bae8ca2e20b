"""Records on a lattice: a mechanism around a mechanism, exact on the cells of the points."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from kernels.examples import row_of
from pairs.pairs import log_g_of
from privmix import PrivateMixture, Release, default_model, fit, load, mechanisms, samplers
from privmix.cli import app
from privmix.estimator import PrivateMixtureEstimator
from privmix.estimator.parts import build_model
from privmix.kernels import Beta, Normal, TruncatedNormal
from privmix.mechanisms import Gaussian, Laplace, NoisyHistogram, OnLattice, RandomizedResponse, SquareWave
from privmix.testing import check_sampler

AGES = (0.0, 20.0)
INNER = [
    Laplace(epsilon=5.0, bounds=AGES),
    Gaussian(scale=3.0, bounds=AGES),
    SquareWave(epsilon=2.0, bounds=AGES),
    RandomizedResponse(7, epsilon=2.0, bounds=AGES),
]
EXAMPLES = [
    *(OnLattice(mechanism, 1.0) for mechanism in INNER),
    # A wave narrower than a step, and a last point before the upper bound.
    OnLattice(SquareWave(epsilon=4.0, bounds=(-3.0, 5.0)), 3.0),
]


def brute_log_g(mechanism, kernel, z, theta):
    """Return log Σ_k q(z|y_k) P(X in cell k) by a plain sum over the points."""
    row, points = row_of(kernel, theta), mechanism.points
    edges = np.concatenate([[-np.inf], 0.5 * (points[1:] + points[:-1]), [np.inf]])
    below = np.array([0.0, *[kernel.cdf(edge, row) for edge in edges[1:-1]], 1.0])
    q = np.array([[mechanism.mechanism.log_q(value, point) for point in points] for value in z])
    return np.log(np.exp(q) @ np.diff(below))


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
@pytest.mark.parametrize("kernel", [Normal, Beta, TruncatedNormal])
def test_density_of_a_release_is_the_sum_over_the_points(mechanism, kernel):
    kernel = kernel.for_mechanism(mechanism)
    z = mechanism.privatize(np.linspace(*mechanism.bounds, 9), seed=1)
    for theta in [(2.0, 3.0), (5.0, 0.5)]:
        found = log_g_of(mechanism, kernel, z, theta)
        assert found == pytest.approx(brute_log_g(mechanism, kernel, z, theta), rel=1e-9)


def test_records_are_rounded_to_the_nearest_point():
    inner = Laplace(scale=1e-9, bounds=AGES)
    z = OnLattice(inner, 4.0).privatize([0.0, 1.9, 2.1, 7.0, 21.0], seed=1)
    assert z == pytest.approx([0.0, 0.0, 4.0, 8.0, 20.0], abs=1e-6)
    assert OnLattice(inner, 3.0).points.tolist() == [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0]
    assert OnLattice(inner, 3.0).bounds == (-1.5, 19.5)
    assert OnLattice(Laplace(epsilon=1.0, bounds=(0.0, 1.0)), 0.1).bounds == pytest.approx((-0.05, 1.05))


def test_promise_and_words_are_those_of_the_mechanism():
    for mechanism in EXAMPLES:
        inner = mechanism.mechanism
        assert mechanism.guarantee == inner.guarantee
        assert mechanism.in_words.startswith(inner.in_words)
        assert mechanism.resolution() == inner.resolution()
    assert OnLattice(INNER[0], 1.0).lattice_step == 1.0
    assert INNER[0].lattice_step is None


def test_one_scale_a_record():
    scale = np.array([0.5, 5.0])
    mechanism, z = OnLattice(Laplace(scale=scale, bounds=AGES), 1.0), np.array([3.2, 3.2])
    each = [log_g_of(OnLattice(Laplace(scale=s, bounds=AGES), 1.0), Normal(), z[:1], (2.0, 3.0))[0] for s in scale]
    assert log_g_of(mechanism, Normal(), z, (2.0, 3.0)) == pytest.approx(each)


@pytest.mark.long
def test_samplers_target_the_posterior_on_a_lattice():
    """Steps as coarse as the components: forgotten rounding shows."""
    wide = OnLattice(Laplace(epsilon=10.0, bounds=(-9.0, 9.0)), 3.0)
    check_sampler(PrivateMixture(wide), samplers.Neal8(), pairs=5_000)


def test_a_histogram_has_its_edges_between_the_points():
    counts = NoisyHistogram(100, [0.0, 10.0, 15.5, 20.0], epsilon=1.0)
    moved = OnLattice.around(counts, 1.0)
    assert moved.edges.tolist() == [-0.5, 9.5, 15.5, 20.5]
    assert moved.guarantee == counts.guarantee
    y = np.arange(21.0)
    assert moved.bin_count == 3
    assert np.array_equal(np.histogram(y, moved.edges)[0], counts.__class__.statistic(counts, y))
    with pytest.raises(ValueError, match=r"the bin from 0.5 to 0.9 holds no point of a lattice of step 1 from 0 on"):
        OnLattice.around(NoisyHistogram(100, [0.0, 0.5, 0.9, 2.0], epsilon=1.0), 1.0)


@pytest.mark.long
def test_fit_and_default_model_take_a_resolution():
    inner = RandomizedResponse(6, epsilon=3.0, bounds=AGES)
    model = default_model(inner, resolution=2.0)
    assert model.mechanism == OnLattice(inner, 2.0)
    assert model.kernel.bounds == (-1.0, 21.0)
    release = Release.from_data(2.0 * np.arange(10.0), inner, seed=1)
    posterior = fit(release, resolution=2.0, draws=20, warmup=20, thin=1, chains=1, seed=1)
    assert posterior.model.mechanism == model.mechanism
    same = fit(release.z, inner, resolution=2.0, draws=20, warmup=20, thin=1, chains=1, seed=1)
    assert np.array_equal(same.arrays.atom, posterior.arrays.atom, equal_nan=True)


def test_command_line_and_estimator_take_it_too(tmp_path):
    inner = RandomizedResponse(6, epsilon=3.0, bounds=AGES)
    Release.from_data(2.0 * np.arange(10.0), inner, seed=1).save(tmp_path / "z.csv")
    short = ["--draws", "5", "--warmup", "5", "--thin", "1", "--chains", "1", "--resolution", "2"]
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "z.csv"), "-o", str(tmp_path / "fit.nc"), *short])
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "fit.nc").model == default_model(inner, resolution=2.0)
    estimator = PrivateMixtureEstimator(inner, resolution=2.0)
    assert build_model(estimator, np.zeros(3)) == default_model(inner, resolution=2.0)
    with pytest.raises(ValueError, match=r"^OnLattice serves mechanisms .* with noise; got Identity"):
        build_model(PrivateMixtureEstimator(resolution=1.0), np.zeros(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnLattice(INNER[0], 0.0), "OnLattice: step must be positive; got 0.0."),
        (lambda: OnLattice(INNER[0], "1"), "OnLattice: step must be a finite number; got '1'."),
        (
            lambda: OnLattice(INNER[0], 30.0),
            "a lattice of step 30 has 1 points in the bounds 0 to 20; it needs from 2 to 100000. "
            "Change the resolution.",
        ),
        (
            lambda: OnLattice(Laplace(scale=1.0), 1.0),
            "OnLattice: the lattice begins at the lower bound, and Laplace has none. Give it bounds=(lower, upper).",
        ),
        (
            lambda: OnLattice(mechanisms.HaarWavelet(levels=1, epsilon=1.0), 0.1),
            "OnLattice serves mechanisms that release one number a record, with noise; got HaarWavelet. For counts use "
            "bins whose edges lie between the points of the lattice.",
        ),
        (
            lambda: OnLattice(mechanisms.Identity(AGES), 1.0),
            "OnLattice serves mechanisms that release one number a record, with noise; got Identity. For counts use "
            "bins whose edges lie between the points of the lattice.",
        ),
        (lambda: default_model(INNER[0], resolution=-1), "resolution must be a positive number; got -1."),
        (lambda: default_model(INNER[0], resolution=True), "resolution must be a positive number; got True."),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
