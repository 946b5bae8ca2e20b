"""Bugs of trajectories on counts: what makes a lifted Hamiltonian exact, left out one by one."""

from __future__ import annotations

from collections.abc import Callable

from privmix.kernels import HierarchicalNormal
from privmix.mechanisms import RandomizedResponse
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.samplers import Lifted
from privmix.samplers.lifted import coordinates, renew, trajectory
from privmix.samplers.moves import sticks
from privmix.testing import Mutant

WIDE = (-10.0, 10.0)
RESPONSE = PrivateMixture(
    RandomizedResponse(cells=8, epsilon=3.0, bounds=WIDE), HierarchicalNormal(WIDE), DirichletProcess((2.0, 1.0))
)
SHORT = Lifted(most_steps=6, grid=(221, 39))


def lifted_bugs() -> list[Mutant]:
    """Return bugs that the joint test of trajectories must see, those of the trial first."""
    follow, volume = trajectory.follow, " - 0.5 * log_volume"
    before, after = "log_likelihood(state.counts, state.chance)", "log_likelihood(state.counts, state.trial)"
    jacobian = " + SIZE_UNIT * x[h, 2]"
    stick = "total += log_stick_density(parts.prior, state.concentration, h, log_stick, log_rest)"
    return [
        bug("volume of the manifold left out", (follow, before + volume, before), (follow, after + volume, after)),
        bug(
            "momentum that is not tangent",
            (follow, "    draw_momentum(state, rng, count)\n    project(state, here, count)\n", _NO_PROJECTION),
        ),
        bug("sticks swapped without the Jacobian", (sticks.swap_sticks, "log_rest - new_rest", "0.0")),
        bug("sizes on the log scale without the Jacobian", (coordinates.log_prior, jacobian, "")),
        bug("prior of the sticks left out", (coordinates.log_prior, stick, "total += 0.0 * log_rest")),
        bug("later sticks that keep their weights", (coordinates.take_place, "*= math.exp(further)", "*= 1.0")),
        bug("more mass beyond refused", (follow, "if accepts(rng, after - before):", _GUARD)),
        bug("accepted without the likelihood", (follow, "after += " + after, "after += " + before)),
        bug("sticks renewed whatever the counts are", (renew.renew_stick, "value - current", "0.0")),
        bug("atoms renewed whatever the counts are", (renew.renew_atom, "value - current", "0.0")),
        bug("renewed sticks of the first atom alone", (renew.fill_trial, " + left * state.rest[h, b]", "")),
        bug("weights after renewed sticks that stay", (renew.renew, "(log_before + log_stick", "(log_old + log_stick")),
    ]


# What was tried: a trajectory that leaves more beyond its sticks than a limit is refused, one that leaves less is not.
_GUARD = "if state.new_left[count - 1] < state.log_left[count - 1] + 3.0 and accepts(rng, after - before):"
_NO_PROJECTION = "    draw_momentum(state, rng, count)\n"


def bug(name: str, *edits: tuple[Callable, str, str]) -> Mutant:
    """Return a planted bug of short trajectories on counts of randomised response."""
    return Mutant(name, edits, RESPONSE, SHORT, n=1000)
