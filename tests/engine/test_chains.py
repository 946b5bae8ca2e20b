"""Chains depend on their seed alone, survive interruption, and go on where they stopped."""

import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

from privmix import PrivateMixture, mechanisms, samplers
from privmix.engine import block
from privmix.engine import chains as chains_file
from privmix.engine.block import stack_draws
from privmix.engine.chains import Plan, even, rescue, run_chain, run_chains, shorten

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
MODEL = PrivateMixture(MECHANISM)
Z = MECHANISM.privatize(np.linspace(-9.0, 9.0, 40), seed=1)
SAMPLERS = [samplers.Neal5(), samplers.Slice()]


def same_draws(one, other):
    groups = ("posterior", "sample_stats")
    return all(one.datatree[group].to_dataset().equals(other.datatree[group].to_dataset()) for group in groups)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_draws_do_not_depend_on_workers(sampler):
    settings = {"draws": 50, "warmup": 20, "thin": 1, "chains": 4, "seed": 7}
    alone = MODEL.sample(Z, sampler, **settings)
    for workers in (1, 2, 4):
        with ThreadPoolExecutor(workers) as pool:
            assert same_draws(alone, MODEL.sample(Z, sampler, executor=pool, **settings))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert same_draws(alone, MODEL.sample(Z, sampler, executor=pool, **settings))
    assert not same_draws(alone, MODEL.sample(Z, sampler, **{**settings, "seed": 8}))


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_draws_do_not_depend_on_blocks_or_room(sampler, monkeypatch):
    plan = Plan(MODEL, sampler, Z, 60, 20, 2, allocations=True)
    seeds = np.random.SeedSequence(3)
    expected = run_chain(plan, seeds)
    monkeypatch.setattr(chains_file, "_next_size", lambda size, seconds: 1)
    monkeypatch.setattr(chains_file.empty_draws, "__defaults__", (1,))
    monkeypatch.setattr(chains_file, "FIRST_DRAWS", 1)
    if isinstance(sampler, samplers.Slice):
        allocate = samplers.Slice.allocate

        def cramped(self, model, n):
            state = allocate(self, model, n)
            names = ("size", "theta", "weight", "log_left", "score", "offset", "scratch")
            return state._replace(**{name: getattr(state, name)[:12].copy() for name in names})

        monkeypatch.setattr(samplers.Slice, "allocate", cramped)
    actual = run_chain(plan, seeds)
    used = expected.draws.components.max()
    for name in ("n_clusters", "concentration", "components", "allocation", "statistic"):
        assert np.array_equal(getattr(expected.draws, name), getattr(actual.draws, name)), name
    assert np.array_equal(expected.draws.weight[:, :used], actual.draws.weight[:, :used])
    assert np.array_equal(expected.draws.atom[:, :used], actual.draws.atom[:, :used], equal_nan=True)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_resume_equals_one_longer_run(sampler):
    short = MODEL.sample(Z, sampler, draws=30, warmup=20, thin=2, chains=2, seed=5)
    assert same_draws(short.resume(25), MODEL.sample(Z, sampler, draws=55, warmup=20, thin=2, chains=2, seed=5))


def test_interruption_keeps_the_draws_made(monkeypatch):
    """Ctrl-C reaches the main thread while it waits; chains stop after their block and hand over what they have."""
    waited, settings = threading.Event(), {"warmup": 10, "thin": 1, "chains": 2, "seed": 1, "allocations": False}

    def interrupted(futures):
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and not all(row.get("kept") for row in MONITORS[-1].rows):
            time.sleep(0.01)
        waited.set()
        raise KeyboardInterrupt

    MONITORS = []
    monitor = chains_file.Monitor
    monkeypatch.setattr(chains_file, "Monitor", lambda *a: MONITORS.append(monitor(*a)) or MONITORS[-1])
    monkeypatch.setattr(chains_file, "_wait", interrupted)
    with pytest.warns(UserWarning, match="interrupted: . of 2 chains kept"):
        posterior = MODEL.sample(Z, samplers.Neal5(), draws=5_000_000, **settings)
    assert waited.is_set()
    assert 0 < posterior.draws < 5_000_000
    assert posterior.datatree.attrs["complete"] == 0
    monkeypatch.undo()
    thin = posterior.plan.thin  # one in so many was kept
    fresh = MODEL.sample(Z, samplers.Neal5(), draws=posterior.draws, **{**settings, "thin": thin})
    kept = [any(np.array_equal(a, b) for b in fresh.n_clusters.values) for a in posterior.n_clusters.values]
    assert all(kept)


def test_interruption_before_any_draw_is_passed_on(monkeypatch):
    def interrupted(futures):
        raise KeyboardInterrupt

    monkeypatch.setattr(chains_file, "_wait", interrupted)
    plan = Plan(MODEL, samplers.Neal5(), Z, 10, 10_000_000, 1, allocations=False)
    with pytest.raises(KeyboardInterrupt):
        run_chains(plan, list(np.random.SeedSequence(1).spawn(2)))


