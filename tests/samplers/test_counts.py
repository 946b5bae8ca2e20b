"""Fits of tables of counts: draw for draw those of the records in bins, whatever the number of records."""

import types

import numpy as np
import pytest
from scipy import integrate, stats

import privmix
from privmix.curves.counts import chances_finder, counts_drawer
from privmix.engine import Plan
from privmix.engine.chains import run_chain
from privmix.kernels import HierarchicalNormal
from privmix.mechanisms import Counted, Laplace, RandomizedResponse
from privmix.samplers import Binned, Neal5, Neal8, Slice
from privmix.samplers.base import Draws
from privmix.samplers.binned.bins import seat_counts

LAPLACE = Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
RESPONSE = RandomizedResponse(cells=8, epsilon=2.0, bounds=(-10.0, 10.0))


def records(n=400):
    rng = np.random.default_rng(1)
    return np.where(rng.random(n) < 0.7, rng.normal(-3.0, 1.0, n), rng.normal(4.0, 0.7, n))


def plan_of(mechanism, z, sampler, draws=20, warmup=30):
    return Plan(privmix.default_model(mechanism), sampler, z, draws, warmup, 1, allocations=False)


@pytest.mark.parametrize(
    "counted",
    [Counted(LAPLACE, 64), pytest.param(Counted(RESPONSE), marks=pytest.mark.long)],
    ids=lambda counted: counted.name_of_each,
)
def test_chain_goes_on_as_that_of_the_records(counted):
    z = counted.mechanism.privatize(records(), seed=2)
    sampler = Binned(64)
    end = run_chain(plan_of(counted.mechanism, z, sampler), np.random.SeedSequence(3)).end
    ours = run_chain(plan_of(counted, counted.count(z), Binned(), warmup=0), end).draws
    theirs = run_chain(plan_of(counted.mechanism, z, sampler, warmup=0), end).draws
    assert len(np.unique(theirs.concentration)) > 1
    for name, array in ours._asdict().items():
        assert np.array_equal(array, getattr(theirs, name), equal_nan=True), name


def seated(counts, groups, seat=seat_counts):
    size, table = np.zeros(groups, np.int64), np.zeros((groups, len(counts)), np.int64)
    state = types.SimpleNamespace(size=size, table=table, counts=np.zeros(len(counts)))
    data, latent = types.SimpleNamespace(z=counts), types.SimpleNamespace(atoms=np.zeros((groups, 1)))
    seat(None, data, state, latent)
    return state


@pytest.mark.parametrize("counts", [[3.0, 0.0, 1.0, 5.0, 2.0], [1.0, 2.0**50, 7.0, 2.0**49 + 1.0], [1.0] * 9])
@pytest.mark.parametrize("groups", [1, 2, 7])
def test_start_seats_every_record_in_groups_of_equal_size(counts, groups):
    counts = np.array(counts)
    state = seated(counts, groups)
    assert np.array_equal(state.table.sum(axis=0), counts)
    assert np.array_equal(state.table.sum(axis=1), state.size)
    assert np.ptp(state.size) <= 1
    highest = [np.flatnonzero(row).max() for row in state.table]
    lowest = [np.flatnonzero(row).min() for row in state.table]
    assert all(last <= first for last, first in zip(highest[:-1], lowest[1:], strict=True))


@pytest.mark.parametrize(
    "bug", ["a record for each bin", "the rest of a bin", "no counts"], ids=lambda bug: bug.replace(" ", "-")
)
def test_check_of_the_state_finds_planted_bugs_of_the_start(bug):
    def seat(parts, data, state, latent):
        seat_counts(parts, data, state, latent)
        if bug == "a record for each bin":
            state.table[0, :] += 1
        elif bug == "the rest of a bin":
            state.table[-1, np.flatnonzero(state.table[-1])[0]] -= 1
        else:
            state.counts[:] = 0.0

    counted = Counted(RESPONSE)
    sampler, model = Binned(), privmix.default_model(counted)
    for how, right in ((seat_counts, True), (seat, False)):
        made = seated(np.arange(1.0, 9.0), 3, how)
        state = sampler.allocate(model, 36)
        state.size[:3], state.table[:3], state.counts[:] = made.size, made.table, made.counts
        wrong = sampler.check_values(36, state)
        assert ("the records of each" not in wrong) == right


