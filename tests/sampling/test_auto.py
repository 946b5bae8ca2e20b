"""Auto chooses a sampler, says which and why, and gives the draws that the chosen sampler gives."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest

import privmix
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.engine import chains as chains_file
from privmix.samplers import auto as auto_file

BOUNDS = (-10.0, 10.0)


def release(epsilon, n=60):
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    return PrivateMixture(mechanism), mechanism.privatize(np.repeat([-5.0, 0.0, 5.0], n // 3), seed=1)


def test_choice_follows_the_noise():
    first = [samplers.Auto().candidates(*release(epsilon))[0].sampler for epsilon in (1.0, 10.0, 100.0)]
    assert first == [
        samplers.SplitMerge(samplers.Neal5(exact=True)),
        samplers.Neal5(),
        samplers.Slice(records="exact"),
    ]


def test_choice_follows_the_number_of_records():
    chosen = [samplers.Auto().candidates(*release(epsilon, n=600))[0].sampler for epsilon in (1.0, 10.0)]
    assert chosen == [samplers.Binned()] * 2
    # Four hundred bins are needed for noise this weak: records are cheaper, unless they are many.
    chosen = [samplers.Auto().candidates(*release(50.0, n=n))[0].sampler for n in (600, 6000)]
    assert chosen == [samplers.Slice(records="exact"), samplers.Binned()]
    assert samplers.Auto().candidates(*release(500.0, n=21_000))[0].sampler == samplers.Binned()
    costly = PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=(0.0, 1.0)), kernels.Beta())
    assert samplers.Auto().candidates(costly, np.full(21_000, 0.5))[0].sampler != samplers.Binned()


def chosen_for(model, n, sweeps=12_000):
    z = np.full(len(model.mechanism.places), n / len(model.mechanism.places))
    return samplers.Auto().choose(model, z, sweeps, None)


def test_very_many_records_are_fitted_by_trajectories():
    counted = mechanisms.Counted(mechanisms.RandomizedResponse(cells=16, epsilon=1.0, bounds=BOUNDS))
    model = privmix.default_model(counted)
    assert [chosen_for(model, n)[0] for n in (16e3, 16e4)] == [samplers.Binned(), samplers.Lifted()]
    assert "by rule: a table of counts, of so many that other steps are short" in chosen_for(model, 16e8)[1]
    assert chosen_for(model, 16e8, sweeps=500)[0] == samplers.Binned()
    one_by_one = privmix.default_model(counted.mechanism)
    assert samplers.Auto().choose(one_by_one, np.tile(np.arange(16.0), 10_000), 12_000, None)[0] == samplers.Lifted()


def test_trajectories_are_left_where_they_cannot_serve():
    response = mechanisms.RandomizedResponse(cells=16, epsilon=1.0, bounds=(0.0, 1.0))
    counted, narrow = mechanisms.Counted(response), mechanisms.Laplace(epsilon=200.0, bounds=BOUNDS)
    for model in (
        PrivateMixture(counted, kernels.Beta()),
        privmix.default_model(counted, privmix.priors.Dirichlet(5)),
        privmix.default_model(mechanisms.Counted(narrow)),  # so many bins that tables take longer than sweeps
    ):
        assert chosen_for(model, 1e3 * len(model.mechanism.places))[0] == samplers.Binned()
    for records in (1_000_000, None):
        histogram = mechanisms.NoisyHistogram(records, 16, epsilon=1.0, bounds=BOUNDS, neighbours="add-remove")
        model = privmix.default_model(histogram)
        assert samplers.Auto().choose(model, np.full(16, 62_500.0), 12_000, None)[0] == samplers.Binned()


def test_choice_follows_how_closely_a_record_is_told():
    """A narrow wave never accepts a proposal; a cell of randomized response does, but comes in few counts."""
    y = np.repeat([-5.0, 0.0, 5.0], 200)

    def choose(mechanism, n):
        model = PrivateMixture(mechanism)
        return samplers.Auto().candidates(model, mechanism.privatize(y[:: 600 // n], seed=1))[0].sampler

    waves = [mechanisms.SquareWave(epsilon=epsilon, bounds=BOUNDS) for epsilon in (2.0, 10.0)]
    assert [choose(wave, 60) for wave in waves] == [samplers.Neal5(), samplers.Slice(records="exact")]
    assert [choose(wave, 600) for wave in waves] == [samplers.Neal5(), samplers.Slice(records="exact")]
    loud = mechanisms.SquareWave(epsilon=1.0, bounds=BOUNDS)
    assert [choose(loud, n) for n in (60, 600)] == [samplers.Neal5(), samplers.Binned()]
    response = mechanisms.RandomizedResponse(cells=16, epsilon=10.0, bounds=BOUNDS)
    assert [choose(response, n) for n in (3, 60, 600)] == [samplers.Binned()] * 3
    # Sets of cells share the masses of the cells: 190 of them are as cheap as 20 cells.
    subsets = mechanisms.SubsetSelection(cells=20, size=2, epsilon=4.0, bounds=BOUNDS)
    assert [choose(subsets, n) for n in (3, 60, 600)] == [samplers.Binned()] * 3


def test_a_pair_without_g_gets_the_papers_samplers():
    model = PrivateMixture(mechanisms.Gaussian(scale=2.0, bounds=(0.0, 1.0)), kernels.Beta())
    names = {type(candidate.sampler).__name__ for candidate in samplers.Auto().candidates(model, np.zeros(5))}
    assert names == {"Neal5", "Slice"}
    assert all(not getattr(c.sampler, "exact", False) for c in samplers.Auto().candidates(model, np.zeros(5)))


def test_revealed_records_are_served():
    model = PrivateMixture(mechanisms.Identity())
    posterior = model.sample(np.linspace(-3.0, 3.0, 20), draws=20, warmup=5, thin=1, chains=1, seed=1)
    assert posterior.n_clusters.min() >= 1


def test_choice_is_told_and_kept(tmp_path):
    model, z = release(1.0)
    posterior = model.sample(z, draws=30, warmup=10, thin=1, chains=2, seed=1)
    assert posterior.sampler == samplers.SplitMerge(samplers.Neal5(exact=True))
    assert "by rule: noise" in posterior.datatree.attrs["auto"]
    posterior.save(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc")
    assert loaded.sampler == posterior.sampler
    assert loaded.resume(5).datatree.attrs["auto"] == posterior.datatree.attrs["auto"]


def test_draws_are_those_of_the_chosen_sampler_and_of_the_seed():
    model, z = release(1.0)
    settings = {"draws": 400, "warmup": 100, "thin": 15, "chains": 2, "seed": 3}
    posterior = model.sample(z, **settings)
    assert "a pilot of" in posterior.datatree.attrs["auto"]
    again = model.sample(z, **settings)
    named = model.sample(z, posterior.sampler, **settings)
    assert np.array_equal(posterior.n_clusters, again.n_clusters)
    assert np.array_equal(posterior.n_clusters, named.n_clusters)


@pytest.mark.parametrize(("better", "expected"), [(1.0, 0), (1.9, 0), (2.1, 1)])
def test_pilot_overrules_only_when_clearly_better(better, expected, monkeypatch):
    model, z = release(1.0)
    auto = samplers.Auto()
    candidates = auto.candidates(model, z)
    # An effective sample size of one a draw for a unit of cost, times what the second is better.
    costs = {c.sampler: c.cost for c in candidates}
    sizes = {candidates[0].sampler: 1.0, candidates[1].sampler: better}
    monkeypatch.setattr(auto_file, "effective_size", lambda values: values[0])

    def trial(sampler, sweeps, points):
        assert sweeps == 300
        return np.full((10, len(points)), sizes[sampler] * costs[sampler])

    chosen, why = auto.choose(model, z, 10_000, trial)
    assert chosen == candidates[expected].sampler
    assert "a pilot of 300 sweeps" in why


def test_any_sampler_can_choose_another():
    """What `Auto` does is a member that a sampler of one's own may have."""

    @dataclass(frozen=True)
    class Second(samplers.Sampler):
        def choose(self, model, z, sweeps, trial):
            values = trial(samplers.Neal5(), 20, np.array([0.0, 1.0]))
            assert values.shape == (10, 2)
            return samplers.Neal5(auxiliaries=2), "the second of two"

    model, z = release(10.0)
    posterior = model.sample(z, Second(), draws=20, warmup=5, chains=1, seed=1)
    assert posterior.sampler == samplers.Neal5(auxiliaries=2)
    assert posterior.datatree.attrs["auto"] == "the second of two"