def test_interruption_does_not_wait_for_the_compiler(monkeypatch):
    """The compiler cannot be stopped: chains that have not begun are left to it, and stop when it is done."""
    compiling, interrupted, stopped = threading.Event(), threading.Event(), threading.Event()

    def compile_for_long(*_):
        compiling.set()
        assert interrupted.wait(60.0)
        stopped.set()
        raise KeyboardInterrupt

    def interrupt(futures):
        assert compiling.wait(60.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(chains_file, "compile_block", lambda model, sampler: compile_for_long)
    monkeypatch.setattr(chains_file, "_wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_chains(Plan(MODEL, samplers.Neal5(), Z, 10, 10, 1, allocations=False), [1, 2])
    assert not stopped.is_set()
    interrupted.set()
    assert stopped.wait(60.0)


def test_chains_of_unequal_length_are_cut_to_keep_most_draws():
    plan = Plan(MODEL, samplers.Neal5(), Z, 30, 0, 1, allocations=False)
    lengths = [30, 28, 3]
    made = [run_chain(Plan(**{**vars(plan), "draws": d}), s) for d, s in zip(lengths, [1, 2, 3], strict=True)]
    kept = shorten(made)
    assert [chain.length for chain in kept] == [28, 28]


@pytest.mark.parametrize("draws", [40, 5_000])
def test_what_is_gathered_and_saved_after_an_interruption_does_not_grow_with_the_draws(monkeypatch, draws):
    plan = Plan(MODEL, samplers.Neal5(), Z, 10 * draws, 0, 2, allocations=True)
    made = [run_chain(Plan(**{**vars(plan), "draws": draws}), seed) for seed in (1, 2)]
    monkeypatch.setattr(chains_file, "MOST_BYTES_IN_HASTE", 2**17)
    spaced, kept = rescue(plan, made)
    gathered = stack_draws([chain.pieces for chain in kept])
    assert sum(array.nbytes for array in gathered) <= 2**17
    step = spaced.thin // plan.thin
    assert (step > 1) == (draws > 40)
    assert spaced.draws == 10 * draws // step
    for chain, whole in zip(kept, made, strict=True):
        assert chain.length == draws // step
        np.testing.assert_array_equal(chain.draws.allocation, whole.draws.allocation[step - 1 :: step])
        assert chain.end is whole.end


def note_sweeps(parts, data, state, rng, latent, draws, control, stop):
    """Take the place of a block: each draw holds the sweep that it was made in."""
    while control[block.DONE] < stop:
        control[block.DONE] += 1
        past = control[block.DONE] - control[block.WARMUP]
        if past > 0 and past % control[block.THIN] == 0:
            draws.n_clusters[control[block.KEPT]], draws.components[control[block.KEPT]] = control[block.DONE], 1
            control[block.KEPT] += 1
    return block.FINISHED


@pytest.mark.parametrize("draws", [4_000, 4_001, 7_999])
@pytest.mark.parametrize("first", [1, 64, 65])
def test_draws_never_take_more_than_their_share_of_memory(monkeypatch, draws, first):
    """Every second draw is let go, again and again: what is left is evenly spaced from the first sweep to the last."""
    monkeypatch.setattr(chains_file, "FIRST_DRAWS", first)
    monkeypatch.setattr(chains_file, "PIECE_BYTES", 2**16)
    plan = Plan(MODEL, samplers.Neal5(), Z, draws, 3, 2, allocations=True, room=2**20)
    chain = run_chain(plan, 1, run=note_sweeps)
    # A piece is no larger than what there was before it.
    assert sum(array.nbytes for piece in chain.pieces for array in piece) <= 2 * plan.room
    step = chain.thin // plan.thin
    assert step in (4, 8)
    assert chain.length == draws // step
    np.testing.assert_array_equal(chain.draws.n_clusters, 3 + 2 * step * np.arange(1, draws // step + 1))


def test_a_fit_without_room_for_all_draws_says_so_and_goes_on(monkeypatch):
    monkeypatch.setattr(chains_file, "FIRST_DRAWS", 64)
    monkeypatch.setattr(chains_file, "memory", lambda: 8 * 2**20)
    with pytest.warns(UserWarning, match="no room for all draws: 500 are kept, one in 2 of those made"):
        posterior = MODEL.sample(
            Z, samplers.Neal5(), draws=1_000, thin=1, warmup=5, chains=2, seed=3, allocations=False
        )
    assert (posterior.draws, posterior.plan.thin) == (500, 2)
    monkeypatch.setattr(chains_file, "memory", lambda: 4 * 2**20)
    with pytest.warns(UserWarning, match=r"no room for all draws: \d+ were added, one in \d+ of those made"):
        longer = posterior.resume(600)
    step = longer.plan.thin // posterior.plan.thin
    assert step > 1
    assert longer.draws == 500 // step + 600 // step
    np.testing.assert_array_equal(longer.n_clusters[:, : 500 // step], posterior.n_clusters[:, step - 1 :: step])


def test_chains_of_unequal_spacing_are_made_even():
    plan = Plan(MODEL, samplers.Neal5(), Z, 40, 0, 1, allocations=False)
    fine, coarse = (run_chain(replace(plan, draws=d, thin=40 // d), 1, run=note_sweeps) for d in (40, 10))
    for chain in even([fine, coarse]):
        assert chain.thin == 4
        np.testing.assert_array_equal(chain.draws.n_clusters, 4 * np.arange(1, 11))


def test_an_error_in_a_chain_reaches_the_caller(monkeypatch):
    def broken(*args):
        raise RuntimeError("no more")

    monkeypatch.setattr(chains_file, "compile_block", lambda model, sampler: broken)
    with pytest.raises(RuntimeError, match="no more"):
        MODEL.sample(Z, draws=5, warmup=5, thin=1, chains=2, seed=1)


def test_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    MODEL.sample(Z, draws=20, warmup=20, thin=1, chains=2, seed=1, progress=True)
    shown = capsys.readouterr().out
    assert "chain 1" in shown
    assert "chain 2" in shown
    assert "40/40" in shown
