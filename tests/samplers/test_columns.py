"""Records of several columns: joint tests, slow twins, enumeration, and planted bugs that these must reject."""

import math

import numpy as np
import pytest

from columns import CATEGORIES, MIXED, NUMBERS, OWN, WIDE, mixture
from mutants.models import one
from oracles.column_partitions import partition_posterior
from privmix import kernels, mechanisms, samplers
from privmix.kernels import product as product_of_kernels
from privmix.kernels.slots import log_f
from privmix.mechanisms import each
from privmix.pairs import categorical
from privmix.pairs import product as product_of_pairs
from privmix.samplers.capabilities import check_served
from privmix.testing import enumeration_test, joint_test
from privmix.testing.twin import twin_gap
from samplers.cases import name

pytestmark = pytest.mark.xdist_group("columns")

NEAL5, SLICE = samplers.Neal5(), samplers.Slice()
EXACT = samplers.SplitMerge(samplers.Neal5(exact=True, update="impute"))
DEFAULT = samplers.SplitMerge(samplers.Neal5(exact=True))
#: the default sampler, which integrates records out, on all kinds of columns at once; others are in the long run
CHOSEN = [(MIXED, DEFAULT)]
MORE = [
    (MIXED, EXACT),
    *[(MIXED, s) for s in (NEAL5, SLICE, samplers.Slice(records="exact"), samplers.Slice(records="integrated"))],
    (MIXED, samplers.Neal8(update="impute")),
    *[(NUMBERS, s) for s in (NEAL5, SLICE, EXACT, DEFAULT, samplers.SplitMerge(), samplers.Neal5(exact=True))],
    (MIXED, samplers.Slice(records="integrated", update="walk")),
    *[(NUMBERS, s) for s in (samplers.Slice(records="integrated", update="walk"), samplers.Neal5(auxiliaries=3))],
    *[(OWN, s) for s in (NEAL5, SLICE)],
    (CATEGORIES, EXACT),
]
EVERY = [*CHOSEN, *[pytest.param(*case, marks=pytest.mark.long) for case in MORE]]


@pytest.mark.parametrize(("model", "sampler"), EVERY, ids=name)
def test_joint_law_is_unchanged(model, sampler):
    result = joint_test(model, sampler)
    assert not result.rejected, str(result)


@pytest.mark.parametrize(("model", "sampler"), EVERY, ids=name)
def test_plain_python_makes_the_same_draws(model, sampler):
    n = 10 if model is OWN else 12
    assert twin_gap(model, sampler, n=n) < 1e-9


# Four records; the third did not report its number, the fourth not its category.
Z = np.array([[-6.0, 0.0], [-2.0, 2.0], [math.nan, 2.0], [5.0, math.nan]])
BASE, WEIGHTS, SCALE = (0.0, 0.1, 3.0, 3.0), np.full(3, 0.7), 2.0
NORMAL_AND_NAMES = mixture(
    kernels.Product(a=kernels.Normal(*BASE), b=kernels.Categorical(("x", "y", "z"), weight=0.7)),
    concentration=1.0,
    a=mechanisms.Laplace(scale=SCALE, bounds=WIDE),
    b=mechanisms.RandomizedResponse(categories=("x", "y", "z"), truth=0.8),
)
FEW = [NEAL5, *[pytest.param(sampler, marks=pytest.mark.long) for sampler in (EXACT, DEFAULT, SLICE)]]


@pytest.mark.parametrize("sampler", FEW, ids=repr)
def test_partitions_follow_their_exact_law(sampler):
    exact = partition_posterior(Z, SCALE, BASE, WEIGHTS, 0.8, 1.0)
    result = enumeration_test(NORMAL_AND_NAMES, sampler, Z, exact, chains=8000, sweeps=150)
    assert result.p_value > 1e-6, str(result)


def test_partitions_with_a_missing_entry_counted_are_rejected():
    exact = partition_posterior(np.where(np.isnan(Z), 0.0, Z), SCALE, BASE, WEIGHTS, 0.8, 1.0)
    result = enumeration_test(NORMAL_AND_NAMES, NEAL5, Z, exact, chains=8000, sweeps=150)
    assert result.p_value < 1e-6, str(result)