def one_draw(weight, atom):
    none = np.zeros((1, 1, 0))
    return Draws(
        n_clusters=np.ones((1, 1), np.int64),
        concentration=np.ones((1, 1)),
        hyper=none,
        components=np.full((1, 1), len(weight)),
        weight=np.array([[weight]]),
        atom=np.array([[atom]]),
        allocation=none.astype(np.int32),
        statistic=none,
    )


def test_a_billion_records_take_no_room():
    model = privmix.default_model(Counted(LAPLACE, 64))
    counts = counts_drawer(model, one_draw([0.3, 0.7], [[-3.0, 1.5], [5.0, 4.0]]), 10**9, np.random.default_rng(1))()
    posterior = model.sample(privmix.Release(counts, model.mechanism), draws=20, warmup=20, thin=1, chains=1, seed=1)
    assert posterior.records == 1_000_000_000
    assert sum(array.nbytes for array in posterior.ends[0].state) < 1e6
    assert posterior.predictive(5, seed=1)["z"].shape == (5,)
    check = posterior.predictive_check(replicates=20)
    assert np.isclose(check["observed_share"].sum(), 1.0)
    assert posterior.informativeness(null=1, draws=5, warmup=5, chains=1).distance > 0.1
    for call in (posterior.similarity, posterior.clustering):
        with pytest.raises(ValueError, match="which record is in which bin was not kept"):
            call()


def test_chances_of_bins_are_integrals():
    counted = Counted(LAPLACE, 64)
    draws = one_draw([0.3, 0.7], [[-3.0, 1.5], [5.0, 4.0]])
    chances = chances_finder(privmix.default_model(counted), draws)(np.array([0]))
    parts = [stats.truncnorm((-10 - m) / v**0.5, (10 - m) / v**0.5, m, v**0.5) for m, v in ((-3.0, 1.5), (5.0, 4.0))]
    noise, edges = stats.laplace(scale=LAPLACE.scale), np.array([-np.inf, *counted.edges[1:-1], np.inf])
    for b in (0, 20, 32, 45, 63):
        expected = integrate.quad(
            lambda y, b=b: (
                (0.3 * parts[0].pdf(y) + 0.7 * parts[1].pdf(y))
                * (noise.cdf(edges[b + 1] - y) - noise.cdf(edges[b] - y))
            ),
            -10.0,
            10.0,
            points=[-3.0, 5.0],
            limit=200,
            epsabs=1e-13,
        )[0]
        assert np.isclose(chances[b], expected, rtol=1e-8)


def test_replicates_follow_the_chances():
    model, draws = privmix.default_model(Counted(RESPONSE)), one_draw([1.0], [[0.0, 4.0]])
    draw = counts_drawer(model, draws, 10**12, np.random.default_rng(1))
    chances = chances_finder(model, draws)(np.array([0]))
    made = np.mean([draw() for _ in range(20)], axis=0)
    assert np.abs(made / 1e12 - chances).max() < 6.0 * np.sqrt(0.25 / 2e13)


@pytest.mark.parametrize("sampler", [Neal5(), Neal8(), Slice(), Slice(records="exact")])
def test_samplers_of_records_refuse(sampler):
    release = privmix.Release(np.ones(64), Counted(LAPLACE, 64))
    with pytest.raises(ValueError, match=r"moves records one by one, but the release is a table of counts.*Binned\(\)"):
        privmix.fit(release, sampler=sampler)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"kernel": HierarchicalNormal(), "restricted_to": (-10.0, 10.0)}, "cannot serve restricted_to"),
        ({"prior": privmix.priors.PitmanYor(discount=0.5)}, "DirichletProcess, Dirichlet or FiniteMixture"),
    ],
)
def test_models_that_counts_cannot_serve(about, words):
    model = privmix.PrivateMixture(Counted(LAPLACE, 64), **about)
    with pytest.raises(ValueError, match=words):
        model.sample(np.ones(64))


def test_lattice_of_additive_noise_is_refused():
    with pytest.raises(ValueError, match="Fit the released records themselves"):
        privmix.fit(privmix.Release(np.ones(64), Counted(LAPLACE, 64)), resolution=1.0)


def test_prior_with_a_table_of_all_records_is_refused():
    counts = np.zeros(64)
    counts[30:34] = 2.5e8
    model = privmix.default_model(Counted(LAPLACE, 64), privmix.priors.FiniteMixture())
    with pytest.raises(ValueError, match="FiniteMixture keeps a number for each record"):
        model.sample(privmix.Release(counts, Counted(LAPLACE, 64)))
