"""Correlated components: joint tests, slow twins, enumeration, and planted bugs that these must reject."""

import math

import numpy as np
import pytest
from scipy import special

from columns import LAPLACE_ROWS as LAPLACE
from columns import SLOPED, TILTS, sloped
from mutants.models import one
from oracles.row_partitions import covariance_grid, partition_posterior
from privmix import mechanisms, samplers
from privmix.kernels import MultivariateNormal, normal_rows
from privmix.pairs import gaussian_rows, laplace_rows
from privmix.pairs import normal_rows as row_pairs
from privmix.testing import Mutant, enumeration_test, joint_test
from privmix.testing.twin import twin_gap
from samplers.cases import name

pytestmark = pytest.mark.xdist_group("rows")

NEAL5, SLICE = samplers.Neal5(), samplers.Slice()
EXACT, AUGMENTED = samplers.Neal5(exact=True, update="impute"), samplers.Slice(records="augmented")
INTEGRATED = samplers.Slice(records="integrated")
NO_NOISE = sloped(mechanisms.Each(a=mechanisms.Identity(), b=mechanisms.Identity()))
DIAGONAL = sloped(SLOPED.mechanism, covariance="diagonal")
SHARED = sloped(SLOPED.mechanism, covariance="shared shape")
MORE = [
    *[(SLOPED, s) for s in (NEAL5, SLICE, samplers.Slice(records="exact"), samplers.Neal5(auxiliaries=3))],
    *[(SLOPED, s) for s in (samplers.Neal5(exact=True), samplers.SplitMerge(), samplers.Neal8(update="impute"))],
    (SLOPED, samplers.Slice(records="integrated", update="walk")),
    (TILTS, INTEGRATED),
    *[(NO_NOISE, s) for s in (EXACT, SLICE, samplers.Neal8(), samplers.Neal8(auxiliaries=1, update="impute"))],
    *[(model, EXACT) for model in (DIAGONAL, SHARED)],
    *[(LAPLACE, s) for s in (NEAL5, SLICE, AUGMENTED)],
    (SLOPED, samplers.SplitMerge(EXACT)),
]
#: the default sampler with entries missing; others are in the long run
EVERY = [(SLOPED, EXACT), *[pytest.param(*case, marks=pytest.mark.long) for case in MORE]]


@pytest.mark.parametrize(("model", "sampler"), EVERY, ids=name)
def test_joint_law_is_unchanged(model, sampler):
    result = joint_test(model, sampler)
    assert not result.rejected, str(result)


@pytest.mark.parametrize(("model", "sampler"), EVERY, ids=name)
def test_plain_python_makes_the_same_draws(model, sampler):
    assert twin_gap(model, sampler, n=10) < 1e-9


# Four records; of the second and the third one entry is missing.
Z = np.array([[-2.0, -1.0], [0.5, math.nan], [math.nan, 4.0], [2.5, 3.0]])
BASE = (np.array([0.0, 1.0]), 0.2, 5.0, [[3.0, 1.0], [1.0, 5.0]])
SMALL = sloped(mechanisms.VectorGaussian(("a", "b"), scale=(1.0, 0.7)), concentration=1.0)
NOISES = [np.diag([1.0, 0.49])] * 4


def test_oracle_integrates_the_prior():
    _, log_mass = covariance_grid(5.0, np.array(BASE[3]))
    assert special.logsumexp(log_mass) == pytest.approx(0.0, abs=2e-4)


