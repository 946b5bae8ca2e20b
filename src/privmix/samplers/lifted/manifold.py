"""The manifold of a trajectory: places x together with their stiff coordinates η = s(x), and its geometry.

s(x) = Σ_h w_h t(θ_h) + R t(rest) − centre, with t from the table and R the mass beyond the sticks that move. J is its
slope. The volume of the manifold at x is √det G, G = I + JJ', and directions (u, v) are tangent to it where v = Ju.

Three places are kept at a time, so that a step can be tried, checked backwards and taken without copying: ``at`` says
which is meant.
"""

from __future__ import annotations

import math

from privmix.numerics.linear import inner, invert
from privmix.samplers.binned.mixture import log_shares
from privmix.samplers.lifted.coordinates import STICK_UNIT, fill_slope
from privmix.samplers.lifted.table import add_look_up, look_up

# Rows of State.strip, vectors over the stiff coordinates: t of what lies beyond, the momentum of η, Lagrange's
# multipliers, what an equation misses, two running sums, and where the counts put η.
REST, UP, MULTIPLIER, GAP, LATER, EARLIER, AIM = range(7)


def evaluate(state, at, count):
    """Write s and J of a place, and t with all its derivatives."""
    x, value, slope = state.places[at], state.values[at], state.slopes[at]
    share, mass, later = state.shares[at], state.masses[at], state.strip[LATER]
    stiff, log_left = len(state.centre), 0.0
    for h in range(count):
        log_stick, log_rest = log_shares(STICK_UNIT * x[h, 0])
        share[h], mass[h] = math.exp(log_stick), math.exp(log_left + log_stick)
        log_left += log_rest
        look_up(state, x[h, 1], x[h, 2], value[h])
    left = math.exp(log_left)
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


def lift(state, at, count):
    """Write s of a place alone."""
    x, out, log_left = state.places[at], state.lifted[at], 0.0
    for q in range(len(out)):
        out[q] = -state.centre[q]
    for h in range(count):
        log_stick, log_rest = log_shares(STICK_UNIT * x[h, 0])
        add_look_up(state, x[h, 1], x[h, 2], math.exp(log_left + log_stick), out)
        log_left += log_rest
    left = math.exp(log_left)
    for q in range(len(out)):
        out[q] += left * state.strip[REST, q]


def fill_inverse(state, at, count):
    """Write G⁻¹ at a place; return log det G."""
    fill_squares(state.slopes[at], 3 * count, state.inverse)
    return invert(state.inverse, len(state.centre))


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
    slope, up, gap, multiplier = state.slopes[at], state.strip[UP], state.strip[GAP], state.strip[MULTIPLIER]
    stiff = len(state.centre)
    for q in range(stiff):
        gap[q] = -up[q]
        multiplier[q] = 0.0
    for i in range(3 * count):
        for q in range(stiff):
            gap[q] += slope[i, q] * state.pace[i // 3, i % 3]
    for k in range(stiff):
        for q in range(stiff):
            multiplier[q] += state.inverse[k, q] * gap[k]
    for i in range(3 * count):
        state.pace[i // 3, i % 3] -= inner(slope[i], multiplier)
    for q in range(stiff):
        up[q] += multiplier[q]


def fill_force(parts, state, at, count):
    """Write the slope of log prior − ½ log det G at a place whose G⁻¹ is in the state.

    With A_i = G⁻¹J_i, ½∂ log det G = ∂ Σ_j w_j q_j where q_j = A^μ_j·t_μ + A^l_j·t_l + C_j·t, the A held, and
    C_j = (1 − ν_j)A^a_j − Σ_{h<j} ν_h A^a_h is what the sticks do to w_j.
    """
    fill_slope(parts, state, state.places[at], count, state.force)
    pull(state, at, count)
    share, earlier, later, stiff = state.shares[at], state.strip[EARLIER], state.strip[LATER], len(state.centre)
    left, sum_q = 1.0, 0.0
    for q in range(stiff):
        earlier[q] = 0.0
    for h in range(count):
        left *= 1.0 - share[h]
        for q in range(stiff):
            earlier[q] += share[h] * STICK_UNIT * state.pulled[3 * h, q]
    for q in range(stiff):
        sum_q -= left * earlier[q] * state.strip[REST, q]
        later[q] = left * state.strip[REST, q]
    for h in range(count - 1, -1, -1):
        sum_q = push_stick(state, at, h, sum_q)


def pull(state, at, count):
    """Write A = G⁻¹J, row by row."""
    slope, stiff = state.slopes[at], len(state.centre)
    for i in range(3 * count):
        for q in range(stiff):
            state.pulled[i, q] = 0.0
        for k in range(stiff):
            for q in range(stiff):
                state.pulled[i, q] += slope[i, k] * state.inverse[k, q]


def push_stick(state, at, h, sum_q):
    """Take the slope of ½ log det G off the force on stick h and its atom; return Σ_{j≥h} w_j q_j.

    ``strip[EARLIER]`` holds Σ_{i≤h} ν_i A^a_i and ``strip[LATER]`` Σ_{j>h} w_j t_j; both are moved on.
    """
    share, mass, earlier, later = state.shares[at, h], state.masses[at, h], state.strip[EARLIER], state.strip[LATER]
    bend, pulled = state.values[at, h], state.pulled
    own, in_location, in_size, change = 0.0, 0.0, 0.0, 0.0
    for q in range(len(state.centre)):
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
