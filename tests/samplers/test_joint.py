"""Every sampler leaves the joint law of state and release unchanged; every planted bug is seen."""

import pytest

from mutants import all_mutants
from privmix.testing import joint_test
from samplers.cases import CASES, CONJUGATE, SOME_EXACT, SOME_GLOBAL, name
from seeds import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("model", "sampler"), CASES + SOME_EXACT + CONJUGATE + SOME_GLOBAL, ids=name)
def test_sampler_targets_its_posterior(model, sampler, seed):
    result = joint_test(model, sampler, seed=seed)
    assert not result.rejected, str(result)


# The paper's own mistakes, and every third of the others; `make test-long` runs all.
PUBLISHED = [m for m in all_mutants() if m.name.startswith(("published", "printed"))]
OTHERS = [m for m in all_mutants() if m not in PUBLISHED and not m.equivalent]
DEFAULT = PUBLISHED + OTHERS[::3]
MUTANTS = DEFAULT + [pytest.param(m, marks=pytest.mark.long) for k, m in enumerate(OTHERS) if k % 3]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_planted_bug_is_rejected(mutant):
    result = joint_test(
        mutant.model, mutant.sampler, n=mutant.n, sweeps=mutant.sweeps, replacements=mutant.replacements()
    )
    assert result.rejected, str(result)


SETTINGS = {(name(m.model), repr(m.model), repr(m.sampler), m.n, m.sweeps): m for m in DEFAULT}
SOUND = [m if k % 3 == 0 else pytest.param(m, marks=pytest.mark.long) for k, m in enumerate(SETTINGS.values())]


@pytest.mark.parametrize("mutant", SOUND, ids=lambda m: m.name)
def test_same_case_without_the_bug_passes(mutant):
    result = joint_test(mutant.model, mutant.sampler, n=mutant.n, sweeps=mutant.sweeps)
    assert not result.rejected, str(result)


@pytest.mark.parametrize("mutant", [m for m in all_mutants() if m.equivalent], ids=lambda m: m.name)
def test_equivalent_mutant_passes(mutant):
    result = joint_test(mutant.model, mutant.sampler, replacements=mutant.replacements())
    assert not result.rejected, str(result)
