"""Records withheld without a trace: the exact posterior of their number, the joint test, and what is reported."""

import functools
import math

import numpy as np
import pytest
from scipy import special, stats

import privmix
from mutants.models import UNSEEN, UNSEEN_ABOVE, UNSEEN_ON_LATTICE
from oracles.histogram_partitions import normal_masses
from privmix import PrivateMixture, Release, kernels, mechanisms, priors, samplers
from privmix.mechanisms import Gaussian, Laplace, Rounded, Withheld
from privmix.samplers.binned.bins import find_bins, keep_counts
from privmix.samplers.binned.withheld import redraw_withheld
from privmix.testing import joint_test
from privmix.testing.joint_counts import draw_sizes, run_count_pairs
from privmix.testing.partitions import log_crp, set_partitions
from privmix.testing.simulate import simulate_latent
from record import note

PRIOR, NOISE = (4.0, 8.0), 1.0
SMALL = PrivateMixture(
    Withheld(Gaussian(scale=NOISE, bounds=(-4, 4)), below=-1.0, known=False, expected=PRIOR),
    kernels.Normal(),
    priors.DirichletProcess(1.0),
)
EDGES = np.array([-np.inf, -1.0, 0.0, 4.5, np.inf])
SEEN = np.array([-0.4, 1.3])  # in the second bin and in the third
# More records than this have a probability of 1e-5.
MOST = 7


@functools.cache
def exact_law():
    """Return P(n|z) for n = 2, …, MOST, by sums over partitions; nothing of the library's models is used."""
    masses, weights = normal_masses(EDGES, 0.0, 0.1, 3.0, 3.0, NOISE)

    @functools.cache
    def mean(unseen, first, second):
        return float(weights @ (masses[:, 0] ** unseen * masses[:, 1] ** first * masses[:, 2] ** second))

    shape, rate = PRIOR
    law = np.zeros(MOST + 1)
    for n in range(2, MOST + 1):
        prior = math.exp(special.gammaln(n + shape) - special.gammaln(n + 1) - n * math.log1p(rate))
        for partition in set_partitions(n):  # of the records that were published, then of those that were not
            value = math.exp(log_crp(partition, 1.0))
            for cluster in set(partition):
                inside = [label == cluster for label in partition]
                value *= mean(sum(inside[2:]), inside[0], inside[1])
            law[n] += prior * math.comb(n, 2) * value
    return law / law.sum()


def p_value(replacements=None):
    rng = np.random.default_rng(2)
    found = run_count_pairs(SMALL, samplers.Binned(bins=4), 4000, 40, rng, replacements, z=SEEN)[1][:, 0]
    law = exact_law()
    often = law * len(found) > 5
    count = np.array([np.sum(found == n) for n in range(MOST + 1)])[often]
    expected = np.append(law[often], 1.0 - law[often].sum()) * len(found)
    return stats.chisquare(np.append(count, len(found) - count.sum()), expected).pvalue


def test_number_follows_its_exact_law():
    assert np.array_equal(find_bins(SMALL, 4).node, EDGES)
    assert p_value() > 1e-6


def test_a_number_that_is_not_redrawn_is_seen():
    """The joint test cannot: a number that never moves keeps any law."""
    assert p_value({redraw_withheld: keep_counts}) < 1e-6


@pytest.mark.parametrize(
    "model",
    [UNSEEN, *[pytest.param(model, marks=pytest.mark.long) for model in (UNSEEN_ABOVE, UNSEEN_ON_LATTICE)]],
    ids=["below", "above", "on a lattice"],
)
def test_joint(model):
    found = joint_test(model, samplers.Binned(bins=8))
    assert not found.rejected, found


