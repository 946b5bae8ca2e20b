"""Update the parameters of all clusters of a partition when g(z|θ) is known.

Either the confidential records are drawn exactly given the release and their clusters, and the kernel's own update
follows; or the parameters walk on the marginal likelihood ∏ g(z_i|θ_h) itself, and no record is imputed. The walk
moves further where the noise is strong, for then the imputed records hold the parameters in place.
"""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.kernels.slots import log_base, log_scale, parameter_count, prepare
from privmix.mechanisms.slots import at_record
from privmix.numerics.steps import make_walk
from privmix.pairs.slots import draw_given_at, draw_reported_at, log_g, walk_columns
from privmix.samplers.moves.atoms import group_records, update_atoms

# Passes over the parameters of an atom in each sweep.
PASSES_OVER_AN_ATOM = 2


@slot
def update_parameters(parts, data, state, rng, rows):
    """Update the atom of every occupied row."""


def impute_and_update(parts, data, state, rng, rows):
    """Draw every record exactly given z and its cluster, then update the atoms given what was reported of them."""
    for i in range(len(state.allocation)):
        theta = state.theta[state.allocation[i]]
        draw_reported_at(at_record(parts.mechanism, i), parts.kernel, rng, data.z[i], theta, state.y, i)
    update_atoms(parts.kernel, rng, state, rows, state.y)


def draw_records(parts, data, state, rng):
    """Draw Y_i | z_i, θ_{c_i} for every record."""
    for i in range(len(state.allocation)):
        theta = state.theta[state.allocation[i]]
        draw_given_at(at_record(parts.mechanism, i), parts.kernel, rng, data.z[i], theta, state.y, i)


def walk_parameters(parts, data, state, rng, rows):
    """Move the atom of every occupied row by Metropolis steps on G₀(θ) ∏ g(z_i|θ)."""
    group_records(state.allocation, state.size, rows, state.order, state.offset)
    for h in range(rows):
        if state.size[h] > 0:
            first = state.offset[h]
            members = state.order[first : first + state.size[h]]
            # The clusters of a sweep share one step size, so each counts a little.
            walk_atom(
                (parts, data, state, members),
                parts.kernel,
                rng,
                state.theta[h],
                PASSES_OVER_AN_ATOM,
                len(members),
                state.walk,
                state.tune[0],
                math.sqrt(state.cursor[0]),
            )


def walk_by_column(parts, data, state, rng, rows):
    """Move the atom of every occupied row likewise, one column of the records after another."""
    group_records(state.allocation, state.size, rows, state.order, state.offset)
    gain, sharers = state.tune[0], math.sqrt(state.cursor[0])
    for h in range(rows):
        if state.size[h] > 0:
            members = state.order[state.offset[h] : state.offset[h] + state.size[h]]
            walk_columns(
                parts.mechanism,
                parts.kernel,
                rng,
                data.z,
                state.theta[h],
                PASSES_OVER_AN_ATOM,
                members,
                state.hyper,
                state.walk,
                gain,
                sharers,
                state.tune,
                state.members,
            )


def marginal_target(about, theta):
    """Return log G₀(θ) + Σ log g(z_i|θ) over the members of a cluster."""
    parts, data, state, members = about
    total = log_base(parts.kernel, theta, state.hyper)
    if total == -math.inf:
        return total
    for k in range(len(members)):
        i = members[k]
        total += log_g(at_record(parts.mechanism, i), parts.kernel, data.z[i], theta)
    return total


walk_atom = make_walk(marginal_target, prepare, parameter_count, log_scale)