@pytest.mark.parametrize("sampler", [EXACT, pytest.param(NEAL5, marks=pytest.mark.long)], ids=repr)
def test_partitions_follow_their_exact_law(sampler):
    exact = partition_posterior(Z, NOISES, BASE, 1.0)
    result = enumeration_test(SMALL, sampler, Z, exact, chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


def test_partitions_with_a_missing_entry_counted_are_rejected():
    exact = partition_posterior(np.where(np.isnan(Z), 0.0, Z), NOISES, BASE, 1.0)
    result = enumeration_test(SMALL, EXACT, Z, exact, chains=8000, sweeps=150)
    assert result.p_value < 1e-6, str(result)


@pytest.mark.long
def test_partitions_under_correlated_noise_follow_their_exact_law():
    noises = np.array([[[1.0 + k, 0.6], [0.6, 1.0]] for k in range(4)])
    z = np.where(np.isnan(Z), 1.0, Z)
    model = sloped(mechanisms.VectorGaussian(("a", "b"), scale=noises), concentration=1.0)
    result = enumeration_test(model, EXACT, z, partition_posterior(z, noises, BASE, 1.0), chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


WALK = samplers.Neal5(exact=True)
BUGS = [
    one(
        "Bartlett's degrees of freedom run the wrong way",
        normal_rows.draw_wishart_root,
        "degrees - d + 1.0 + i",
        "degrees - i",
        SLOPED,
        EXACT,
    ),
    one(
        "a record more in the Wishart step",
        normal_rows.draw_from_sums,
        "kernel.degrees + n, d",
        "kernel.degrees + n + 1.0, d",
        SLOPED,
        EXACT,
    ),
    one(
        "wrong Jacobian of the Wishart density",
        MultivariateNormal.log_base,
        "self.degrees + d + 2.0",
        "self.degrees + 2.0",
        SLOPED,
        WALK,
    ),
    one("the spread of the means is forgotten", MultivariateNormal.update, "+ share * gaps", "", SLOPED, EXACT),
    one(
        "entries are taken for others after a missing one in g",
        row_pairs.log_g,
        "whiten_entry(root, whitened, row, z[i] - theta[i])",
        "whiten_entry(root, whitened, row, z[i] - theta[row])",
        SLOPED,
        EXACT,
    ),
    one(
        "missing entries leave their column in the factor",
        row_pairs.keep_factor,
        "theta[d + at(i, j)]",
        "theta[d + at(row, column)]",
        SLOPED,
        EXACT,
    ),
    one(
        "the factor of another pattern is used",
        row_pairs.keep_factor,
        "theta[kept_place(d)] == name",
        "theta[kept_place(d)] > 0.0",
        SLOPED,
        EXACT,
    ),
    one(
        "the factor of another record is used",
        gaussian_rows.has_one_covariance,
        "mechanism.is_one",
        "True",
        TILTS,
        INTEGRATED,
    ),
    one(
        "the noise of a drawn record is forgotten",
        row_pairs.sample,
        "z[i] - out[i] - noise[i]",
        "z[i] - out[i]",
        SLOPED,
        EXACT,
    ),
    one(
        "noise is drawn as if it were not correlated",
        gaussian_rows.draw_correlated,
        "value -= mechanism.whitening[i, j] * noise[j]",
        "value -= 0.0",
        TILTS,
        INTEGRATED,
    ),
    one(
        "the learned scale counts half",
        MultivariateNormal.update_hyper,
        "rate += 0.5 * entry * entry",
        "rate += entry * entry",
        TILTS,
        INTEGRATED,
    ),
    one(
        "the smaller root is taken too often",
        laplace_rows.mixing_variance,
        "* (larger + product)",
        "* (larger + 3.0 * product)",
        LAPLACE,
        AUGMENTED,
    ),
    one(
        "variances of the noise twice as large",
        laplace_rows.mixing_variance,
        "0.5 * b * e * e",
        "b * e * e",
        LAPLACE,
        AUGMENTED,
    ),
    Mutant(
        "a missing entry is counted as 0 in q",
        (
            (mechanisms.VectorGaussian.log_q, "if z[i] == z[i]:", "if True:"),
            (mechanisms.VectorGaussian.log_q, "if z[j] == z[j]:", "if True:"),
            (mechanisms.VectorGaussian.log_q, "(z[j] - y[j])", "((z[j] if z[j] == z[j] else 0.0) - y[j])"),
        ),
        SLOPED,
        NEAL5,
    ),
]


@pytest.mark.parametrize(
    "bug", [*BUGS[:1], *[pytest.param(b, marks=pytest.mark.long) for b in BUGS[1:]]], ids=lambda bug: bug.name
)
def test_planted_bugs_are_rejected(bug):
    assert joint_test(bug.model, bug.sampler, replacements=bug.replacements()).rejected, bug.name
