"""The Metropolis walk and the slice step leave their target unchanged: exact draws stay exact draws, step by step."""

import math

import numpy as np
import pytest
from scipy import stats

from privmix.numerics import steps
from privmix.testing.mutant import build, exchange, source_of

STARTS = 3000


def gamma_and_normal(about, theta):
    """Log density of Gamma(3) for the first parameter, which is positive, and of a standard normal for the second."""
    return 2.0 * math.log(theta[0]) - theta[0] - 0.5 * theta[1] ** 2 if theta[0] > 0.0 else -math.inf


def make_walk():
    return steps.make_walk(gamma_and_normal, lambda kernel, theta: None, lambda: 2, lambda p: p == 0)


def walked(step):
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.gamma(3.0, size=STARTS), rng.standard_normal(STARTS)])
    for row in rows:
        step(None, None, rng, row, 2, 0, np.zeros(2), 0.0, 1.0)
    return stats.kstest(rows[:, 0], stats.gamma(3.0).cdf).pvalue, stats.kstest(rows[:, 1], stats.norm.cdf).pvalue


def test_walk_leaves_its_target_unchanged():
    assert min(walked(make_walk())) > 1e-4


def test_walk_without_the_jacobian_is_seen():
    step = make_walk()
    wrong = build(step, exchange(source_of(step), "(step if log_scale(p) else 0.0)", "0.0"))
    assert walked(wrong)[0] < 1e-6


def test_steps_are_tuned_to_the_wanted_acceptance():
    rng, row, log_step = np.random.default_rng(2), np.array([3.0, 0.0]), np.full(2, 4.0)
    step = make_walk()
    for k in range(4000):
        step(None, None, rng, row, 1, 0, log_step, (1.0 + k) ** -0.6, 1.0)
    kept = [log_step.copy()]
    step(None, None, rng, row, 1, 0, log_step, 0.0, 1.0)
    assert np.array_equal(kept[0], log_step)  # nothing is tuned after warm-up
    # Steps of 2.4 standard deviations accept .44 of a normal target.
    assert math.exp(log_step[1]) == pytest.approx(2.4, rel=0.25)


def sliced(step, law, width):
    rng = np.random.default_rng(3)
    return np.array([step(None, rng, float(x), width) for x in law.rvs(STARTS, random_state=rng)])


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("width", [0.3, 8.0])
def test_slice_step_leaves_its_target_unchanged(most, width):
    step = steps.make_slice_step(lambda about, x: -0.5 * x * x, most_steps=most)
    moved = sliced(step, stats.norm(), width)
    assert stats.kstest(moved, stats.norm.cdf).pvalue > 1e-4


def poisson(about, k):
    return k * math.log(4.0) - math.lgamma(k + 1.0) if k >= 0.0 else -math.inf


def counts_p_value(step, width):
    moved = sliced(step, stats.poisson(4.0), width)
    assert (moved == np.round(moved)).all()
    observed = np.bincount(np.minimum(moved, 10).astype(int), minlength=11)
    expected = stats.poisson(4.0).pmf(np.arange(11))
    expected[10] = stats.poisson(4.0).sf(9)
    return stats.chisquare(observed, STARTS * expected).pvalue


@pytest.mark.parametrize("width", [1, 5])
def test_slice_step_on_whole_numbers(width):
    assert counts_p_value(steps.make_slice_step(poisson, whole=True), width) > 1e-4


def test_slice_of_another_height_is_seen():
    step = steps.make_slice_step(poisson, whole=True)
    wrong = build(step, exchange(source_of(step), "- exponential(rng)", "- 2.0 * exponential(rng)"))
    assert counts_p_value(wrong, 5) < 1e-6


class Script:
    """A source of randomness that is told what to say, and writes down how many answers there were."""

    def __init__(self, fall, answers):
        self.fall, self.answers, self.rooms = fall, answers, []

    def choose(self, room):
        self.rooms.append(room)
        return self.answers[len(self.rooms) - 1] if len(self.rooms) <= len(self.answers) else 0


def paths(run):
    """Yield (result, probability) of every way that a function of answers can go."""
    answers = []
    while answers is not None:
        result, rooms = run(answers)
        answers = [*answers, *[0] * (len(rooms) - len(answers))]
        yield result, 1.0 / math.prod(rooms)
        while answers and answers[-1] == rooms[len(answers) - 1] - 1:
            answers.pop()
        answers = [*answers[:-1], answers[-1] + 1] if answers else None


def transition_matrix(step, log_mass, width):
    """Return the probabilities with which the step itself goes from each whole number to each, by all of its paths."""
    out = np.zeros((len(log_mass), len(log_mass)))
    possible = log_mass > -math.inf
    for place in np.flatnonzero(possible):
        top = log_mass[place]
        # The slice changes only where the level passes a value of the target: one level of each kind.
        falls = np.unique(np.append(top - log_mass[possible & (log_mass < top)], 0.0))
        for low, high in zip(falls, np.append(falls[1:], math.inf), strict=True):
            fall = low + min(0.5 * (high - low), 1.0)

            def run(answers, place=place, fall=fall):
                script = Script(fall, answers)
                return step(log_mass, script, float(place), width), script.rooms

            for result, probability in paths(run):
                out[place, int(result)] += (math.exp(-low) - math.exp(-high)) * probability
    return out


def listed(log_mass, place):
    return log_mass[int(place)] if 0.0 <= place < len(log_mass) else -math.inf


TARGETS = {
    "one peak": [0.5, 2.0, 4.0, 3.0, 1.0],
    "two valleys": [3.0, 0.1, 4.0, 0.3, 2.0, 1.0],
    "comb": [1.0, 0.01, 1.5, 0.02, 2.0, 0.01, 1.0],
    "gap": [1.0, 2.0, 0.0, 0.0, 3.0],
}


@pytest.fixture
def scripted(monkeypatch):
    monkeypatch.setattr(steps, "uniform_index", lambda script, room: script.choose(room))
    monkeypatch.setattr(steps, "exponential", lambda script: script.fall)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("name", TARGETS)
def test_slice_step_on_whole_numbers_is_exact_whatever_the_target(scripted, name, width):
    mass = np.array(TARGETS[name]) / np.sum(TARGETS[name])
    with np.errstate(divide="ignore"):
        matrix = transition_matrix(steps.make_slice_step(listed, whole=True), np.log(mass), width)
    matrix = matrix[mass > 0.0]
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-12)
    flow = mass[mass > 0.0, None] * matrix[:, mass > 0.0]
    assert flow == pytest.approx(flow.T, abs=1e-12)  # reversible, so that the target stays


@pytest.mark.parametrize("name", ["two valleys", "comb"])
def test_slices_that_are_not_the_same_from_both_places_are_seen(scripted, name):
    """What the step was: from 2% to 7% of the mass ended elsewhere. One peak hides it."""
    step = steps.make_slice_step(listed, whole=True)
    wrong = build(step, exchange(source_of(step), " and reached(about, level, first, width, place, tried)", ""))
    away = {}
    for kind in (name, "one peak"):
        mass = np.array(TARGETS[kind]) / np.sum(TARGETS[kind])
        after = mass @ transition_matrix(wrong, np.log(mass), 2)
        away[kind] = 0.5 * np.abs(after - mass).sum()
    assert away[name] > 0.003
    assert away["one peak"] < 1e-12
