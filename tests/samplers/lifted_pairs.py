"""The joint one-step test of trajectories alone, on counts of any number of records: no record is drawn.

Sticks, atoms and what is above them are drawn from the prior, counts given them; then some trajectories are made. If
they leave the posterior unchanged, every statistic of state and counts has the same mean before and after.
"""

import math

import numpy as np
from scipy import stats

from privmix.jit import bind
from privmix.kernels.slots import draw_atom, draw_hyper
from privmix.numerics import binomial
from privmix.priors.slots import draw_concentration, stick
from privmix.samplers.binned.mixture import LEAST_EXPECTED_RECORDS, fill_row, log_likelihood, sum_chances
from privmix.samplers.lifted.coordinates import REACH, REACHED, STAGE, sticks_reached
from privmix.samplers.lifted.renew import renew
from privmix.samplers.lifted.sampler import is_ready
from privmix.samplers.lifted.trajectory import travel
from privmix.samplers.lifted.warmup import EMPTY, close_window, observe
from privmix.samplers.moves.sticks import STICKS, extend_sticks, swap_sticks
from privmix.testing.joint import JointTest, _paired_z

NAMES = ("first weight", "largest weight", "sum of squares", "weighted location", "weighted log size", "first location")
NAMES += ("first log size", "location of the largest", "log size of the largest", "log likelihood", "first bin × count")
NAMES += ("location × counts", "log size × counts", "weight × counts", "spread of locations", "second weight")
NAMES += ("mass beyond", "mass beyond × concentration")
# Draws of the prior from which the table is made.
SEEN = 40


def trajectory_test(model, sampler, *, n, pairs, moves=5, seed=1, replacements=None):
    """Return the outcome of the joint one-step test of trajectories, of draws from the prior and of exchanges."""
    rng = np.random.default_rng(seed)
    before, after = np.zeros((pairs, len(NAMES))), np.zeros((pairs, len(NAMES)))
    hooks = {**model.hooks(), **sampler.hooks(model), **(replacements or {})}
    run = bind(travel_pairs, hooks, owner="trajectories")
    state, data, done, rate = sampler.allocate(model, n), model.data(np.zeros(0)), 0, np.zeros(2)
    while done < pairs:
        done = run(model.parts(), data, state, rng, n, before, after, moves, done, rate)
        if done < pairs:
            state = sampler.grow(state)
    scores = np.array([_paired_z(before[:, k], after[:, k]) for k in range(len(NAMES))])
    p_value = float(min(1.0, len(NAMES) * 2.0 * stats.norm.sf(np.max(np.abs(scores)))))
    return JointTest(NAMES, scores, p_value), rate / (pairs * moves), state


def travel_pairs(parts, data, state, rng, n, before, after, moves, first, rate):
    """Draw pairs and move them, from `first` on; return the pair at which Python has a task (compiled)."""
    if not is_ready(parts, data, state):
        return first
    if state.lift[STAGE] == EMPTY:
        for _ in range(SEEN):
            if not draw_pair(parts, data, state, rng, n):
                return first
            observe(parts, data, state, n)
            state.lift[REACHED] += sticks_reached(state, n)
        close_window(state, SEEN)
        return first
    for r in range(first, len(before)):
        if not draw_pair(parts, data, state, rng, n):
            return r
        summarise(state, n, before[r])
        for _ in range(moves):
            travel(parts, data, state, rng)
            rate[0] += state.statistic[0]
            rate[1] += state.statistic[2]
            swap_sticks(parts, state, rng, LEAST_EXPECTED_RECORDS / n)
        renew(parts, data, state, rng, n)  # once, so that it does not undo what bugs of trajectories did
        summarise(state, n, after[r])
    return len(before)


def draw_pair(parts, data, state, rng, n):
    """Draw a mixing measure, its bins and counts of n records; return False where there is no room for its sticks."""
    state.concentration[0] = draw_concentration(parts.prior, rng)
    draw_hyper(parts.kernel, rng, state.hyper)
    log_stick, log_rest = stick(parts.prior, rng, state.concentration, 0)
    state.weight[0], state.log_left[0] = math.exp(log_stick), log_rest
    draw_atom(parts.kernel, rng, state.theta[0], state.hyper)
    state.cursor[STICKS] = 1
    if not extend_sticks(parts, state, rng):
        return False
    for h in range(state.cursor[STICKS]):
        fill_row(parts, data, state, state.theta[h], state.row[h])
    sum_chances(state)
    left, mass = n, 1.0
    for b in range(len(state.counts)):
        count = left
        if b + 1 < len(state.counts):
            count = binomial(rng, left, min(max(state.chance[b] / mass, 0.0), 1.0))
        state.counts[b] = count
        left -= count
        mass -= state.chance[b]
        mass = max(mass, 1e-12)
    return True


def summarise(state, n, out):
    """Write the statistics of state and counts."""
    largest, slope = 0, 0.0
    for c in range(len(out)):
        out[c] = 0.0
    for b in range(len(state.counts)):
        slope += state.counts[b] / n * (2.0 * b / (len(state.counts) - 1.0) - 1.0)
    for h in range(state.cursor[STICKS]):
        weight, location, size = state.weight[h], math.tanh(0.2 * state.theta[h, 0]), math.log(state.theta[h, 1])
        if weight > state.weight[largest]:
            largest = h
        out[2] += weight * weight
        out[3] += weight * location
        out[4] += weight * size
        out[14] += weight * location * location
    out[0], out[1], out[15] = state.weight[0], state.weight[largest], state.weight[min(1, state.cursor[STICKS] - 1)]
    out[5], out[6] = state.theta[0, 0], math.log(state.theta[0, 1])
    out[7], out[8] = state.theta[largest, 0], math.log(state.theta[largest, 1])
    out[9] = log_likelihood(state.counts, state.chance)
    for b in range(len(state.counts)):
        share = state.counts[b] / n
        out[9] -= state.counts[b] * math.log(max(share, 1e-300))
    out[10] = state.chance[0] * state.counts[0] / n
    out[11], out[12], out[13] = out[3] * slope, out[4] * slope, out[0] * slope
    out[16] = state.log_left[min(state.lift[REACH], state.cursor[STICKS]) - 1]
    out[17] = out[16] * state.concentration[0]
