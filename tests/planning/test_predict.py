"""The predictor against simulation: derivatives, folded normals, and what repetitions of a collection really give."""

import numpy as np
import pytest
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from privmix.mechanisms import Laplace, NoisyHistogram, RandomizedResponse, SquareWave
from privmix.planning.experiment import CELLS, Experiment, experiment_of
from privmix.planning.mixtures import mixture_on_cells, nearest_mixtures
from privmix.planning.predict import Mixed, Smooth, basis, folded, predict, settings, solve

UNIT = (0.0, 1.0)
X = (np.arange(CELLS) + 0.5) / CELLS


def two_modes():
    p = 0.6 * np.exp(-0.5 * ((X - 0.3) / 0.08) ** 2) + 0.4 * np.exp(-0.5 * ((X - 0.75) / 0.06) ** 2)
    return p / p.sum()


MECHANISMS = [
    Laplace(epsilon=5.0, bounds=UNIT),
    SquareWave(epsilon=2.0, bounds=UNIT),
    RandomizedResponse(20, epsilon=2.0, bounds=UNIT),
    NoisyHistogram(2000, 24, epsilon=0.5, bounds=UNIT),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_means_are_what_records_of_a_cell_release(mechanism):
    experiment = experiment_of(mechanism)
    np.testing.assert_allclose(experiment.means.sum(axis=0), 1.0, atol=1e-12)
    cell = 50
    if mechanism.is_global:
        assert experiment.means[:, cell].argmax() == int(24 * X[cell])
        assert experiment.noise == pytest.approx(2.0 * mechanism.scale**2)
        return
    y = np.random.default_rng(1).uniform(cell / CELLS, (cell + 1) / CELLS, 100_000)
    z = mechanism.privatize(y, seed=1)
    if mechanism.outputs is not None:
        shares = np.bincount(z.astype(int), minlength=len(mechanism.outputs)) / len(z)
    else:
        from privmix.planning.experiment import release_edges

        shares = np.histogram(z, release_edges(mechanism))[0] / len(z)
    error = np.sqrt(experiment.means[:, cell] / len(z)) + 1e-5
    assert (np.abs(shares - experiment.means[:, cell]) < 5.0 * error).all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_slope_and_information_are_those_of_the_value(mechanism):
    setting = settings()[4]
    problem = Smooth(experiment_of(mechanism), two_modes(), 1000.0, setting)
    w = np.sqrt(problem.prior) * np.random.default_rng(1).standard_normal(len(problem.prior))
    slope = problem.derivatives(w, problem.value(w)[1]).slope
    steps = 1e-5 * np.eye(len(w))
    numeric = [(problem.value(w + step)[0] - problem.value(w - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, numeric, rtol=1e-4, atol=1e-3)


def test_mixtures_follow_their_parameters_and_reach_a_shape_that_is_one():
    w = 0.5 * np.random.default_rng(1).standard_normal(9)
    p, slopes = mixture_on_cells(w, CELLS)
    steps = 1e-6 * np.eye(9)
    numeric = [(mixture_on_cells(w + s, CELLS)[0] - mixture_on_cells(w - s, CELLS)[0]) / 2e-6 for s in steps]
    assert p.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(slopes, np.transpose(numeric), atol=1e-8)
    found = nearest_mixtures(two_modes())
    assert [len(mixture.weights) // 3 for mixture in found] == [1, 2]
    assert np.abs(mixture_on_cells(found[1].weights, CELLS)[0] - two_modes()).sum() < 1e-3


def test_a_mixture_is_learnt_faster_than_other_shapes_where_the_release_tells_them_apart():
    experiment = experiment_of(MECHANISMS[2])
    smooth, best = solve(Smooth(experiment, two_modes(), 1e5, settings()[4]), None), nearest_mixtures(two_modes())[1]
    mixed = solve(Mixed(experiment, two_modes(), 1e5, best), best.weights)
    assert mixed.evidence > smooth.evidence + 5.0
    assert (mixed.gain**2).sum() < 0.7 * (smooth.gain**2).sum()


def test_information_is_the_curvature_where_the_model_is_true():
    experiment, functions = experiment_of(MECHANISMS[2]), basis(CELLS)[:, :12]
    w = 0.1 * np.random.default_rng(1).standard_normal(functions.shape[1])
    truth = np.exp(functions @ w - logsumexp(functions @ w))
    problem = Smooth(experiment, truth, 1000.0, settings()[4])
    w = np.pad(w, (0, len(problem.prior) - len(w)))
    information = problem.derivatives(w, truth).information
    step = 1e-4 * np.eye(len(w))[3]
    curvature = [problem.derivatives(w + sign * step, problem.value(w + sign * step)[1]).slope for sign in (1.0, -1.0)]
    np.testing.assert_allclose(-(curvature[0] - curvature[1]) / 2e-4, information[3], rtol=1e-3, atol=0.5)


@pytest.mark.parametrize("n", [100.0, 2e4])
def test_weights_of_which_a_release_tells_nothing_are_left_out(n, monkeypatch):
    experiment, shape = experiment_of(MECHANISMS[2]), two_modes()
    kept = [len(Smooth(experiment, shape, n, setting).prior) for setting in settings()]
    lean = predict(experiment, shape, n)
    assert kept[0] < 20 < kept[-1]
    monkeypatch.setattr("privmix.planning.predict.TOLD_NOTHING", 0.0)
    assert len(Smooth(experiment, shape, n, settings()[0]).prior) == basis(CELLS).shape[1]
    whole = predict(experiment, shape, n)
    assert lean.l1 == pytest.approx(whole.l1, rel=1e-4)
    np.testing.assert_allclose(lean.band, whole.band, rtol=1e-3, atol=1e-9)


def test_a_mixture_that_can_be_no_rival_is_left_and_weighs_nothing(monkeypatch):
    experiment, shape = experiment_of(MECHANISMS[2]), two_modes()
    found, (one, _) = predict(experiment, shape, 1e5), nearest_mixtures(shape)
    best = solve(Smooth(experiment, shape, 1e5, settings()[4]), None).evidence
    problem = Mixed(experiment, shape, 1e5, one)
    assert solve(problem, one.weights, best - 20.0).evidence < solve(problem, one.weights).evidence < best - 40.0
    monkeypatch.setattr("privmix.planning.predict.NO_RIVAL", np.inf)
    assert predict(experiment, shape, 1e5).l1 == pytest.approx(found.l1, rel=1e-6)


def test_folded_normals():
    rng = np.random.default_rng(1)
    mean, sd = np.array([0.0, 1.0, -0.3]), np.array([1.0, 0.5, 0.0])
    drawn = np.abs(mean + sd * rng.standard_normal((200_000, 3))).sum(axis=1).mean()
    assert folded(mean, sd) == pytest.approx(drawn, abs=0.01)


def estimate(experiment, statistics, n, shape):
    """Return the stand-in's estimate of one collection: smooth densities and mixtures, weighted by their evidence."""
    flat, made = np.full(CELLS, 1.0 / CELLS), []
    tried = [(Smooth(experiment, flat, n, setting), None) for setting in settings()]
    tried += [(Mixed(experiment, flat, n, mixture), mixture.weights) for mixture in nearest_mixtures(shape)]
    for problem, start in tried:
        problem.expected = statistics
        problem.variances = experiment.variances(np.maximum(statistics, 1e-3 / n), n)
        one = solve(problem, start)
        problem.variances = np.zeros(len(statistics))  # evidence of these data: nothing is added for their scatter
        made.append((one.density, solve(problem, one.weights).evidence if problem.multinomial else one.evidence))
    evidence = np.array([value for _, value in made])
    weight = np.exp(evidence - logsumexp(evidence))
    return np.tensordot(weight, np.stack([density for density, _ in made]), 1)


def exponential():
    p = np.exp(-4.0 * X)
    return p / p.sum()


@pytest.mark.parametrize("shape", [two_modes(), exponential()], ids=["mixture", "no mixture"])
def test_repetitions_have_the_error_that_is_predicted(shape):
    """Where many records make the estimate follow the counts in proportion: with few it follows less."""
    experiment, n = experiment_of(MECHANISMS[2]), 50_000
    predicted = predict(experiment, shape, n)
    rng = np.random.default_rng(1)
    counts = rng.multinomial(n, experiment.means @ shape, size=16)
    with threadpool_limits(1):
        made = np.stack([estimate(experiment, count / n, n, shape) for count in counts])
    errors = np.abs(made - shape).sum(axis=1)
    assert predicted.l1 == pytest.approx(errors.mean(), rel=0.12)
    scatter = np.sqrt((predicted.scatter**2).sum(axis=1))
    assert np.median(made.std(axis=0) / scatter) == pytest.approx(1.0, abs=0.2)


def test_more_people_and_more_budget_tell_more():
    shape = two_modes()
    by_number = [predict(experiment_of(MECHANISMS[0]), shape, n).l1 for n in (1e2, 1e4, 1e6, 1e9, 1e12)]
    assert by_number == sorted(by_number, reverse=True)
    assert by_number[-1] < 0.02
    waves = [SquareWave(epsilon=e, bounds=UNIT) for e in (0.2, 1.0, 4.0)]
    by_budget = [predict(experiment_of(wave), shape, 1e4).l1 for wave in waves]
    assert by_budget == sorted(by_budget, reverse=True)


def test_noise_of_a_histogram_is_seen():
    shape, quiet = two_modes(), experiment_of(MECHANISMS[3])
    loud = Experiment(quiet.means, noise=100.0 * quiet.noise)
    assert predict(loud, shape, 2000).l1 > 1.5 * predict(quiet, shape, 2000).l1


def test_the_search_for_a_mixture_goes_on_until_it_has_arrived(monkeypatch):
    x = 20.0 * X
    skewed = np.maximum(x - 1.0, 0.0) * np.exp(-0.5 * (x - 1.0))
    coarse = experiment_of(NoisyHistogram(1_000_000, 12, epsilon=1.0, bounds=UNIT))
    found = predict(coarse, skewed / skewed.sum(), 1e6).l1
    monkeypatch.setattr("privmix.planning.predict.MOST_STEPS", 1000)
    assert found == pytest.approx(predict(coarse, skewed / skewed.sum(), 1e6).l1, rel=0.02)
