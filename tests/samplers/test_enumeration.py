"""Four records: the law of the partition, and the mean density, against quadrature by SciPy alone."""

import numpy as np
import pytest

from mutants import exact_bugs, neal5_bugs, published_bugs, slice_bugs, truncated_bugs
from oracles import noisy_partitions, partition_laws, truncated_partitions
from oracles.normal_partitions import density_mean, partition_posterior
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.testing import enumeration_test
from privmix.testing.prior_limit import batch_means
from samplers.cases import SAMPLERS, UNIT, first_of_each, label_step, rest_long, serves
from seeds import SEEDS

Z = np.array([-6.0, -2.0, 1.5, 5.0])
SCALE, CONCENTRATION = 2.0, 1.0
BASE = (0.0, 0.1, 3.0, 3.0)
MECHANISMS = {"laplace": mechanisms.Laplace(scale=SCALE), "gaussian": mechanisms.Gaussian(scale=SCALE)}
PROPOSING = [sampler for sampler in SAMPLERS if sampler.proposes_records]


def chains_for(sampler):
    """Return how many chains a test runs: bugs in how sticks and slices go together show only in many."""
    return 20_000 if sampler.holds_sticks else 8000


def model_with(noise, concentration=CONCENTRATION):
    return PrivateMixture(MECHANISMS[noise], kernels.Normal(*BASE), priors.DirichletProcess(concentration))


EVERY_NOISE = [(noise, sampler) for noise in MECHANISMS for sampler in PROPOSING]


# On partitions and with sticks, under Laplace noise.
ONE_OF_EACH = first_of_each(EVERY_NOISE, lambda case: case[1].holds_sticks)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("noise", "sampler"), rest_long(ONE_OF_EACH, EVERY_NOISE), ids=repr)
def test_partitions_follow_their_exact_law(noise, sampler, seed):
    exact = partition_posterior(Z, noise, SCALE, CONCENTRATION, *BASE)
    result = enumeration_test(model_with(noise), sampler, Z, exact, chains=chains_for(sampler), seed=seed)
    assert result.p_value > 1e-6, str(result)


# Samplers without proposals of records: one for each kind of label step, under Laplace noise.
EXACT = [s for s in SAMPLERS if serves(model_with("laplace"), s) and not s.proposes_records]
EXACT_CASES = [(noise, sampler) for noise in MECHANISMS for sampler in EXACT]


