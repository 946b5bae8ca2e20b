"""What other rooms ask of a sampler is a member of it, so that one's own is treated like the library's."""

from dataclasses import dataclass

import numpy as np
import pytest

from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.engine.chains import initial_latent, set_first_steps
from samplers.cases import EVERY, SAMPLERS, SETTINGS, first_of_each

UNIT = (0.0, 1.0)


@pytest.mark.parametrize(("model", "sampler"), first_of_each(EVERY, lambda case: case[1]), ids=repr)
def test_walks_start_with_steps_of_the_spread_of_the_records(model, sampler):
    """A sampler whose state has step sizes sets them: location on the scale of the records, variance on logs."""
    z = np.linspace(-4.0, 4.0, 10) if model.mechanism.outputs is None else np.array(model.mechanism.outputs)
    state, latent = sampler.allocate(model, len(z)), initial_latent(model, z, clusters=1)
    set_first_steps(model, sampler, state, latent)
    if hasattr(state, "walk"):
        assert state.walk[:2] == pytest.approx([np.log(np.std(latent.y)), 0.0])
    assert hasattr(state, "walk") or sampler.proposes_records


def test_proposals_of_records_are_told_from_other_moves():
    proposing = {samplers.Neal5(), samplers.Slice(), samplers.Neal5(auxiliaries=5)}
    others = {samplers.Binned(), samplers.Neal2(), samplers.Neal3(), samplers.Neal8(), samplers.SplitMerge()}
    assert {sampler for sampler in SAMPLERS if sampler.proposes_records} >= proposing
    assert not any(sampler.proposes_records for sampler in others | (set(SETTINGS) - proposing))


@dataclass(frozen=True)
class Quiet(samplers.Neal5):
    """Neal 5 under another name, whose acceptance is said to be that of other moves."""

    proposes_records = False


@dataclass(frozen=True)
class Own(samplers.Neal5):
    """Neal 5 under another name."""


@pytest.mark.parametrize(("sampler", "judged"), [(Own(), True), (Quiet(), False)], ids=repr)
def test_acceptance_of_ones_own_sampler_is_judged(sampler, judged):
    """The bound e^−ε holds for any sampler that proposes records."""
    model = PrivateMixture(mechanisms.Laplace(epsilon=1.0, bounds=UNIT), kernels.Beta())
    z = model.mechanism.privatize(np.linspace(0.1, 0.9, 20), seed=1)
    posterior = model.sample(z, sampler, draws=100, warmup=20, chains=2, seed=1)
    found = [finding for finding in posterior.check() if finding.title == "acceptance"]
    assert bool(found) == judged
    assert all("above the bound e^−ε = 0.37" in finding.text for finding in found)


def test_names_on_the_command_line():
    assert samplers.SplitMerge.command_name == "split-merge"
    assert Own.command_name == "own"
