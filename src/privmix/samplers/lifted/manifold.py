"""The manifold of a trajectory: places x together with their stiff coordinates η = s(x), and its geometry.

s(x) = Σ_h w_h t(θ_h) + R t(rest) − centre, with t from the table and R the mass beyond the sticks that move. J is its
slope. The volume of the manifold at x is √det G, G = I + JJ', and directions (u, v) are tangent to it where v = Ju.

Three places are kept at a time, so that a step can be tried, checked backwards and taken without copying: ``at`` says
which is meant.
"""

from __future__ import annotations

import math

from privmix.numerics.linear import inner, invert
from privmix.samplers.lifted.coordinates import STICK_UNIT, fill_slope
from privmix.samplers.lifted.table import add_look_up, look_up

# Rows of State.strip, vectors over the stiff coordinates, or those of them along which trajectories are held: t of what
# lies beyond, the momentum of η, Lagrange's multipliers, what an equation misses, two running sums, and where the
# counts put η.
REST, UP, MULTIPLIER, GAP, LATER, EARLIER, AIM = range(7)


def held_of(state):
    """Return along how many stiff coordinates trajectories are held: the stiffest ones, which come first."""
    return len(state.inverse)


def evaluate(state, at, count):
    """Write s and J of a place, and t with all its derivatives that a force needs."""
    fill_slopes(state, at, count, len(state.centre), held_of(state))


def fill_slopes(state, at, count, stiff, bent):
    """Write so many entries of s and columns of J, and t there, with second derivatives of so many of its entries."""
    x, value, slope = state.places[at], state.values[at], state.slopes[at]
    share, mass, later = state.shares[at], state.masses[at], state.strip[LATER]
    left = 1.0
    for h in range(count):
        share[h], rest = both_shares(STICK_UNIT * x[h, 0])
        mass[h] = left * share[h]
        left *= rest
        look_up(state, x[h, 1], x[h, 2], value[h, :, :stiff], bent)
    for q in range(stiff):
        later[q] = left * state.strip[REST, q]
    for h in range(count - 1, -1, -1):
        # A longer stick takes from all later ones.
        gain, loss = STICK_UNIT * (1.0 - share[h]) * mass[h], STICK_UNIT * share[h]
        for q in range(stiff):
            slope[3 * h, q] = gain * value[h, 0, q] - loss * later[q]
            slope[3 * h + 1, q] = mass[h] * value[h, 1, q]
            slope[3 * h + 2, q] = mass[h] * value[h, 2, q]
            later[q] += mass[h] * value[h, 0, q]
    for q in range(stiff):
        state.lifted[at, q] = later[q] - state.centre[q]


def both_shares(logit):
    """Return (ν, 1 − ν) of a logit."""
    if logit > 0.0:
        ratio = math.exp(-logit)
        stick = 1.0 / (1.0 + ratio)
        return stick, ratio * stick
    ratio = math.exp(logit)
    rest = 1.0 / (1.0 + ratio)
    return ratio * rest, rest


def lift(state, at, count):
    """Write s of a place alone, as far as trajectories are held along it."""
    x, out, left = state.places[at], state.lifted[at, : held_of(state)], 1.0
    for q in range(len(out)):
        out[q] = -state.centre[q]
    for h in range(count):
        share, rest = both_shares(STICK_UNIT * x[h, 0])
        add_look_up(state, x[h, 1], x[h, 2], left * share, out)
        left *= rest
    for q in range(len(out)):
        out[q] += left * state.strip[REST, q]


def fill_chord(state, here, there, count):
    """Write the inverse of I + J(here) J(there)', whose transpose says how multipliers from here close a gap there.

    Returns False where there is none. The slopes there are written as far as trajectories are held along them.
    """
    held, chord = held_of(state), state.chord
    fill_slopes(state, there, count, held, 0)
    for q in range(held):
        for k in range(held):
            chord[q, k] = 0.0
        chord[q, q] = 1.0
    slope, onto = state.slopes[there], state.slopes[here]
    for i in range(0, 3 * count, 3):
        one, two, three = slope[i], slope[i + 1], slope[i + 2]
        for q in range(held):
            a, b, c = onto[i, q], onto[i + 1, q], onto[i + 2, q]
            for k in range(held):
                chord[q, k] += a * one[k] + b * two[k] + c * three[k]
    return not math.isnan(invert(chord, held))


def fill_inverse(state, at, count):
    """Write G⁻¹ at a place; return log det G."""
    fill_squares(state.slopes[at], 3 * count, state.inverse)
    return invert(state.inverse, held_of(state))


def fill_squares(slope, rows, out):
    """Write I + J'J over so many rows, a multiple of three, three at a time: one half of it, then the other."""
    size = out.shape[0]
    for q in range(size):
        for k in range(q, size):
            out[q, k] = 0.0
        out[q, q] = 1.0
    for i in range(0, rows, 3):
        one, two, three = slope[i], slope[i + 1], slope[i + 2]
        for q in range(size):
            a, b, c = one[q], two[q], three[q]
            for k in range(q, size):
                out[q, k] += a * one[k] + b * two[k] + c * three[k]
    for q in range(size):
        for k in range(q):
            out[q, k] = out[k, q]


