"""Trajectories on counts: their geometry by differences, their law by joint tests with planted bugs, their states."""

from dataclasses import replace

import numpy as np
import pytest

import privmix
from mutants.lifted import RESPONSE, SHORT, lifted_bugs
from oracles.histogram_partitions import normal_masses
from privmix import PrivateMixture, kernels, mechanisms, priors
from privmix.engine.block import compile_block
from privmix.engine.chains import Plan, run_chain
from privmix.jit import bind
from privmix.mechanisms import Counted
from privmix.samplers import Lifted
from privmix.samplers.binned.mixture import fill_rests, fill_row
from privmix.samplers.lifted import coordinates, manifold, start, table, trajectory
from privmix.samplers.lifted import state as state_file
from privmix.samplers.lifted.state import ROOM
from privmix.testing import enumeration_test
from privmix.testing.partitions import log_crp, set_partitions
from samplers.lifted_pairs import trajectory_test

WIDE = (-10.0, 10.0)
# Pairs of a joint test: with a momentum that is not tangent p is 3e-14, with the other bugs far less.
PAIRS = 10_000
QUICK = Lifted(most_steps=2, grid=(80, 32))
COUNTS = np.array([30.0, 2.0, 10.0, 40.0, 8.0, 5.0, 3.0, 2.0])
MODEL = replace(RESPONSE, mechanism=Counted(RESPONSE.mechanism))


def chain_of(draws, warmup, start, run=None):
    plan = Plan(MODEL, QUICK, COUNTS, draws, warmup, 1, allocations=False)
    return run_chain(plan, start, run=run or compile_block(MODEL, QUICK, compiled=False))


@pytest.fixture(scope="module")
def ended():
    """Return the end of a short chain in plain Python, which needs no compiling."""
    return chain_of(3, 4, np.random.SeedSequence(1))


@pytest.fixture(scope="module")
def state(ended):
    """Return its state, at a place whose stiff coordinates are known."""
    fill_rests(ended.end.state)
    count = moved(ended.end.state)
    table.combine(ended.end.state, ended.end.state.rest[count - 1], ended.end.state.strip[manifold.REST])
    coordinates.read_place(ended.end.state, count, ended.end.state.places[0])
    return ended.end.state


def moved(state):
    return int(coordinates.sticks_to_move(state, state.lift[coordinates.REACH]))


def by_differences(function, x, step=1e-5):
    """Return the slopes of a function of a place, which is changed and put back."""
    slopes = []
    for place in np.ndindex(x.shape):
        kept, found = x[place], []
        for sign in (1.0, -1.0):
            x[place] = kept + sign * step
            found.append(np.array(function()))
        x[place] = kept
        slopes.append((found[0] - found[1]) / (2.0 * step))
    return np.array(slopes)


def test_table_has_the_combinations_of_rows_and_their_derivatives(state):
    stiff = len(state.centre)
    row, theta, out, some = (
        np.zeros(len(COUNTS)),
        np.zeros(MODEL.kernel.columns),
        np.zeros((6, stiff)),
        np.ones((6, stiff)),
    )
    fill = bind(fill_row, {**MODEL.hooks(), **QUICK.hooks(MODEL)}, compiled=False)
    for location, size in ((0.3, 2.0), (-7.2, 4.1), (12.0, 6.0)):
        table.look_up(state, location, size, out, stiff)
        table.look_up(state, location, size, some, stiff - 1)
        assert np.array_equal(some[:, :-1], out[:, :-1])
        assert np.array_equal(some[:, -1], [*out[:3, -1], 0.0, 0.0, 0.0])
        coordinates.write_atom(state, location, size, theta)
        MODEL.kernel.prepare(theta)
        fill(MODEL.parts(), MODEL.data(COUNTS), state, theta, row)
        assert np.allclose(out[0], row @ state.direction, atol=0.01 * np.abs(state.direction).max())
        place, other = np.array([location, size]), np.zeros((6, len(state.centre)))

        def values(place=place, other=other):
            table.look_up(state, *place, other, stiff)
            return other[:3].copy()

        slopes = by_differences(values, place)
        assert np.allclose(slopes[:, 0], out[1:3], atol=1e-6)
        assert np.allclose([slopes[0, 1], slopes[0, 2], slopes[1, 2]], out[3:6], atol=1e-6)


