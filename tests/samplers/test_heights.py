"""How many sticks a draw writes: under a heavy tail no more than hold records, else memory would run out."""

from types import SimpleNamespace

import numpy as np
import pytest

from privmix import PrivateMixture, mechanisms, priors, samplers
from privmix.samplers.moves.heights import all_sticks, sticks_to_keep, sticks_with_records


@pytest.mark.parametrize(
    ("sizes", "kept"), [((1, 0, 2, 0, 0), 3), ((0, 0, 0, 0, 4), 5), ((3, 0, 0, 0, 0), 1), ((0, 0, 0, 0, 0), 1)]
)
def test_sticks_up_to_the_last_with_records(sizes, kept):
    state = SimpleNamespace(size=np.array(sizes), cursor=np.array([5, 0]))
    assert sticks_with_records(state) == kept
    assert all_sticks(state) == 5


@pytest.mark.parametrize(
    ("prior", "rule"), [(priors.PitmanYor(0.25, 1.0), sticks_with_records), (priors.DirichletProcess(), all_sticks)]
)
def test_a_heavy_tail_chooses_the_rule(prior, rule):
    model = PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0)), prior=prior)
    assert samplers.Slice().hooks(model)[sticks_to_keep] is rule