def swapped(model):
    """Return what puts the density of a product over the wrong columns."""
    kernel = model.kernel
    arguments, (line,) = kernel._written()[log_f]
    wrong = line.replace("y[0]", "y[#]").replace("y[1]", "y[0]").replace("y[#]", "y[1]")
    assert wrong != line
    return {log_f: kernel._over(log_f, arguments, [wrong])}


BUGS = [
    one(
        "a missing entry is counted as 0",
        each.reported_number,
        "0.0 if z != z else log_q(mechanism, z, y)",
        "log_q(mechanism, 0.0 if z != z else z, y)",
        MIXED,
        NEAL5,
    ),
    one(
        "a missing entry is counted as 0 in g",
        product_of_pairs.reported_number,
        "0.0 if z != z else log_g(mechanism, kernel, z, theta)",
        "log_g(mechanism, kernel, 0.0 if z != z else z, theta)",
        MIXED,
        EXACT,
    ),
    one(
        "an entry that is missing is counted by the parameters",
        product_of_pairs.leave_number,
        "out[j] = z if z != z",
        "out[j] = 0.5 if z != z",
        MIXED,
        EXACT,
    ),
    one(
        "the walk of a column forgets a record",
        product_of_pairs.walk_number,
        "z, members, hyper)",
        "z, members[1:], hyper)",
        NUMBERS,
        samplers.Neal5(exact=True),
    ),
    one(
        "the update of a column that does not walk forgets a record",
        product_of_pairs.update_number,
        "spare[:count]",
        "spare[1:count]",
        MIXED,
        DEFAULT,
    ),
    one("a category counts twice", kernels.Categorical.update, "+= 1.0", "+= 2.0", CATEGORIES, EXACT),
    one(
        "g forgets the shares of categories",
        categorical.log_joint,
        "theta[len(kernel.weights) + j] + ",
        "",
        CATEGORIES,
        EXACT,
    ),
    one(
        "the last entry that is there is forgotten",
        product_of_kernels.gather_reported,
        "return count",
        "return max(count - 1, 0)",
        MIXED,
        NEAL5,
    ),
]


@pytest.mark.parametrize("bug", [BUGS[0], *[pytest.param(b, marks=pytest.mark.long) for b in BUGS[1:]]])
def test_planted_bugs_are_rejected(bug):
    assert joint_test(bug.model, bug.sampler, replacements=bug.replacements()).rejected, bug.name


@pytest.mark.long
def test_density_over_the_wrong_columns_is_rejected():
    first, second = NUMBERS.mechanism.children
    model = mixture(kernels.Product(a=kernels.Normal(), b=kernels.Normal(mean=3.0)), a=first, b=second)
    assert joint_test(model, SLICE, replacements=swapped(model)).rejected


@pytest.mark.long
def test_scale_wrong_by_a_tenth_in_one_column_is_rejected():
    second = mechanisms.Gaussian(scale=2.2, bounds=WIDE)
    wrong = mixture(NUMBERS.kernel, a=NUMBERS.mechanism.children[0], b=second)
    assert joint_test(NUMBERS, NEAL5, fitted=wrong, pairs=100_000).rejected


REFUSED = {
    samplers.Neal2(): "conjugate marginal",
    samplers.Neal3(): "conjugate marginal",
    samplers.Binned(): "Binned",
}


@pytest.mark.parametrize("sampler", REFUSED, ids=repr)
def test_samplers_that_do_not_serve_say_so(sampler):
    with pytest.raises(ValueError, match=REFUSED[sampler]):
        check_served(sampler, MIXED)


@pytest.mark.parametrize("sampler", [samplers.Neal8(), samplers.Neal5(exact=True)], ids=repr)
def test_a_walk_on_categories_alone_says_why_not(sampler):
    with pytest.raises(ValueError, match=r"needs Categorical\.log_base"):
        check_served(sampler, CATEGORIES)
