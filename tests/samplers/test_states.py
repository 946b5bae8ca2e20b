"""States that a file may hold: those of a chain pass, and what would make compiled code read elsewhere is refused."""

from dataclasses import replace

import numpy as np
import pytest

from privmix import priors, samplers
from privmix.engine.block import compile_block, stack_draws
from privmix.engine.chains import Plan, run_chain
from privmix.posterior.validate import check_draws
from privmix.testing.simulate import simulate_latent, simulate_release
from samplers.cases import EVERY, first_of_each, likelihood, name, serves

N = 10
CASES = first_of_each(EVERY, lambda case: case[1])
CASES += [case for case in first_of_each(EVERY, lambda case: (likelihood(case[0]), type(case[1]))) if case not in CASES]
OTHER_PRIORS = [priors.PitmanYor(), priors.FiniteMixture(weight=(2.0, 2.0)), priors.Dirichlet()]
CASES += [
    (replace(CASES[0][0], prior=prior), sampler)
    for prior in OTHER_PRIORS
    for sampler in (samplers.Neal5(), samplers.Neal8(), samplers.SplitMerge(), samplers.Slice(), samplers.Binned())
    if serves(replace(CASES[0][0], prior=prior), sampler)
]


def ended(model, sampler):
    """Return the plan and the end of a short chain in plain Python, which needs no compiling."""
    rng = np.random.default_rng(1)
    z = simulate_release(model, simulate_latent(model, N, 1, rng).y, rng)[0]
    plan = Plan(model, sampler, z, 4, 2, 1, allocations=not model.mechanism.is_global)
    return plan, run_chain(plan, np.random.SeedSequence(1), run=compile_block(model, sampler, compiled=False))


def changed(state, name, change):
    array = getattr(state, name).copy()
    return state._replace(**{name: change(array)})


def put(value, place=0):
    def change(array):
        array.flat[place] = value
        return array

    return change


WRONG = {
    "allocation": [put(10**9), put(-1), lambda array: array[:-1], lambda array: array.astype(np.float64)],
    "size": [put(-5), lambda array: array + 1, lambda array: np.append(array, array)[:-1]],
    "cursor": [put(10**9), put(-1), put(10**9, 1), put(10**9, -1)],
    "free": [lambda array: array * 0 + 10**9, lambda array: array * 0],
    "order": [put(10**9)],
    "auxiliary": [put(np.nan), lambda array: array[:-1]],
    "y": [put(np.inf), lambda array: array[:-1]],
    "theta": [lambda array: array * np.nan, lambda array: array[:, :-1]],
    "weight": [put(7.0)],
    "log_left": [put(1.0)],
    "least": [put(0.0), put(np.nan), put(2.0)],
    "table": [put(-1), lambda array: array + 1],
    "counts": [put(3.5)],
    "node": [put(123.0)],
    "concentration": [put(0.0), put(np.nan), put(-1.0)],
    "hyper": [put(np.nan)],
    "walk": [put(np.nan)],
    "reach": [put(-1.0), put(np.nan)],
    "tune": [put(np.nan)],
    "log_g": [put(np.nan), put(np.inf)],
}


@pytest.mark.parametrize(("model", "sampler"), CASES, ids=name)
def test_a_state_of_a_chain_passes_and_a_damaged_one_does_not(model, sampler):
    plan, chain = ended(model, sampler)
    check_draws(plan, stack_draws([chain.pieces, chain.pieces]))
    state = chain.end.state
    assert sampler.check_state(model, N, state) == ""
    assert sampler.check_state(model, N + 1, state) != ""
    for field, changes in WRONG.items():
        for change in changes if getattr(state, field, np.zeros(0)).size else ():
            if field == "order" and sampler.holds_sticks:
                continue  # written before it is read
            assert sampler.check_state(model, N, changed(state, field, change)) != "", field


def test_a_number_of_components_that_is_none_is_refused():
    model, sampler = next(case for case in CASES if isinstance(case[0].prior, priors.FiniteMixture))
    state = ended(model, sampler)[1].end.state
    for value in (0.0, 2.5, 1e9):
        assert "number of components" in sampler.check_state(model, N, changed(state, "concentration", put(value, 1)))


def test_a_state_whose_count_of_a_bin_never_moved_in_warm_up_passes():
    model, sampler = next(case for case in CASES if type(case[1]) is samplers.Binned and case[0].mechanism.is_global)
    plan, _ = ended(model, sampler)
    plan = replace(plan, warmup=1)
    run = compile_block(model, sampler, compiled=False)
    states = [run_chain(plan, np.random.SeedSequence(seed), run=run).end.state for seed in range(8)]
    assert min(state.reach.min() for state in states) == 0.0
    assert [sampler.check_state(model, N, state) for state in states] == [""] * len(states)


@pytest.mark.parametrize("kind", [samplers.Slice, samplers.Binned])
def test_a_state_that_grew_passes_and_has_as_many_records(kind):
    model, sampler = next(case for case in CASES if type(case[1]) is kind)
    state = ended(model, sampler)[1].end.state
    grown = sampler.grow(state)
    assert sampler.check_state(model, N, grown) == ""
    assert len(grown.size) == 2 * len(state.size)
    assert grown.size.sum() == state.size.sum()
