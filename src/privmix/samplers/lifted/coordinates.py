"""Where a trajectory moves: the first sticks and their atoms as a place on the whole space, and its prior.

Row h of a place is (logit ν_h / 1.5, (location − middle)/unit, log(size/unit²)/.6), the unit a twentieth of the bounds'
width: then one unit of each is about as far as the prior lets it go. What lies beyond these sticks stays as it is, as
one component with the mixture of all of them.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_base, prepare
from privmix.priors.slots import log_stick_density
from privmix.samplers.binned.mixture import LEAST_CHANCE, fill_row, log_shares
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.sticks import STICKS, mass_is_left

# Units of a place. A location in units four times as long made the steps of a trajectory two to four times shorter.
STICK_UNIT, SIZE_UNIT = 1.5, 0.6
# Entries of State.frame: the middle of the bounds, the unit of locations, and the log of its square.
MIDDLE, UNIT, LOG_UNIT = 0, 1, 2
# Entries of State.lift: what is being done about the table, how many sticks move, the warm-up's window (its length, the
# sweeps made in it, and the sum of the sticks that they reached), and along how many combinations trajectories stay.
STAGE, REACH, LENGTH, SWEEPS, REACHED, HELD = range(6)
# Log of the share of the mass beyond the sticks that move which is not broken: of a billion records 30,000 are expected
# there, so it is 3e-9 of one.
LOG_SHARE_BEYOND = -30.0
# Distance at which the prior is compared with itself to get its slope: a force need not be exact.
NEARBY = 1e-4
# Mass, in units of 1/√n, that counts can hardly tell from none: trajectories do not move sticks that are broken off
# what is left then. With a tenth of it they moved a quarter more sticks, and chains mixed no better.
LEAST_MASS = 1.0


def sticks_reached(state, n):
    """Return how many sticks are broken off while the mass that is left could be told from none."""
    log_least = math.log(LEAST_MASS / math.sqrt(n))
    sticks = 1
    while sticks < state.cursor[STICKS] and state.log_left[sticks - 1] >= log_least:
        sticks += 1
    return sticks


def sticks_to_move(state, reach):
    """Return how many sticks a trajectory moves: so many, but never the last.

    Neither number is changed by the trajectory.
    """
    return min(reach, state.cursor[STICKS] - 1)


def is_needed_beyond(state, h):
    """Return whether stick h may matter, now or after a trajectory, those before it being broken.

    A trajectory changes the mass R beyond the sticks that it moves, by orders of magnitude where the concentration is
    small. So what is not broken must be little as a share of R, whatever that is. To reject trajectories after which it
    would be too much, as was tried, favours those that make R smaller: at n = 1,000 it made 16 clusters 11.
    """
    reach = state.lift[REACH]
    if reach == 0:
        return mass_is_left(state, h)
    return h <= reach or mass_is_left(state, h) or state.log_left[h - 1] - state.log_left[reach - 1] > LOG_SHARE_BEYOND


def read_place(state, count, x):
    """Write the place of the first sticks and atoms."""
    for h in range(count):
        x[h, 0] = (math.log(max(state.weight[h], LEAST_CHANCE)) - state.log_left[h]) / STICK_UNIT
        x[h, 1] = (state.theta[h, 0] - state.frame[MIDDLE]) / state.frame[UNIT]
        x[h, 2] = (math.log(state.theta[h, 1]) - state.frame[LOG_UNIT]) / SIZE_UNIT


def write_atom(state, location, size, theta):
    """Write the two parameters of an atom at a place."""
    theta[0] = state.frame[MIDDLE] + state.frame[UNIT] * location
    theta[1] = math.exp(state.frame[LOG_UNIT] + SIZE_UNIT * size)


def propose_place(parts, data, state, x, count):
    """Write the atoms of a place, their bins, the sticks and the probabilities of bins that they give together.

    ``rest`` must be that of the state.
    """
    bins = len(state.counts)
    for b in range(bins):
        state.trial[b] = 0.0
    log_left = 0.0
    for h in range(count):
        write_atom(state, x[h, 1], x[h, 2], state.new_theta[h])
        prepare(parts.kernel, state.new_theta[h])
        fill_row(parts, data, state, state.new_theta[h], state.new_row[h])
        log_stick, log_rest = log_shares(STICK_UNIT * x[h, 0])
        state.new_weight[h] = math.exp(log_left + log_stick)
        log_left += log_rest
        state.new_left[h] = log_left
        for b in range(bins):
            state.trial[b] += state.new_weight[h] * state.new_row[h, b]
    left = math.exp(log_left)
    for b in range(bins):
        state.trial[b] += left * state.rest[count - 1, b]


def take_place(state, count):
    """Let the proposed sticks and atoms be those of the state; later sticks keep their shares of what is left."""
    further = state.new_left[count - 1] - state.log_left[count - 1]
    for h in range(count):
        copy_row(state.theta, h, state.new_theta, h)
        state.weight[h], state.log_left[h] = state.new_weight[h], state.new_left[h]
        for b in range(len(state.counts)):
            state.row[h, b] = state.new_row[h, b]
    for h in range(count, state.cursor[STICKS]):
        state.weight[h] *= math.exp(further)
        state.log_left[h] += further
    for b in range(len(state.counts)):
        state.chance[b] = state.trial[b]


def log_prior(parts, state, x, count, theta):
    """Return the log density of a place under the prior, up to a constant; `theta` holds its atoms."""
    total = 0.0
    for h in range(count):
        log_stick, log_rest = log_shares(STICK_UNIT * x[h, 0])
        total += log_stick_density(parts.prior, state.concentration, h, log_stick, log_rest)
        # The second parameter moves on the log scale: its Jacobian.
        total += log_base(parts.kernel, theta[h], state.hyper) + SIZE_UNIT * x[h, 2]
    return total


def fill_slope(parts, state, x, count, out):
    """Write the slope of the log prior at a place, by differences."""
    theta = state.scratch[0]
    for h in range(count):
        high = stick_prior(parts, state, h, x[h, 0] + NEARBY)
        out[h, 0] = (high - stick_prior(parts, state, h, x[h, 0] - NEARBY)) / (2.0 * NEARBY)
        high = atom_prior(parts, state, x[h, 1] + NEARBY, x[h, 2], theta)
        out[h, 1] = (high - atom_prior(parts, state, x[h, 1] - NEARBY, x[h, 2], theta)) / (2.0 * NEARBY)
        high = atom_prior(parts, state, x[h, 1], x[h, 2] + NEARBY, theta)
        out[h, 2] = (high - atom_prior(parts, state, x[h, 1], x[h, 2] - NEARBY, theta)) / (2.0 * NEARBY) + SIZE_UNIT


def stick_prior(parts, state, h, place):
    """Return the log prior of stick h in its logit."""
    log_stick, log_rest = log_shares(STICK_UNIT * place)
    return log_stick_density(parts.prior, state.concentration, h, log_stick, log_rest)


def atom_prior(parts, state, location, size, theta):
    """Return the log density of the base measure at an atom."""
    write_atom(state, location, size, theta)
    return log_base(parts.kernel, theta, state.hyper)
