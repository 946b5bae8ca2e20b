"""Bugs of the paper's two samplers, the three of its published code among them."""

from __future__ import annotations

from mutants.models import HYPERPRIOR, LEARNED_MANY, NORMAL, WALKED, one
from privmix.kernels import random_walk as random_walk_file
from privmix.mechanisms.evidence import local_evidence
from privmix.priors import DirichletProcess
from privmix.samplers import Neal5, Slice, neal5
from privmix.samplers import slice as slice_file
from privmix.samplers.moves import atoms, partition, sticks
from privmix.testing import Mutant


def published_bugs() -> list[Mutant]:
    """Return the three bugs of the paper's published code that change its posterior."""
    return [
        one(
            "published: Neal 5 ignores the concentration",
            partition.propose_row,
            "weight = new_weight(parts.prior, state.concentration, n - 1, clusters)",
            "weight = 1.0",
            NORMAL,
            Neal5(),
        ),
        Mutant(
            "published: slice sampler extends the sticks before the slice variables",
            (
                (slice_file.sweep, "        draw_slices(state, rng)\n", ""),
                (
                    slice_file.sweep,
                    "state.cursor[WAITING] = 0\n",
                    "state.cursor[WAITING] = 0\n    draw_slices(state, rng)\n",
                ),
            ),
            NORMAL,
            Slice(),
        ),
        one(
            "published: Metropolis step on θ leaves the prior out",
            random_walk_file.log_target,
            "total = log_base(kernel, theta, hyper)",
            "total = 0.0",
            WALKED,
            Neal5(),
        ),
    ]


def neal5_bugs() -> list[Mutant]:
    """Return bugs of the marginal sampler."""
    move, propose = neal5.move_record, partition.propose_row
    return [
        one(
            "inverted acceptance ratio, as the paper prints it once",
            move,
            "> state.log_g[i] - value",
            "> value - state.log_g[i]",
            NORMAL,
            Neal5(),
        ),
        one("every proposal accepted", move, "exponential(rng) > state.log_g[i] - value", "True", NORMAL, Neal5()),
        one("stale auxiliaries", move, "copy_y(mine, j, state.proposal, j)", "pass", NORMAL, Neal5()),
        one("stale estimate of g", move, "state.log_g[i] = settle", "settle", NORMAL, Neal5()),
        one("urn counts the record itself", propose, "(weight + n - 1 -", "(weight + n -", NORMAL, Neal5()),
        one(
            "urn copies the record's own label",
            partition.copy_label,
            "other + (other >= i)",
            "other",
            NORMAL,
            Neal5(),
            n=3,
        ),
        one(
            "estimate of g by the largest q, not the mean",
            local_evidence,
            "total += math.exp(value - top)",
            "total += 0.0",
            NORMAL,
            Neal5(auxiliaries=5),
        ),
        one(
            "θ updated with the first auxiliary alone",
            atoms.update_atoms,
            "state.members[: size * m]",
            "state.members[:size]",
            NORMAL,
            Neal5(auxiliaries=5),
        ),
    ]


def slice_bugs() -> list[Mutant]:
    """Return bugs of the conditional sampler."""
    return [
        one(
            "labels weighted by the stick on top of the slice",
            slice_file.draw_label,
            "value = label_score(parts, data, state, i, h)",
            "value = label_score(parts, data, state, i, h) + math.log(state.weight[h])",
            NORMAL,
            Slice(),
        ),
        one(
            "records always move",
            slice_file.move_records,
            "exponential(rng) > state.log_g[i] - value",
            "True",
            NORMAL,
            Slice(),
        ),
        one(
            "sticks forget the records beyond them",
            sticks.update_sticks,
            "beyond -= state.size[h]",
            "beyond = 0",
            NORMAL,
            Slice(),
        ),
        one(
            "concentration updated by the rule for partitions",
            DirichletProcess.update_given_sticks,
            "log_gamma_variate(rng, self.shape + count)",
            "log_gamma_variate(rng, self.shape + 1.0)",
            HYPERPRIOR,
            Slice(),
        ),
        one(
            "empty atoms kept when the base measure moves",
            sticks.update_sticks,
            "if state.size[h] == 0:",
            "if False:",
            LEARNED_MANY,
            Slice(),
            n=4,
            sweeps=20,
        ),
        one(
            "empty atoms kept under a fixed base measure",
            sticks.update_sticks,
            "if state.size[h] == 0:",
            "if False:",
            NORMAL,
            Slice(),
            equivalent="atoms of empty sticks are part of the state; skipping them is a valid Gibbs sweep",
        ),
    ]
