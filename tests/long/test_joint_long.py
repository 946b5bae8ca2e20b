"""The joint one-step test with twenty times the pairs: a bias a fifth as large would show."""

import pytest

from privmix.testing import joint_test
from record import note
from samplers.cases import COVERING, EVERY, name

PAIRS = 400_000


@pytest.mark.long
@pytest.mark.parametrize(("model", "sampler"), COVERING, ids=name)
def test_sampler_targets_its_posterior(model, sampler):
    result = joint_test(model, sampler, pairs=PAIRS, seed=2)
    note(name(model), f"`{sampler!r}`", f"{result.p_value:.2g}", result.worst())
    assert not result.rejected, str(result)


@pytest.mark.long
@pytest.mark.parametrize(("model", "sampler"), [case for case in EVERY if case not in COVERING], ids=name)
def test_every_sampler_targets_its_posterior_on_every_pair(model, sampler):
    """All that `make test` leaves out, with the usual pairs."""
    result = joint_test(model, sampler, seed=2)
    note(f"{name(model)}, 20,000 pairs", f"`{sampler!r}`", f"{result.p_value:.2g}", result.worst())
    assert not result.rejected, str(result)
