"""With noise that drowns the data, the number of clusters and the mixing measure follow their prior laws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mutants import published_bugs
from priors.examples import EXAMPLES
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.testing import prior_limit
from samplers.cases import MODELS, SAMPLERS, rest_long, serves
from seeds import SEEDS

PROPOSING = [sampler for sampler in SAMPLERS if sampler.proposes_records]
CONCENTRATIONS = [0.5, 1.0, 5.0, (4.0, 2.0)]
REFERENCE = MODELS[0]
# Errors of .01 to .05 on the mean number of clusters; the published bugs are off by .36 and more.
DRAWS = 20_000


def sweeps_between(sampler):
    """Labels of sticks move slowly: they need more sweeps for the same error."""
    return 40 if sampler.holds_sticks else 5


# Sticks take longest, most of all with many clusters: `make test` has every sampler at 1, the first one at all.
EVERY = [(concentration, sampler) for concentration in CONCENTRATIONS for sampler in PROPOSING]
QUICK = [(alpha, sampler) for alpha, sampler in EVERY if alpha == 1.0 or sampler is PROPOSING[0]]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("concentration", "sampler"), rest_long(QUICK, EVERY), ids=repr)
def test_expected_clusters(concentration, sampler, seed):
    prior = priors.DirichletProcess(concentration)
    result = prior_limit(prior, sampler, draws=DRAWS, thin=sweeps_between(sampler), seed=seed)
    assert result.error <= 0.05
    assert abs(result.z_score) <= 4.0, str(result)


OTHERS = [prior for kind, examples in EXAMPLES.items() if kind is not priors.DirichletProcess for prior in examples]
URNS = [s for s in SAMPLERS if not s.proposes_records and serves(REFERENCE, s)]
CASES = [(prior, sampler) for prior in OTHERS for sampler in (samplers.Neal5(), samplers.Slice(), *URNS)]
CASES = [case for case in CASES if serves(replace(REFERENCE, prior=case[0]), case[1])]
# Partitions for the first setting of each class, sticks for the first class; the long run has all.
FIRST = [examples[0] for kind, examples in EXAMPLES.items() if kind is not priors.DirichletProcess]
FEW = [case for case in CASES if case[0] in FIRST and case[1] == samplers.Neal5()] + [(FIRST[0], samplers.Slice())]


@pytest.mark.parametrize(("prior", "sampler"), rest_long(FEW, CASES), ids=repr)
def test_number_of_clusters_follows_the_law_of_the_prior(prior, sampler):
    result = prior_limit(prior, sampler, draws=DRAWS, thin=sweeps_between(sampler))
    assert abs(result.z_score) <= 4.0, str(result)
    assert (np.abs(result.law_scores) <= 4.5).all(), str(result)


@pytest.mark.parametrize("sampler", PROPOSING, ids=repr)
def test_hyperprior_with_five_records(sampler):
    prior = priors.DirichletProcess((4.0, 2.0))
    result = prior_limit(prior, sampler, n=5, draws=DRAWS, thin=sweeps_between(sampler))
    assert result.error <= 0.05
    assert abs(result.z_score) <= 4.0, str(result)


@pytest.mark.parametrize(("bug", "concentration"), [(0, 5.0), (1, 1.0)])
def test_published_bugs_are_seen(bug, concentration):
    mutant = published_bugs()[bug]
    size = {"draws": DRAWS, "thin": sweeps_between(mutant.sampler)}
    prior = priors.DirichletProcess(concentration)
    result = prior_limit(prior, mutant.sampler, **size, replacements=mutant.replacements())
    assert abs(result.z_score) > 6.0, str(result)


@pytest.mark.parametrize("sampler", rest_long(PROPOSING[:1], PROPOSING), ids=repr)
def test_mixing_measure_follows_the_dirichlet_process(sampler):
    """P(A) ~ Beta(α G₀(A), α(1 − G₀(A))): uniform for α = 2 and A the left half of a symmetric base measure."""
    mechanism = mechanisms.Laplace(epsilon=1e-4, bounds=(-10.0, 10.0))
    model = PrivateMixture(mechanism, kernels.Normal(), priors.DirichletProcess(2.0))
    z = mechanism.privatize(np.zeros(10), seed=1)
    posterior = model.sample(z, sampler, draws=1000, thin=100, warmup=1000, chains=4, seed=1)
    draws = posterior.datatree["posterior"]
    left = (draws["weight"] * (draws["mean"] < 0.0)).sum("component").values.ravel()
    assert np.allclose(draws["weight"].sum("component"), 1.0)
    assert stats.kstest(left, "uniform").pvalue > 1e-6
