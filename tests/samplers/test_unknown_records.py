"""An unknown number of records: its exact posterior, its coverage, what is reported of it, and who refuses it."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

import privmix
from mutants.models import UNCOUNTED
from oracles.histogram_partitions import normal_masses
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.curves.predictive import replicator
from privmix.curves.prior import prior_draws
from privmix.engine.chains import initial_latent
from privmix.jit import bind
from privmix.release import Release
from privmix.samplers.base import adopt
from privmix.samplers.binned.counts import update_counts
from privmix.samplers.binned.unknown import update_counts_and_total
from privmix.testing.joint_counts import draw_sizes, run_count_pairs
from privmix.testing.partitions import log_crp, set_partitions
from privmix.testing.simulate import simulate_latent
from record import note

EDGES, SCALE, PRIOR = np.array([-2.0, 0.3, 2.0]), 0.4, (4.0, 1.0)
SEEN = np.array([1.3, 2.2])
# Data sets of more records have no posterior mass to speak of: noise of 4 and more at scale 0.4.
MOST = 8


def small(**rest):
    about = {"scale": SCALE, "neighbours": "add-remove", "expected": PRIOR, **rest}
    return PrivateMixture(
        mechanisms.NoisyHistogram(None, EDGES, **about), kernels.Normal(), priors.DirichletProcess(1.0)
    )


def exact_law():
    """Return P(n|z) for n = 1, …, MOST, by sums over partitions and bins; nothing of the library's models is used."""
    masses, weights = normal_masses(EDGES, 0.0, 0.1, 3.0, 3.0)
    mean = {
        c: float(weights @ np.prod(masses ** np.array(c), axis=1)) for c in itertools.product(range(MOST + 1), repeat=2)
    }
    shape, rate = PRIOR
    law = np.zeros(MOST)
    for n in range(1, MOST + 1):
        prior = special.gammaln(n + shape) - special.gammaln(n + 1) - n * math.log1p(rate)
        inside = np.zeros(n + 1)  # by the number of records in the first bin: the first so many, times the ways
        for partition in set_partitions(n):
            crp = math.exp(log_crp(partition, 1.0))
            for first in range(n + 1):
                value = crp
                for cluster in set(partition):
                    left = sum(partition[i] == cluster for i in range(first))
                    value *= mean[left, sum(partition[i] == cluster for i in range(n)) - left]
                inside[first] += value * math.comb(n, first)
        noise = [stats.laplace.logpdf(SEEN - [c, n - c], scale=SCALE).sum() for c in range(n + 1)]
        law[n - 1] = math.exp(prior) * np.sum(inside * np.exp(noise))
    return law / law.sum()


def sizes_after(replacements=None):
    rng = np.random.default_rng(2)
    return run_count_pairs(small(), samplers.Binned(), 4000, 40, rng, replacements, z=SEEN)[1][:, 0]


def p_value(found):
    law = exact_law()
    seen = np.array([np.sum(found == n) for n in range(1, MOST + 1)])
    often = law * len(found) > 5
    expected = np.append(law[often], 1.0 - law[often].sum()) * len(found)
    return stats.chisquare(np.append(seen[often], len(found) - seen[often].sum()), expected).pvalue


def test_number_of_records_follows_its_exact_law():
    assert p_value(sizes_after()) > 1e-6


def test_a_sum_constraint_that_is_kept_is_seen():
    """The joint test cannot: a number that never moves keeps any law."""
    assert p_value(sizes_after({update_counts_and_total: update_counts})) < 1e-6


@pytest.mark.parametrize("data_sets", [pytest.param(200, marks=pytest.mark.long)])
def test_posterior_of_the_number_covers_it_at_its_level(data_sets):
    """Data sets from the prior: the rank of the true number among its draws is uniform."""
    mechanism = mechanisms.NoisyHistogram(
        None, 6, "discrete gaussian", rho=0.05, bounds=(-3, 3), neighbours="add-remove", expected=(8.0, 0.08)
    )
    model = PrivateMixture(mechanism, kernels.Normal(), priors.DirichletProcess(1.0))
    rng = np.random.default_rng(3)
    sizes = draw_sizes(mechanism.expected, data_sets, rng)
    latent = simulate_latent(model, int(sizes.max()), data_sets, rng)
    ranks, covered = np.empty(data_sets), 0
    for r, n in enumerate(sizes):
        z = mechanism.perturb(rng, latent.y[r, :n])
        posterior = model.sample(z, sampler=samplers.Binned(), draws=250, warmup=300, thin=8, chains=1, seed=r)
        drawn = posterior.records_of_draws
        below, ties = np.sum(drawn < n), np.sum(drawn == n)
        ranks[r] = (below + rng.uniform() * (ties + 1)) / (len(drawn) + 1)
        interval = posterior.record_count(0.9)
        covered += bool(interval["lower"] <= n <= interval["upper"])
    uniform = stats.kstest(ranks, "uniform").pvalue
    found = f"90% intervals hold {covered} of {data_sets} numbers of records; ranks uniform"
    note("Normal × NoisyHistogram × DirichletProcess, n unknown", "`Binned()`", f"{uniform:.2g}", found)
    assert uniform > 1e-4, ranks
    # Ends are in the interval, so that a little more than 90% are covered.
    assert stats.binom.cdf(covered, data_sets, 0.9) > 1e-4