@pytest.mark.parametrize("data_sets", [pytest.param(200, marks=pytest.mark.long)])
def test_posterior_of_the_number_covers_it_at_its_level(data_sets):
    """Data sets from the prior: the rank of the true number among its draws is uniform."""
    rng = np.random.default_rng(4)
    mechanism = Withheld(Laplace(epsilon=5.0, bounds=(-5, 5)), below=0.0, known=False, expected=(8.0, 0.08))
    model = PrivateMixture(mechanism, kernels.Normal(), priors.DirichletProcess(1.0))
    sizes = draw_sizes(mechanism.expected, data_sets, rng)
    latent, ranks = simulate_latent(model, int(sizes.max()), data_sets, rng), np.empty(data_sets)
    for r, n in enumerate(sizes):
        z = mechanism.keep_published(mechanism.perturb(rng, latent.y[r, :n]))
        if len(z) == 0:  # no release
            ranks[r] = np.nan
            continue
        drawn = model.sample(z, draws=250, warmup=500, thin=20, chains=1, seed=r).records_of_draws
        ranks[r] = (np.sum(drawn < n) + rng.uniform() * (np.sum(drawn == n) + 1)) / (len(drawn) + 1)
    ranks = ranks[~np.isnan(ranks)]
    uniform, found = stats.kstest(ranks, "uniform").pvalue, f"ranks of {len(ranks)} numbers of records uniform"
    note("Normal × VisibleRecords × DirichletProcess, n unknown", "`Binned()`", f"{uniform:.2g}", found)
    assert uniform > 1e-4, ranks


@pytest.mark.long
def test_fit_reports_the_number(tmp_path):
    """Normal records of which a third is withheld: the truncated ones alone have another mean and another number."""
    mechanism = Withheld(Laplace(epsilon=20.0, bounds=(-5.0, 5.0)), below=-0.5, known=False)
    y = np.random.default_rng(1).normal(0.0, 1.0, 1500).clip(-5, 5)
    release = Release.from_data(y, mechanism, seed=1)
    assert release.records is None
    assert 900 < len(release) < 1200
    release.save(tmp_path / "z.csv")
    assert Release.load(tmp_path / "z.csv") == release
    fit = privmix.fit(release, draws=100, warmup=200, thin=1, chains=2, seed=1)
    assert "records" in fit.summary().index
    assert repr(fit.sampler) == "Binned(bins=None)"
    assert (fit.records_of_draws >= len(release)).all()
    assert len(np.unique(fit.records_of_draws)) > 20
    assert fit.datatree["posterior"]["allocation"].shape[-1] == len(release)
    made = fit.predictive(50, seed=1)
    assert np.isnan(made["z"]).any()
    assert fit.check()
    fit.save(tmp_path / "fit.nc")
    again = privmix.load(tmp_path / "fit.nc")
    assert np.array_equal(again.records_of_draws, fit.records_of_draws)
    assert again.resume(5).draws == 105
    assert "an unknown number of records withheld" in fit.datatree.attrs["auto"]


@pytest.mark.parametrize("sampler", [samplers.Neal5(), samplers.Slice()], ids=repr)
def test_samplers_on_records_refuse(sampler):
    with pytest.raises(ValueError, match="learns their number, or give the release with a row for every record"):
        SMALL.sample(SEEN, sampler=sampler)


@pytest.mark.parametrize("prior", [priors.PitmanYor(0.25, 1.0), priors.FiniteMixture("poisson", 4.0, 0.5)], ids=repr)
def test_priors_that_need_the_number_are_refused(prior):
    """By the sampler that learns it and by Auto alike: no answer sends to a sampler that sends back."""
    model = PrivateMixture(SMALL.mechanism, kernels.Normal(), prior)
    for sampler in (samplers.Binned(), samplers.Auto()):
        with pytest.raises(ValueError, match="Use DirichletProcess or Dirichlet as the prior, or give the release"):
            model.sample(SEEN, sampler=sampler)


def test_known_and_unknown_agree_where_nothing_is_withheld():
    """A limit far below all values: the number of records is that of the release."""
    mechanism = Withheld(Rounded(Laplace(epsilon=5.0, bounds=(0, 1)), to=0.25), below=-9.0, known=False)
    fit = privmix.fit(mechanism.privatize(np.full(60, 0.5), seed=1), mechanism, draws=50, warmup=50, chains=1, seed=1)
    assert (fit.records_of_draws == 60).all()
    assert mechanisms.VisibleRecords is type(mechanism)
