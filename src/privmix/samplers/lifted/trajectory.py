"""One trajectory: Hamiltonian dynamics on the manifold, accepted by the exact likelihood (Au, Graham and Thiery 2023).

As n grows the counts hold the sticks and atoms on a curved set, to within 1/√n across it and hardly at all along it.
With the stiff coordinates lifted to coordinates of their own, the density on the manifold is as wide in every direction
whatever n is, so that a step need not shrink. Steps are RATTLE's: a kick, a drift that is brought back to the manifold
by Broyden's method, and a check that the way back leads to where it came from. Any failure rejects.
"""

from __future__ import annotations

import math

from privmix.numerics import normal, uniform, uniform_index
from privmix.numerics.linear import inner
from privmix.numerics.steps import accepts
from privmix.samplers.binned.mixture import fill_rests, log_likelihood
from privmix.samplers.lifted.coordinates import (
    LENGTH,
    REACH,
    SWEEPS,
    log_prior,
    propose_place,
    read_place,
    sticks_to_move,
    take_place,
)
from privmix.samplers.lifted.manifold import (
    AIM,
    GAP,
    MULTIPLIER,
    REST,
    UP,
    evaluate,
    fill_chord,
    fill_force,
    fill_inverse,
    held_of,
    lift,
    project,
)
from privmix.samplers.lifted.table import combine

# Entries of State.gear: the log of the step, what it was when the table was made, the most steps of a trajectory, and
# the log of the step that is tried next in warm-up, of which the first is a running mean.
LOG_STEP, LAST_STEP, MOST_STEPS, TRIED_STEP = range(4)
# Entries of State.statistic that a trajectory writes.
ACCEPTANCE, FAILED = 0, 2
# Share of trajectories that tuning aims to accept, and the longest step.
AIMED_ACCEPTANCE, LARGEST_LOG_STEP = 0.7, 0.5
# How fast a step is tuned: with a new table it may have to become ten times as long, in some fifty sweeps.
GAIN, SLOWED_AFTER, SLOWING = 3.0, 5.0, 0.75
# Share of a window that the step of a chain is a mean over: the last one that was tuned is as much too long or short as
# chance makes it, and where a window began shortly before the draws acceptance was anything from .33 to .89.
MEAN_OVER = 1.0 / 3.0
# What a step is multiplied with: a factor from 1 less to 1 more than JITTER; and now and then SHORT, for narrow places.
JITTER, SHORT, SHORT_CHANCE = 0.2, 0.2, 0.2
# Distance that a trajectory may go, and the least number of steps that one may have.
DISTANCE, LEAST_STEPS = 2.0, 10
# How near s(x) = η must be, and x to where it came from on the way back; and how often Broyden's method is tried.
TOLERANCE, RETURN_TOLERANCE, MOST_ITERATIONS = 1e-8, 1e-5, 24
# Iterations that may lead further away without a stop.
PATIENCE = 8
# Beyond this a place, or what it misses of the manifold, is lost.
FARTHEST, LARGEST_GAP = 1e4, 1e8


def travel(parts, data, state, rng):
    """Make one trajectory and report on it; in warm-up its step is tuned, but by short ones it is not."""
    count = sticks_to_move(state, state.lift[REACH])
    is_short = uniform(rng) < SHORT_CHANCE
    whole = math.exp(state.gear[TRIED_STEP if state.tune[0] > 0.0 else LOG_STEP])
    step = whole * (1.0 + JITTER * (2.0 * uniform(rng) - 1.0))
    most = min(max(int(DISTANCE / whole), LEAST_STEPS), state.gear[MOST_STEPS])
    steps = 1 + uniform_index(rng, int(most))
    rate = follow(parts, data, state, rng, count, step * SHORT if is_short else step, steps)
    if state.tune[0] > 0.0 and not is_short:
        change = gain_in_window(state) * (max(rate, 0.0) - AIMED_ACCEPTANCE)
        state.gear[TRIED_STEP] = min(state.gear[TRIED_STEP] + change, LARGEST_LOG_STEP)
        state.gear[LOG_STEP] += (state.gear[TRIED_STEP] - state.gear[LOG_STEP]) / (MEAN_OVER * state.lift[LENGTH])
    state.statistic[ACCEPTANCE] = max(rate, 0.0)
    state.statistic[FAILED] = rate < 0.0


def gain_in_window(state):
    """Return how much a trajectory's acceptance changes the step: less and less, from the start of every window."""
    return GAIN * (SLOWED_AFTER + state.lift[SWEEPS]) ** -SLOWING


def follow(parts, data, state, rng, count, step, steps):
    """Follow the dynamics for so many steps and accept where they end; return the probability, −1 for a failure."""
    if count == 0:
        return 0.0
    fill_rests(state)
    combine(state, state.rest[count - 1], state.strip[REST])
    fill_aim(state)
    here, there = state.trio[0], state.trio[1]
    read_place(state, count, state.places[here])
    evaluate(state, here, count)
    log_volume = fill_inverse(state, here, count)
    draw_momentum(state, rng, count)
    project(state, here, count)
    before = log_prior(parts, state, state.places[here], count, state.theta)
    before += log_likelihood(state.counts, state.chance) - 0.5 * log_volume - kinetic(state, count)
    fill_force(parts, state, here, count)
    for _ in range(steps):
        kick(state, here, count, 0.5 * step)
        if not drift(state, here, there, count, step):
            return -1.0
        evaluate(state, there, count)
        set_momentum(state, here, there, count, step)
        log_volume = fill_inverse(state, there, count)
        if math.isnan(log_volume):
            return -1.0
        project(state, there, count)
        if not comes_back(state, here, there, count, step):
            return -1.0
        here, there = there, here
        fill_force(parts, state, here, count)
        kick(state, here, count, 0.5 * step)
    propose_place(parts, data, state, state.places[here], count)
    after = log_prior(parts, state, state.places[here], count, state.new_theta)
    after += log_likelihood(state.counts, state.trial) - 0.5 * log_volume - kinetic(state, count)
    if accepts(rng, after - before):
        take_place(state, count)
    return math.exp(min(after - before, 0.0)) if after - before > -math.inf else 0.0