def test_a_table_is_the_same_whether_rows_are_kept_or_not(ended, monkeypatch):
    monkeypatch.setattr(state_file, "MOST_KEPT", 0)
    other, kept = chain_of(3, 4, np.random.SeedSequence(1)).end.state, ended.end.state
    assert len(other.rows) == 0 < len(kept.rows)
    assert np.array_equal(other.direction, kept.direction)
    assert np.allclose(other.table_of, kept.table_of, rtol=0.0, atol=1e-6 * np.abs(kept.table_of).max())


def test_slopes_of_stiff_coordinates_are_their_differences(state):
    count = moved(state)

    def lifted():
        manifold.evaluate(state, 0, count)
        return state.lifted[0].copy()

    expected = by_differences(lifted, state.places[0][:count])
    lifted()
    assert np.allclose(state.slopes[0][: 3 * count], expected, atol=1e-6)


def held_along(state, held):
    """Return the state with room for trajectories that are held along so many stiff coordinates."""
    room = state_file.room_arrays(state.grid, len(COUNTS), int(state.lift[coordinates.REACH]), len(state.centre), held)
    return state._replace(**{name: room[name] for name in ("pulled", "inverse", "chord", "changes")})


@pytest.mark.parametrize("free", [0, 2])
def test_force_is_the_slope_of_prior_and_volume_and_of_what_draws_to_the_counts(state, free):
    count, held = moved(state), len(state.centre) - free
    state = held_along(state, held)
    hooks = {**MODEL.hooks(), **QUICK.hooks(MODEL)}
    log_prior, fill_force = (bind(f, hooks, compiled=False) for f in (coordinates.log_prior, manifold.fill_force))
    atoms = np.zeros((count, MODEL.kernel.columns))
    trajectory.fill_aim(state)
    aim = COUNTS @ state.direction / COUNTS.sum() - state.centre
    assert np.allclose(state.strip[manifold.AIM], aim)

    def log_density():
        for h in range(count):
            coordinates.write_atom(state, *state.places[0, h, 1:], atoms[h])
        manifold.evaluate(state, 0, count)
        log_volume = manifold.fill_inverse(state, 0, count)
        slope = state.slopes[0][: 3 * count, :held]
        assert np.isclose(log_volume, np.linalg.slogdet(np.eye(held) + slope.T @ slope)[1])
        gap = (state.lifted[0] - aim)[held:]
        return log_prior(MODEL.parts(), state, state.places[0], count, atoms) - 0.5 * log_volume - 0.5 * gap @ gap

    expected = by_differences(log_density, state.places[0][:count])
    log_density()
    fill_force(MODEL.parts(), state, 0, count)
    assert np.allclose(state.force[:count].ravel(), expected, atol=1e-5)


def test_multipliers_change_by_the_slopes_of_where_they_led(state):
    count, rng = moved(state), np.random.default_rng(4)
    held = len(state.centre) - 1
    state = held_along(state, held)
    manifold.evaluate(state, 0, count)
    state.places[1][...] = state.places[0] + 0.3 * rng.standard_normal(state.places[0].shape)
    assert manifold.fill_chord(state, 0, 1, count)
    here, there = (state.slopes[at][: 3 * count, :held].copy() for at in (0, 1))
    assert np.allclose(state.chord.T @ (np.eye(held) + there.T @ here), np.eye(held), atol=1e-9)
    lifted = state.lifted[1][:held].copy()
    manifold.evaluate(state, 1, count)
    assert np.allclose(state.slopes[1][: 3 * count, :held], there)
    assert np.allclose(state.lifted[1][:held], lifted)


def test_slopes_of_where_a_correction_led_save_looks(state, monkeypatch):
    looks = []
    monkeypatch.setattr(trajectory, "lift", lambda *args: looks.append(manifold.lift(*args)))

    def looks_of_drifts():
        looks.clear()
        rng, count, ended = np.random.default_rng(5), moved(state), 0
        manifold.evaluate(state, 0, count)
        for _ in range(40):
            manifold.fill_inverse(state, 0, count)
            trajectory.draw_momentum(state, rng, count)
            manifold.project(state, 0, count)
            ended += trajectory.drift(state, 0, 1, count, 0.3)
        assert ended >= 36
        return len(looks) / 40

    with_slopes = looks_of_drifts()
    monkeypatch.setattr(trajectory, "fill_chord", lambda *args: False)
    without = looks_of_drifts()
    assert with_slopes < 0.85 * without, (with_slopes, without)


