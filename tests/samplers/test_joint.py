"""Every sampler leaves the joint law of state and release unchanged; every planted bug is seen."""

import pytest

from kernels.examples import BUILT_IN as KERNELS
from mechanisms.examples import CONCRETE as MECHANISMS
from mutants import all_mutants, lifted_bugs, statement_bugs
from priors.examples import BUILT_IN as PRIORS
from privmix import mechanisms, samplers
from privmix.testing import joint_test
from samplers.cases import (
    COVERING,
    DEFAULT,
    EVERY,
    MODELS,
    MUTANTS,
    PUBLISHED,
    SAMPLERS,
    closed_form,
    first_of_each,
    label_step,
    likelihood,
    name,
    rest_long,
)
from seeds import SEEDS

# Joint tests of `make test`: each compiles for some four seconds.
MOST_CASES = 14


@pytest.mark.parametrize("seed", SEEDS)
# The first of the covering cases try most of what there is; the last ones, one thing each, are left to the long run.
@pytest.mark.parametrize(("model", "sampler"), rest_long(COVERING[:MOST_CASES], COVERING), ids=name)
def test_sampler_targets_its_posterior(model, sampler, seed):
    result = joint_test(model, sampler, seed=seed)
    assert not result.rejected, str(result)


def test_cases_cover_what_their_rule_says():
    assert {type(sampler).__name__ for _, sampler in COVERING} == set(samplers.__all__) - {"Auto", "Sampler"}
    assert {closed_form(model) for model, _ in COVERING} == {closed_form(model) for model in MODELS}
    assert {type(model.kernel) for model, _ in COVERING} == set(KERNELS)
    # Chains on a table of counts are those on its records, draw for draw: test_counts.py. Where records are withheld
    # without a trace, their number is drawn with the rest: test_withheld_records.py.
    elsewhere = {kind for kind in MECHANISMS if kind.is_counted or kind is mechanisms.VisibleRecords}
    assert {type(model.mechanism) for model, _ in COVERING} == set(MECHANISMS) - elsewhere
    assert {sampler for _, sampler in COVERING} == set(SAMPLERS)
    assert {type(model.prior) for model, _ in COVERING} == set(PRIORS)
    tried = {(type(model.prior), sampler.holds_sticks) for model, sampler in COVERING}
    assert tried == {(type(model.prior), sampler.holds_sticks) for model, sampler in EVERY}
    met = {(likelihood(model), label_step(sampler)) for model, sampler in COVERING}
    assert met == {(likelihood(model), label_step(sampler)) for model, sampler in EVERY}
    assert len(COVERING) < len(EVERY) / 5


def test_every_bug_can_be_planted():
    # A bug that no longer fits the source it changes would be noticed by the long run alone.
    for mutant in all_mutants() + lifted_bugs():
        assert mutant.replacements(), mutant.name


@pytest.mark.parametrize("mutant", rest_long(DEFAULT, MUTANTS), ids=lambda m: m.name)
def test_planted_bug_is_rejected(mutant):
    result = joint_test(
        mutant.model, mutant.sampler, n=mutant.n, sweeps=mutant.sweeps, replacements=mutant.replacements()
    )
    assert result.rejected, str(result)


def setting(mutant):
    return repr(mutant.model), repr(mutant.sampler), mutant.n, mutant.sweeps


SOUND = rest_long(first_of_each(PUBLISHED, setting), first_of_each(DEFAULT, setting))


@pytest.mark.parametrize("mutant", SOUND, ids=lambda m: m.name)
def test_same_case_without_the_bug_passes(mutant):
    result = joint_test(mutant.model, mutant.sampler, n=mutant.n, sweeps=mutant.sweeps)
    assert not result.rejected, str(result)


@pytest.mark.parametrize("mutant", [m for m in all_mutants() if m.equivalent], ids=lambda m: m.name)
def test_equivalent_mutant_passes(mutant):
    result = joint_test(mutant.model, mutant.sampler, replacements=mutant.replacements())
    assert not result.rejected, str(result)


STATEMENTS = statement_bugs()


@pytest.mark.parametrize(("what", "so", "said", "sampler"), rest_long(STATEMENTS[:2], STATEMENTS), ids=repr)
def test_wrong_statement_of_a_release_is_rejected(what, so, said, sampler):
    result = joint_test(so, sampler, fitted=said)
    assert result.rejected, str(result)