def test_chosen_sampler_is_checked_against_the_model():
    @dataclass(frozen=True)
    class Careless(samplers.Sampler):
        def choose(self, model, z, sweeps, trial):
            return samplers.Neal2(), "without a look at the model"

    model, z = release(10.0)
    with pytest.raises(ValueError, match=r"^Neal2"):
        model.sample(z, Careless(), draws=20, warmup=5, chains=1, seed=1)


def test_effective_size_tells_sticky_chains():
    rng = np.random.default_rng(1)
    free = rng.standard_normal(2000)
    sticky = np.repeat(rng.standard_normal(40), 50)
    assert auto_file.effective_size(free) > 4.0 * auto_file.effective_size(sticky)
    assert auto_file.effective_size(np.ones(100)) == 0.0


def test_the_pilot_leaves_the_main_thread_free_for_ctrl_c(monkeypatch):
    """Ctrl-C that comes while the main thread compiles may be swallowed by the compiler, which then breaks."""
    threads, compiled = [], chains_file.compile_block
    monkeypatch.setattr(
        chains_file, "compile_block", lambda *parts: threads.append(threading.current_thread()) or compiled(*parts)
    )
    model, z = release(1.0)
    posterior = model.sample(z, draws=400, warmup=100, thin=15, chains=1, seed=1)
    assert "a pilot of" in posterior.datatree.attrs["auto"]
    assert len(threads) == 3  # two samplers are tried, one runs
    assert threading.main_thread() not in threads


def test_ctrl_c_during_the_pilot_is_heard(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(chains_file, "compile_block", lambda model, sampler: interrupted)
    model, z = release(1.0)
    with pytest.raises(KeyboardInterrupt):
        model.sample(z, seed=1)