def test_a_chain_takes_the_mean_of_the_steps_that_were_tried(monkeypatch):
    taken = []
    monkeypatch.setattr(trajectory, "JITTER", 0.0)
    monkeypatch.setattr(trajectory, "SHORT", 1.0)
    follow = {trajectory.follow: lambda parts, data, state, rng, count, step, steps: taken.append(step) or 0.1}
    travel = bind(trajectory.travel, {**MODEL.hooks(), **QUICK.hooks(MODEL), **follow}, compiled=False)
    rng, state = np.random.default_rng(3), chain_of(3, 4, np.random.SeedSequence(1)).end.state
    part = 3.0 / state.lift[coordinates.LENGTH]
    for gain, used in ((1.0, trajectory.TRIED_STEP), (0.0, trajectory.LOG_STEP)):
        state.tune[0] = gain
        start = state.gear.copy()
        for _ in range(8):
            before = state.gear.copy()
            travel(MODEL.parts(), MODEL.data(COUNTS), state, rng)
            assert taken[-1] == pytest.approx(np.exp(before[used]))
            tried, mean = state.gear[trajectory.TRIED_STEP], before[trajectory.LOG_STEP]
            if tried != before[trajectory.TRIED_STEP]:
                assert state.gear[trajectory.LOG_STEP] == pytest.approx(mean + part * (tried - mean))
        assert np.array_equal(start, state.gear) == (gain == 0.0)
    assert state.gear[trajectory.TRIED_STEP] < state.gear[trajectory.LOG_STEP] - 0.1


def test_a_drift_stays_on_the_manifold_and_comes_back(state):
    count, rng = moved(state), np.random.default_rng(2)
    manifold.evaluate(state, 0, count)
    manifold.fill_inverse(state, 0, count)
    trajectory.draw_momentum(state, rng, count)
    manifold.project(state, 0, count)
    slope, pace = state.slopes[0][: 3 * count], state.pace[:count].ravel()
    assert np.allclose(slope.T @ pace, state.strip[manifold.UP])
    assert trajectory.drift(state, 0, 1, count, 0.1)
    assert np.abs(state.places[1][:count] - state.places[0][:count]).max() > 0.01
    alone = state.lifted[1].copy()
    manifold.evaluate(state, 1, count)
    assert np.allclose(alone, state.lifted[1], rtol=0.0, atol=1e-11)
    trajectory.set_momentum(state, 0, 1, count, 0.1)
    manifold.fill_inverse(state, 1, count)
    manifold.project(state, 1, count)
    assert trajectory.comes_back(state, 0, 1, count, 0.1)


def test_a_start_that_left_sticks_without_mass_gives_them_some(ended):
    state = type(ended.end.state)(*[np.copy(array) for array in ended.end.state])
    count, beyond = moved(state), state.log_left[moved(state) - 1]
    state.weight[0] += state.weight[1:count].sum() - 1e-9 * (count - 1)
    state.weight[1:count] = 1e-9
    before, run = (
        state.theta[:count].copy(),
        bind(start.revive, {**MODEL.hooks(), **QUICK.hooks(MODEL)}, compiled=False),
    )
    run(MODEL.parts(), MODEL.data(COUNTS), state, np.random.default_rng(1), count)
    assert np.allclose(1.0 - np.cumsum(state.weight[: count - 1]), np.exp(state.log_left[: count - 1]))
    assert np.isclose(state.chance.sum(), 1.0)
    assert state.log_left[count - 1] == beyond
    assert state.weight[:count].min() > 0.4 / count
    assert np.array_equal(state.theta[0], before[0])
    assert (state.theta[1:count, 0] != before[1:, 0]).all()