def project(state, at, count):
    """Make the momentum tangent at a place whose G⁻¹ is in the state: λ = G⁻¹(Jp − π), p −= J'λ, π += λ."""
    held, slope = held_of(state), state.slopes[at]
    up, gap, multiplier = state.strip[UP], state.strip[GAP], state.strip[MULTIPLIER, :held]
    for q in range(held):
        gap[q] = -up[q]
        multiplier[q] = 0.0
    for i in range(3 * count):
        for q in range(held):
            gap[q] += slope[i, q] * state.pace[i // 3, i % 3]
    for k in range(held):
        for q in range(held):
            multiplier[q] += state.inverse[k, q] * gap[k]
    for i in range(3 * count):
        state.pace[i // 3, i % 3] -= inner(multiplier, slope[i])
    for q in range(held):
        up[q] += multiplier[q]


def fill_force(parts, state, at, count):
    """Write the force at a place whose G⁻¹ is in the state: the slope of the log of the density on the manifold.

    That is log prior − ½ log det G − ½|s̃ − s̃*|², with s̃ the stiff coordinates along which trajectories are not held
    and s̃* where the counts put them; what else the likelihood says is left to the acceptance. With A_i = G⁻¹J_i,
    ½∂ log det G = ∂ Σ_j w_j q_j where q_j = A^μ_j·t_μ + A^l_j·t_l + C_j·t, the A held, and C_j = (1 − ν_j)A^a_j −
    Σ_{h<j} ν_h A^a_h is what the sticks do to w_j.
    """
    fill_slope(parts, state, state.places[at], count, state.force)
    pull_to_counts(state, at, count)
    pull(state, at, count)
    share, earlier, later, held = state.shares[at], state.strip[EARLIER], state.strip[LATER], held_of(state)
    left, sum_q = 1.0, 0.0
    for q in range(held):
        earlier[q] = 0.0
    for h in range(count):
        left *= 1.0 - share[h]
        for q in range(held):
            earlier[q] += share[h] * STICK_UNIT * state.pulled[3 * h, q]
    for q in range(held):
        sum_q -= left * earlier[q] * state.strip[REST, q]
        later[q] = left * state.strip[REST, q]
    for h in range(count - 1, -1, -1):
        sum_q = push_stick(state, at, h, sum_q)


def pull_to_counts(state, at, count):
    """Add what draws the stiff coordinates along which trajectories are not held to where the counts put them."""
    held, gap = held_of(state), state.strip[GAP]
    stiff = len(gap)
    for q in range(held, stiff):
        gap[q] = state.strip[AIM, q] - state.lifted[at, q]
    for i in range(3 * count):
        state.force[i // 3, i % 3] += inner(gap[held:], state.slopes[at, i, held:])


def pull(state, at, count):
    """Write A = G⁻¹J, row by row."""
    slope, held = state.slopes[at], held_of(state)
    for i in range(3 * count):
        for q in range(held):
            state.pulled[i, q] = 0.0
        for k in range(held):
            for q in range(held):
                state.pulled[i, q] += slope[i, k] * state.inverse[k, q]


def push_stick(state, at, h, sum_q):
    """Take the slope of ½ log det G off the force on stick h and its atom; return Σ_{j≥h} w_j q_j.

    ``strip[EARLIER]`` holds Σ_{i≤h} ν_i A^a_i and ``strip[LATER]`` Σ_{j>h} w_j t_j; both are moved on.
    """
    share, mass, earlier, later = state.shares[at, h], state.masses[at, h], state.strip[EARLIER], state.strip[LATER]
    bend, pulled = state.values[at, h], state.pulled
    own, in_location, in_size, change = 0.0, 0.0, 0.0, 0.0
    for q in range(held_of(state)):
        stick = STICK_UNIT * pulled[3 * h, q]
        location, size = pulled[3 * h + 1, q], pulled[3 * h + 2, q]
        earlier[q] -= share * stick
        weight = (1.0 - share) * stick - earlier[q]
        own += location * bend[1, q] + size * bend[2, q] + weight * bend[0, q]
        in_location += location * bend[3, q] + size * bend[4, q] + weight * bend[1, q]
        in_size += location * bend[4, q] + size * bend[5, q] + weight * bend[2, q]
        later_and_own = later[q] + mass * bend[0, q]
        change += stick * later_and_own
        later[q] = later_and_own
    by_weights = (1.0 - share) * mass * own - share * sum_q
    state.force[h, 0] -= STICK_UNIT * (by_weights - share * (1.0 - share) * change)
    state.force[h, 1] -= mass * in_location
    state.force[h, 2] -= mass * in_size
    return sum_q + mass * own
