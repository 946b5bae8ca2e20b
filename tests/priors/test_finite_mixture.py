"""The table of new weights that a mixture of finite mixtures keeps: that of the γ and n of the moment."""

import numpy as np

from priors.examples import law_of
from privmix.priors import FiniteMixture
from privmix.testing.mutant import build, exchange, source_of

PRIOR = FiniteMixture("poisson", 4.0, (1.0, 1.0))
SIZES = np.array([5, 0, 3, 1])


def tables(update):
    """Return new weights after an update of γ, from the row that was kept and from a fresh one."""
    rng = np.random.default_rng(1)
    law = law_of(PRIOR, 10, rng)
    for k in range(9):
        PRIOR.new_weight(law, 9, k)
    before = law[0]
    law[0] = update(PRIOR, rng, law, 9, 3, SIZES)
    assert law[0] != before
    fresh = law_of(PRIOR, 10, rng)
    fresh[0] = law[0]
    return [[PRIOR.new_weight(row, 9, k) for k in range(9)] for row in (law, fresh)]


def test_table_is_made_anew_when_the_weight_moves():
    """The joint test would not see it: γ and the number of clusters keep their laws, but not together."""
    kept, fresh = tables(FiniteMixture.update_given_partition)
    np.testing.assert_array_equal(kept, fresh)
    source = exchange(source_of(FiniteMixture.update_given_partition), "law[RECORDS] = -1.0", "pass")
    kept, fresh = tables(build(FiniteMixture.update_given_partition, source))
    assert not np.allclose(kept, fresh)


def test_table_is_made_anew_for_another_number_of_records():
    law = law_of(PRIOR, 10, np.random.default_rng(1))
    first, other = PRIOR.new_weight(law, 9, 3), PRIOR.new_weight(law, 8, 3)
    assert first != other
    assert PRIOR.new_weight(law, 9, 3) == first