@pytest.fixture(scope="module")
def fitted():
    model = PrivateMixture(
        mechanisms.NoisyHistogram(None, 6, epsilon=1.0, bounds=(-3, 3), neighbours="add-remove"),
        kernels.Normal(),
        priors.DirichletProcess(1.0),
    )
    z = model.mechanism.privatize(np.random.default_rng(1).normal(0, 1, 2000).clip(-3, 3), seed=1)
    return model.sample(z, draws=100, warmup=100, thin=1, chains=2, seed=1)


def test_number_is_reported_with_its_uncertainty(fitted, tmp_path):
    from privmix.report.tables import mechanism_rows, records_in_words

    found = fitted.record_count()
    assert float(found["lower"]) < fitted.records < float(found["upper"])
    assert 1950 < fitted.records < 2050
    assert "records" in fitted.summary().index
    assert "95% interval" in records_in_words(fitted)
    assert mechanism_rows(fitted.model.mechanism, records_in_words(fitted))[-1][0] == "records"
    made = fitted.predictive(3, seed=1)
    assert made["z"].shape == (3, 6)
    assert len(np.unique(made["records"])) > 1
    assert fitted.check()
    fitted.save(tmp_path / "fit.nc")
    again = privmix.load(tmp_path / "fit.nc")
    assert np.array_equal(again.records_of_draws, fitted.records_of_draws)
    assert again.resume(5).draws == 105
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        fitted.record_count(1.0)


def test_release_of_an_unknown_number_says_so(fitted, tmp_path):
    release = Release(fitted.plan.z, fitted.model.mechanism)
    assert release.records is None
    release.save(tmp_path / "z.csv")
    assert Release.load(tmp_path / "z.csv") == release


@pytest.mark.parametrize("sampler", [samplers.Neal5(), samplers.Slice(), samplers.Slice(records="exact")], ids=repr)
def test_samplers_on_records_refuse(fitted, sampler):
    with pytest.raises(ValueError, match=r"keeps every record, but the number of records is not known\. Use Binned"):
        fitted.model.sample(fitted.plan.z, sampler=sampler)


def test_a_prior_that_needs_the_number_is_refused(fitted):
    model = PrivateMixture(fitted.model.mechanism, kernels.Normal(), priors.FiniteMixture("poisson", 4.0, 0.5))
    with pytest.raises(ValueError, match="FiniteMixture keeps weights that are computed for a known one"):
        model.sample(fitted.plan.z, sampler=samplers.Binned())


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (
            {"records": 10, "expected": (1.0, 1.0)},
            "expected is the prior of an unknown number of records, but records=10",
        ),
        ({"expected": (0.0, 1.0)}, "expected must be a pair"),
        ({"expected": 3.0}, "expected must be a pair"),
        ({"bins": 1, "neighbours": "replace"}, "bins must be a whole number of at least 2"),
        ({"records": 0}, "records must be the number of confidential records"),
    ],
)
def test_bad_arguments(about, message):
    with pytest.raises(ValueError, match=message):
        mechanisms.NoisyHistogram(**{"records": None, "bins": 4, "epsilon": 1.0, "bounds": (0, 1), **about})


def test_prior_is_proper_and_stated():
    mechanism = mechanisms.NoisyHistogram(None, 4, epsilon=1.0, bounds=(0, 1))
    assert mechanism.expected == (0.5, 1e-9)
    assert UNCOUNTED.mechanism.scale == 1.0  # sensitivity 1
    with pytest.raises(ValueError, match="give a prior with a mean of at most 100"):
        draw_sizes(mechanism.expected, 3, np.random.default_rng(1))


def start_at(parts, data, state, latent, rng):
    adopt(parts, data, state, latent, rng)


def test_neither_the_start_nor_the_checks_take_what_grows_with_the_records():
    """A billion of them: the chain starts at their counts, and replicates have as many, with none of them drawn."""
    n, model = 10**9, small(expected=(1.0, 1e-6))
    z = np.array([0.25 * n, 0.75 * n])
    assert len(model.mechanism.initial(z)) <= 4096
    state, latent = samplers.Binned().allocate(model, n), initial_latent(model, z, clusters=3)
    hooks = {**model.hooks(), **samplers.Binned().hooks(model)}
    bind(start_at, hooks, compiled=False)(model.parts(), model.data(z), state, latent, np.random.default_rng(1))
    assert state.size.sum() == n
    np.testing.assert_allclose(state.counts, z, atol=n / 4096)
    fit = model.sample(z, samplers.Binned(), draws=20, warmup=5, thin=1, chains=1, seed=1)
    np.testing.assert_allclose(fit.records_of_draws, n, rtol=1e-3)
    made = fit.predictive(20, seed=2)
    assert set(made["records"].values) <= set(fit.records_of_draws)
    np.testing.assert_allclose(made["z"].sum("z_0"), made["records"], atol=50 * SCALE)


def test_replicates_by_counts_follow_the_law_of_those_by_records():
    draws = prior_draws(small(), 3, np.random.default_rng(3))
    sizes = np.array([40, 60, 80])
    apart = {}
    for name, mechanism in (
        ("counts", small().mechanism),
        ("records", replace(small().mechanism, records=1, expected=None)),
    ):
        again = replicator(replace(small(), mechanism=mechanism), draws, sizes, np.random.default_rng(4))
        apart[name] = np.array([again()[1] for _ in range(4_000)])
    for j in range(2):
        assert stats.ks_2samp(apart["counts"][:, j], apart["records"][:, j]).pvalue > 1e-3