def fill_aim(state):
    """Write where the counts put the stiff coordinates."""
    n = 0.0
    for b in range(len(state.counts)):
        n += state.counts[b]
    combine(state, state.counts, state.strip[AIM])
    for q in range(len(state.centre)):
        state.strip[AIM, q] = state.strip[AIM, q] / n - state.centre[q]


def draw_momentum(state, rng, count):
    """Draw a momentum of every coordinate, the stiff ones included."""
    for h in range(count):
        for c in range(3):
            state.pace[h, c] = normal(rng)
    for q in range(held_of(state)):
        state.strip[UP, q] = normal(rng)


def kinetic(state, count):
    """Return half the square of the momentum."""
    total = 0.0
    for h in range(count):
        for c in range(3):
            total += 0.5 * state.pace[h, c] * state.pace[h, c]
    for q in range(held_of(state)):
        total += 0.5 * state.strip[UP, q] * state.strip[UP, q]
    return total


def kick(state, at, count, step):
    """Add the force to the momentum, and keep it tangent; the counts pull η to where they put it."""
    for h in range(count):
        for c in range(3):
            state.pace[h, c] += step * state.force[h, c]
    for q in range(held_of(state)):
        state.strip[UP, q] += step * (state.strip[AIM, q] - state.lifted[at, q])
    project(state, at, count)


def drift(state, here, there, count, step):
    """Move along the momentum and back to the manifold, along its normals where the move began; False if it fails.

    The multipliers of the normals are found by Broyden's method (Kelley 1995, Section 7.3), whose iterations cost a
    look at the place each. The first correction is by G⁻¹ of the beginning, which the state must hold; later ones are
    by the slopes of where it led: without these it took twice as many iterations, and 15% of trajectories found no way
    back instead of 6%.
    """
    multiplier, gap, matrix = state.strip[MULTIPLIER], state.strip[GAP], state.inverse
    held, last, since = held_of(state), math.inf, 0
    for q in range(held):
        multiplier[q] = 0.0
    for iteration in range(MOST_ITERATIONS):
        if not move_to(state, here, there, count, step):
            return False
        lift(state, there, count)
        worst = 0.0
        for q in range(held):
            gap[q] = state.lifted[there, q] - state.lifted[here, q] - step * state.strip[UP, q] - multiplier[q]
            if not abs(gap[q]) < LARGEST_GAP:
                return False
            worst = max(worst, abs(gap[q]))
        if worst < TOLERANCE:
            return True
        if iteration > PATIENCE and worst > 2.0 * last:
            return False
        if iteration == 1 and fill_chord(state, here, there, count):
            matrix, since = state.chord, 0
        last = worst
        change_multiplier(state, matrix, since)
        for q in range(held):
            multiplier[q] += state.changes[since, q]
        since += 1
    return False


def change_multiplier(state, matrix, since):
    """Write the change of the multipliers that Broyden's method makes of the gap and the changes since a matrix."""
    gap, changes, held = state.strip[GAP], state.changes, held_of(state)
    change = changes[since]
    for q in range(held):
        change[q] = 0.0
    for k in range(held):
        for q in range(held):
            change[q] += matrix[k, q] * gap[k]
    for j in range(1, since):
        along = inner(changes[j - 1], change) / inner(changes[j - 1], changes[j - 1])
        for q in range(held):
            change[q] += along * changes[j, q]
    if since > 0:
        left = 1.0 - inner(changes[since - 1], change) / inner(changes[since - 1], changes[since - 1])
        for q in range(held):
            change[q] /= left


def move_to(state, here, there, count, step):
    """Write the place x + step·p − J'λ; return whether it is not lost."""
    slope, multiplier = state.slopes[here], state.strip[MULTIPLIER, : held_of(state)]
    for i in range(3 * count):
        h, c = i // 3, i % 3
        back = inner(multiplier, slope[i])
        state.places[there, h, c] = state.places[here, h, c] + step * state.pace[h, c] - back
        if not abs(state.places[there, h, c]) < FARTHEST:
            return False
    return True


def set_momentum(state, here, there, count, step):
    """Let the momentum be what led from here to there."""
    for h in range(count):
        for c in range(3):
            state.pace[h, c] = (state.places[there, h, c] - state.places[here, h, c]) / step
    for q in range(held_of(state)):
        state.strip[UP, q] = (state.lifted[there, q] - state.lifted[here, q]) / step


def comes_back(state, here, there, count, step):
    """Return whether the drift from there against the momentum ends here: a step that does not is not reversible."""
    back = state.trio[2]
    if not drift(state, there, back, count, -step):
        return False
    for h in range(count):
        for c in range(3):
            if not abs(state.places[back, h, c] - state.places[here, h, c]) < RETURN_TOLERANCE:
                return False
    return True