@pytest.mark.parametrize(
    ("noise", "sampler"), rest_long(first_of_each(EXACT_CASES, lambda case: label_step(case[1])), EXACT_CASES), ids=repr
)
def test_partitions_of_exact_samplers(noise, sampler):
    exact = partition_posterior(Z, noise, SCALE, CONCENTRATION, *BASE)
    result = enumeration_test(model_with(noise), sampler, Z, exact, chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


# Each prior: how the oracle gives a partition its probability, from the fields alone.
def probability_of(prior):
    laws = {
        priors.PitmanYor: lambda x: lambda p: partition_laws.pitman_yor(p, prior.discount, x),
        priors.Dirichlet: lambda x: lambda p: partition_laws.finite(p, prior.components, x),
        priors.FiniteMixture: lambda x: lambda p: partition_laws.finite_mixture(p, prior.components, prior.expected, x),
    }
    law = laws[type(prior)]
    if not prior.shape:
        return law(prior.fixed)
    return lambda p: partition_laws.learned(lambda x: law(x)(p), prior.shape, prior.rate)


PRIORS = [
    priors.PitmanYor(0.35, 0.5),
    priors.Dirichlet(3, (4.0, 4.0)),
    priors.FiniteMixture("poisson", 3.0, 0.7),
    priors.FiniteMixture("beta negative binomial", 3.0, 1.5),
    priors.FiniteMixture("geometric", 3.0, (4.0, 4.0)),
    priors.PitmanYor(0.6, (4.0, 2.0)),
    priors.Dirichlet(3, 0.4),
]
STEPS = [samplers.Neal5(), samplers.Slice(), samplers.Neal8(), samplers.SplitMerge(samplers.Neal5(exact=True))]
EVERY_PRIOR = [(p, s) for p in PRIORS for s in STEPS if s is not STEPS[1] or not p.has_far_labels]
# One: their contract tests and the joint test have every class.
EACH_PRIOR = [(PRIORS[2], STEPS[0])]


@pytest.mark.parametrize(("prior", "sampler"), rest_long(EACH_PRIOR, EVERY_PRIOR), ids=repr)
def test_partitions_under_other_priors(prior, sampler):
    exact = partition_posterior(Z, "laplace", SCALE, probability_of(prior), *BASE)
    model = PrivateMixture(MECHANISMS["laplace"], kernels.Normal(*BASE), prior)
    result = enumeration_test(model, sampler, Z, exact, chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


CONJUGATE = [s for s in SAMPLERS if label_step(s)[0] == "marginals"]


@pytest.mark.parametrize(
    "sampler", rest_long(CONJUGATE[:1], [*CONJUGATE, samplers.Neal8(), samplers.Neal5()]), ids=repr
)
def test_partitions_under_the_truncated_base_measure(sampler):
    exact = noisy_partitions.partition_posterior(Z, SCALE, CONCENTRATION, *BASE)
    model = PrivateMixture(MECHANISMS["gaussian"], kernels.NoisyNormal(SCALE, *BASE), priors.DirichletProcess(1.0))
    result = enumeration_test(model, sampler, Z, exact, chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


Z_AT_AN_EDGE = np.array([-0.1, 0.15, 0.6, 1.2])
# Bounds, location, spread, shape and rate: most of the mass of many components lies outside.
AT_AN_EDGE = (UNIT, 0.0, 0.25, 2.0, 0.2)


def model_at_an_edge(noise):
    bounds, location, spread, shape, rate = AT_AN_EDGE
    mechanism = {"laplace": mechanisms.Laplace, "gaussian": mechanisms.Gaussian}[noise](scale=0.2, bounds=bounds)
    kernel = kernels.TruncatedNormal(bounds, shape, location, spread, rate)
    return PrivateMixture(mechanism, kernel, priors.DirichletProcess(CONCENTRATION))


TRUNCATED = [(noise, s) for noise in MECHANISMS for s in SAMPLERS if serves(model_at_an_edge(noise), s)]


@pytest.mark.parametrize(("noise", "sampler"), rest_long(TRUNCATED[:1], TRUNCATED), ids=repr)
def test_partitions_of_truncated_components(noise, sampler):
    exact = truncated_partitions.partition_posterior(Z_AT_AN_EDGE, noise, 0.2, CONCENTRATION, *AT_AN_EDGE)
    model = model_at_an_edge(noise)
    result = enumeration_test(model, sampler, Z_AT_AN_EDGE, exact, chains=chains_for(sampler), sweeps=150)
    assert result.p_value > 1e-6, str(result)


# The last leaves the law of the partition nearly as it is; the joint test sees it.
@pytest.mark.long
@pytest.mark.parametrize("mutant", truncated_bugs()[:-1], ids=lambda m: m.name)
def test_bugs_of_truncated_components(mutant):
    noise = "laplace" if isinstance(mutant.model.mechanism, mechanisms.Laplace) else "gaussian"
    exact = truncated_partitions.partition_posterior(Z_AT_AN_EDGE, noise, 0.2, CONCENTRATION, *AT_AN_EDGE)
    planted = {"chains": 20_000, "sweeps": 150, "replacements": mutant.replacements()}
    result = enumeration_test(model_at_an_edge(noise), mutant.sampler, Z_AT_AN_EDGE, exact, **planted)
    assert result.p_value < 1e-6, str(result)


def test_dropped_truncation_constant_is_rejected():
    exact = noisy_partitions.partition_posterior(Z, SCALE, CONCENTRATION, *BASE)
    model = PrivateMixture(MECHANISMS["gaussian"], kernels.NoisyNormal(SCALE, *BASE), priors.DirichletProcess(1.0))
    mutant = exact_bugs()[0]
    result = enumeration_test(
        model, mutant.sampler, Z, exact, chains=8000, sweeps=150, replacements=mutant.replacements()
    )
    assert result.p_value < 1e-6, str(result)


# The paper's own mistakes first.
PLANTED = [*published_bugs()[:2], *neal5_bugs()[:5], slice_bugs()[0]]


@pytest.mark.parametrize("mutant", rest_long(PLANTED[:2], PLANTED), ids=lambda m: m.name)
def test_planted_bug_is_rejected(mutant):
    exact = partition_posterior(Z, "laplace", SCALE, 3.0, *BASE)
    planted = {"chains": chains_for(mutant.sampler), "replacements": mutant.replacements()}
    result = enumeration_test(model_with("laplace", 3.0), mutant.sampler, Z, exact, **planted)
    assert result.p_value < 1e-6, str(result)


@pytest.mark.parametrize("sampler", rest_long(first_of_each(PROPOSING, type), PROPOSING), ids=repr)
def test_mean_density_is_exact(sampler):
    points = np.linspace(-12.0, 12.0, 9)
    exact = density_mean(points, Z, "laplace", SCALE, CONCENTRATION, *BASE)
    posterior = model_with("laplace").sample(Z, sampler, draws=50_000, thin=4, warmup=2000, chains=1, seed=1)
    draws = posterior.density_draws(points).values[0]
    for j in range(len(points)):
        mean, error = batch_means(draws[:, j])
        assert abs(mean - exact[j]) <= 4.5 * error, f"at {points[j]}: {mean} ± {error}, exact {exact[j]}"