def test_a_stick_without_mass_gets_the_atom_that_is_missed_most(ended):
    """Of the atoms that the same random numbers give, the one with the largest Σ c F/p."""
    state = type(ended.end.state)(*[np.copy(array) for array in ended.end.state])
    hooks = {**MODEL.hooks(), **QUICK.hooks(MODEL)}
    draw, fill, give = (
        bind(f, hooks, compiled=False) for f in (start.draw_atom, start.fill_row, start.draw_missing_atom)
    )
    parts, data, rng = MODEL.parts(), MODEL.data(COUNTS), np.random.default_rng(1)
    gains, rows, chance = [], [], state.chance.copy()
    for _ in range(start.CANDIDATES):
        theta, row = np.zeros(state.theta.shape[1]), np.zeros(len(chance))
        draw(parts.kernel, rng, theta, state.hyper)
        fill(parts, data, state, theta, row)
        gains.append(float((state.counts * row / chance).sum()))
        rows.append(row)
    give(parts, data, state, np.random.default_rng(1), 1, 0.1)
    best = rows[int(np.argmax(gains))]
    assert np.allclose(state.row[1], best)
    assert np.allclose(state.chance, 0.9 * chance + 0.1 * best)


@pytest.mark.long
@pytest.mark.parametrize(("turn", "free"), [(0.25, 0), (1.5, 1), (2.0, 6)])
def test_trajectories_leave_the_posterior_unchanged(turn, free, monkeypatch):
    monkeypatch.setattr(table, "LARGEST_TURN", turn)
    result, rate, state = trajectory_test(RESPONSE, SHORT, n=1000, pairs=PAIRS)
    assert not result.rejected, str(result)
    # Steps here are fixed: where hardly anything is held they are too long, and three of four are refused.
    assert rate[0] > (0.2 if free > 1 else 0.5)
    assert len(state.centre) > 4
    assert len(state.inverse) == len(state.centre) - free


BUGS = lifted_bugs()


@pytest.mark.long
@pytest.mark.parametrize("mutant", BUGS, ids=lambda mutant: mutant.name)
def test_planted_bug_of_a_trajectory_is_rejected(mutant):
    result, _, _ = trajectory_test(
        mutant.model, mutant.sampler, n=mutant.n, pairs=PAIRS, replacements=mutant.replacements()
    )
    assert result.rejected, str(result)


@pytest.mark.long
def test_partitions_of_four_records_follow_their_exact_law():
    cells, probability = 4, np.array([0.08, 0.76])  # of another cell, of the right one
    mechanism = mechanisms.RandomizedResponse(cells=cells, epsilon=np.log(probability[1] / probability[0]), bounds=WIDE)
    model = PrivateMixture(mechanism, kernels.Normal(0.0, 0.1, 3.0, 3.0), priors.DirichletProcess(1.0))
    z = np.array(mechanism.outputs)[[0, 0, 2, 3]]
    masses, weights = normal_masses(np.linspace(*WIDE, cells + 1), 0.0, 0.1, 3.0, 3.0)
    g = (probability[0] + (probability[1] - probability[0]) * masses)[:, [0, 0, 2, 3]]
    exact = np.array([weigh(partition, g, weights) for partition in set_partitions(4)])
    sampler = Lifted(most_steps=6, grid=(221, 39))
    result = enumeration_test(model, sampler, z, exact, chains=10_000, sweeps=20)
    assert result.p_value > 1e-6, str(result)


def weigh(partition, g, weights):
    """Return what a partition weighs: the urn's, times the integral over the base measure for each cluster."""
    total = np.exp(log_crp(partition, 1.0))
    for cluster in set(partition):
        total *= weights @ np.prod(g[:, [label == cluster for label in partition]], axis=1)
    return total


def test_a_stored_state_goes_on_draw_for_draw(ended, tmp_path):
    plan = Plan(MODEL, QUICK, COUNTS, 3, 4, 1, allocations=False)
    posterior = privmix.Posterior.from_chains(plan, [ended], complete=1, seeded=0, seed="1")
    posterior.save(tmp_path / "fit.nc")
    end = privmix.load(tmp_path / "fit.nc").ends[0]
    assert all(getattr(end.state, name).size == 0 for name in ROOM)
    ours, theirs = (chain_of(3, 0, start).draws for start in (end, ended.end))
    for name, array in ours._asdict().items():
        assert np.array_equal(array, getattr(theirs, name), equal_nan=True), name
    whole = chain_of(6, 4, np.random.SeedSequence(1)).draws
    assert np.array_equal(ours.weight[:, :5], whole.weight[3:, :5])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lift", lambda a: a * 0 + 2),
        ("lift", lambda a: a * 10**6),
        ("lift", lambda a: a[:-1]),
        ("lift", lambda a: a - (np.arange(len(a)) == coordinates.HELD) * 99),
        ("lift", lambda a: a + (np.arange(len(a)) == coordinates.HELD)),
        ("gear", lambda a: a * np.nan),
        ("gear", lambda a: a + 1e9),
        ("grid", lambda a: a + 1),
        ("frame", lambda a: a + 1.0),
        ("direction", lambda a: a[:, :-1]),
        ("direction", lambda a: a * np.inf),
        ("centre", lambda a: a[:-1]),
        ("table_of", lambda a: a[:-1]),
        ("new_row", lambda a: a[:-1]),
        ("places", lambda a: a[:, :-1]),
    ],
)
def test_a_damaged_state_is_refused(ended, name, change):
    assert QUICK.check_state(MODEL, 100, ended.end.state) == ""
    damaged = ended.end.state._replace(**{name: change(getattr(ended.end.state, name))})
    assert QUICK.check_state(MODEL, 100, damaged) != ""


UNIT = (0.0, 1.0)
HISTOGRAM = mechanisms.NoisyHistogram(100, 8, epsilon=2.0, bounds=WIDE)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            PrivateMixture(HISTOGRAM, kernels.HierarchicalNormal(WIDE)),
            "noise was added to the counts, or to the bits of each record. Use Binned",
        ),
        (
            PrivateMixture(mechanisms.RandomizedResponse(cells=6, epsilon=1.0, bounds=UNIT), kernels.Beta()),
            "moves a location and a positive size; Beta has the parameters",
        ),
        (replace(RESPONSE, prior=priors.Dirichlet(5)), "Dirichlet has finitely many components"),
        (replace(RESPONSE, prior=priors.FiniteMixture()), "FiniteMixture has finitely many components"),
        (replace(RESPONSE, prior=priors.PitmanYor()), "falls as a power of their number"),
        (PrivateMixture(mechanisms.Laplace(scale=1.0), kernels.Normal()), "Laplace needs bounds"),
    ],
)
def test_models_that_are_refused(model, words):
    with pytest.raises(ValueError, match=words):
        Lifted().check(model)


@pytest.mark.parametrize(
    "about", [{"most_stiff": 0}, {"most_sticks": 0}, {"most_steps": 0}, {"grid": (3, 10)}, {"bins": 1}]
)
def test_settings_that_are_refused(about):
    with pytest.raises(ValueError, match=next(iter(about))):
        Lifted(**about)


FINE = {"step_drift": 0.1, "failed": 0.01, "acceptance": 0.7, "excess": 1.0, "stiff": 12.0, "sticks_moved": 20.0}


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({}, []),
        ({"step_drift": -1.0}, ["fell to 1/2.7"]),
        ({"step_drift": -1.0, "acceptance": 0.9}, []),
        ({"step_drift": 2.0}, []),
        ({"failed": 0.4, "acceptance": 0.1}, ["40% of the trajectories", "accepted 10%"]),
        ({"failed": 0.2}, []),
        ({"excess": 40.0}, ["40 standard deviations further"]),
        ({"stiff": 80.0, "sticks_moved": 64.0}, ["as many stiff combinations", "as many sticks that move"]),
    ],
)
def test_doubts_are_said_in_words(about, words):
    worst = {name: np.array([[FINE[name]] * 4, [value] * 4]) for name, value in {**FINE, **about}.items()}
    found = Lifted().doubts(worst)
    assert len(found) == len(words)
    for (text, advice), word in zip(found, words, strict=True):
        assert word in text
        assert advice.endswith(".")


def test_check_says_what_a_sampler_doubts(ended):
    plan = Plan(MODEL, QUICK, COUNTS, 3, 4, 1, allocations=False)
    posterior = privmix.Posterior.from_chains(plan, [ended], complete=1, seeded=0, seed="1")
    posterior.datatree["sample_stats"]["step_drift"][:] = -2.0
    posterior.datatree["sample_stats"]["acceptance"][:] = 0.7
    assert any(
        finding.title == "Lifted" and "7.4" in finding.text for finding in posterior.check(replicates=20, seed=1)
    )
