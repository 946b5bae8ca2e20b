"""Move sticks and atoms on the likelihood of bin counts, with no record and no label in sight.

The counts are multinomial with p_b = Σ_h w_h F_hb, F_hb the probability of bin b under atom h, so the log likelihood is
Σ_b c_b log p_b. A change of one atom or of one stick changes p at the cost of one pass over the bins.

Works on a state with ``row`` (F), ``rest``, ``chance`` (p), ``trial`` (a proposed p), ``counts``, ``fresh`` (a proposed
row of F), ``weight``, ``log_left``, ``theta`` and ``walk``. Atoms and sticks that carry less than
`LEAST_EXPECTED_RECORDS` are left alone here: they are drawn anew, given the counts of the occupied ones, in every
sweep. Where there are many sticks, each sweep moves some of them, so that its cost hardly grows with n. Which are moved
depends on chance and on weights that the move does not change.
"""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.kernels.slots import log_moved, log_scale, parameter_count, prepare, shift
from privmix.numerics import binomial, normal, uniform
from privmix.numerics.steps import accepts, make_slice_step, tune_step
from privmix.priors.slots import log_stick_density
from privmix.samplers.moves.atoms import copy_row
from privmix.samplers.moves.parameters import PASSES_OVER_AN_ATOM
from privmix.samplers.moves.sticks import STICKS

# Expected records below which an atom or a stick is not moved.
LEAST_EXPECTED_RECORDS = 0.5
# Largest factor by which a step is longer or shorter than the tuned one.
LARGEST_STEP_FACTOR = 4.0
# Atoms moved in a sweep, and sticks that every sweep moves.
MOVED_IN_A_SWEEP = 8
# Records of a bin that are handed out one by one: a binomial draw costs about as much as three.
MOST_RECORDS_ONE_BY_ONE = 6
# Records that the last stick gets one by one: with a billion in a bin that would take longer than all else.
MOST_RECORDS_AT_LAST = 4096
# Most steps by which a slice is widened, standard deviations in its first width, and the widest, of a logit.
MOST_STEPS_OUT, SLICE_WIDTH, WIDEST_SLICE = 60, 3.0, 4.0
# The least probability of a bin: what rounding could make negative.
LEAST_CHANCE = 1e-300


@slot
def fill_row(parts, data, state, theta, out):
    """Write the probability of each bin under an atom."""


@slot
def log_released(state, chance):
    """Return the log probability of what was released given those of the bins, up to a constant."""


@slot
def redraw_bins(state, rng):
    """Give each record a bin, given the probabilities of all, where a release does not tell it."""


def log_likelihood(count, chance):
    """Return Σ_b c_b log p_b."""
    total = 0.0
    for b in range(len(count)):
        if count[b] > 0.0:
            total += count[b] * math.log(max(chance[b], LEAST_CHANCE))
    return total


def log_of_counts(state, chance):
    """Return the log probability of counts that are known, or drawn before."""
    return log_likelihood(state.counts, chance)


def bins_are_known(state, rng):
    """Leave the bins of records: a release tells them, or its counts were drawn before."""


def sum_chances(state):
    """Write p = Σ_h w_h F_hb afresh."""
    for b in range(len(state.counts)):
        state.chance[b] = 0.0
    for h in range(state.cursor[STICKS]):
        for b in range(len(state.counts)):
            state.chance[b] += state.weight[h] * state.row[h, b]


def move_atoms(parts, data, state, rng, n):
    """Move the parameters of every atom that carries records, one at a time, by a tuned random walk."""
    current = log_released(state, state.chance)
    accepted, proposed = 0.0, 0
    wanted, waiting = MOVED_IN_A_SWEEP, 0
    for h in range(state.cursor[STICKS]):
        waiting += n * state.weight[h] >= LEAST_EXPECTED_RECORDS
    for h in range(state.cursor[STICKS]):
        if n * state.weight[h] < LEAST_EXPECTED_RECORDS:
            continue
        chosen = uniform(rng) * waiting < wanted  # `wanted` of those `waiting`, each set as likely as any other
        waiting -= 1
        if not chosen:
            continue
        wanted -= 1
        moves = parameter_count() + (positive_count() > 1)
        for step_index in range(PASSES_OVER_AN_ATOM * moves):
            current, rate = move_parameter(parts, data, state, rng, n, h, step_index % moves, current)
            accepted += rate
            proposed += 1
    state.statistic[0] = accepted / max(proposed, 1)


def positive_count():
    """Return how many parameters are positive and move on the log scale."""
    total = 0
    for p in range(parameter_count()):
        total += log_scale(p)
    return total


def move_parameter(parts, data, state, rng, n, h, p, current):
    """Propose one parameter of atom h, or all positive ones together; return log likelihood and acceptance.

    Steps differ by a factor of up to LARGEST_STEP_FACTOR either way: atoms of one size may be known well or badly.
    """
    theta = state.theta[h]
    before = log_moved(parts.kernel, theta, state.hyper)
    copy_row(state.scratch, 0, state.theta, h)
    step = math.exp(state.walk[p]) * LARGEST_STEP_FACTOR ** (2.0 * uniform(rng) - 1.0)
    jacobian = shift(parts.kernel, theta, p, step * normal(rng) / math.sqrt(1.0 + n * state.weight[h]))
    prepare(parts.kernel, theta)
    log_ratio = log_moved(parts.kernel, theta, state.hyper) - before + jacobian
    value = current
    if log_ratio > -math.inf:
        fill_row(parts, data, state, theta, state.fresh)
        for b in range(len(state.counts)):
            state.trial[b] = state.chance[b] + state.weight[h] * (state.fresh[b] - state.row[h, b])
        value = log_released(state, state.trial)
        log_ratio += value - current
    if accepts(rng, log_ratio):
        take_trial(state)
        for b in range(len(state.counts)):
            state.row[h, b] = state.fresh[b]
        current = value
    else:
        copy_row(state.theta, h, state.scratch, 0)
    # The atoms of a sweep share one step size, so each counts a little.
    return current, tune_step(state.walk, p, log_ratio, 0.3 * state.tune[0], 1.0)


def take_trial(state):
    """Accept the proposed probabilities of the bins."""
    for b in range(len(state.counts)):
        state.chance[b] = state.trial[b]


def exchange_bins(state, h, k):
    """Exchange the bin probabilities of two sticks."""
    for b in range(len(state.counts)):
        kept = state.row[h, b]
        state.row[h, b] = state.row[k, b]
        state.row[k, b] = kept


def mass_before(state, h):
    """Return the mass that is left when stick h is broken."""
    return math.exp(state.log_left[h - 1]) if h > 0 else 1.0


def move_sticks(parts, state, rng, n):
    """Slice-sample every stick that records can reach, from the first on.

    p = (what earlier sticks give) + R_h (ν_h F_h + (1 − ν_h) U_h), R_h the mass left for stick h and U_h the mixture of
    all later sticks, which does not depend on ν_h.
    """
    fill_rests(state)
    for b in range(len(state.counts)):
        state.fresh[b] = 0.0  # what earlier sticks give
    log_left = 0.0
    for h in range(state.cursor[STICKS]):
        log_stick = math.log(max(state.weight[h], LEAST_CHANCE)) - (state.log_old[h - 1] if h > 0 else 0.0)
        log_rest = state.log_old[h] - (state.log_old[h - 1] if h > 0 else 0.0)
        last = log_rest == -math.inf  # the last of a finite mixture takes all that is left
        if not last and n * math.exp(log_left) >= LEAST_EXPECTED_RECORDS and is_moved(rng, h):
            width = slice_width(state, h, math.exp(log_left), n)
            logit = slice_stick((parts, state, h, log_left), rng, log_stick - log_rest, width)
            log_stick, log_rest = log_shares(logit)
        state.weight[h] = math.exp(log_left + log_stick)
        for b in range(len(state.counts)):
            state.fresh[b] += state.weight[h] * state.row[h, b]
        log_left += log_rest
        state.log_left[h] = log_left
    for b in range(len(state.counts)):
        state.chance[b] = state.fresh[b]


@slot
def slice_width(state, h, left, n):
    """Return how wide the first slice of stick h is, in its logit: nothing that depends on where the stick is."""


def width_of_records(state, h, left, n):
    """Return the width for records whose sticks are known, where counts were drawn given the sticks."""
    return WIDEST_SLICE / math.sqrt(1.0 + n * left)


def width_of_counts(state, h, left, n):
    """Return a few standard deviations of stick h given the counts alone, which are known or conditioned on.

    p = q + ν d, d = R_h (F_h − U_h), so that least squares, with the counts' own variances, tell ν and how well it is
    known. None of it depends on ν, as the width of a slice must not. The width for R_h n records whose sticks are known
    is far too small where the release tells little of a record: a slice then took up to 35 evaluations.
    """
    known, pull = 0.0, 0.0
    for b in range(len(state.counts)):
        d = left * (state.row[h, b] - state.rest[h, b])
        weight = n / max(state.counts[b], 1.0)
        known += weight * d * d
        pull += weight * d * (state.counts[b] / n - state.fresh[b] - left * state.rest[h, b])
    if not n * known > 1.0:
        return WIDEST_SLICE
    error = min(1.0 / math.sqrt(n * known), 0.5)
    stick = min(max(pull / known, error), 1.0 - error)
    return min(max(SLICE_WIDTH * error / (stick * (1.0 - stick)), width_of_records(state, h, left, n)), WIDEST_SLICE)


def is_moved(rng, h):
    """Return whether a sweep moves stick h: the first ones always, later ones with probability falling as 1/h²."""
    return uniform(rng) * (1 + h) * (1 + h) < MOVED_IN_A_SWEEP * MOVED_IN_A_SWEEP


def fill_rests(state):
    """Write the mixture U_h of all sticks after h, for every h, and keep the old masses left."""
    last = state.cursor[STICKS] - 1
    for h in range(last + 1):
        state.log_old[h] = state.log_left[h]
    for b in range(len(state.counts)):
        state.rest[last, b] = 0.0
    for h in range(last, 0, -1):
        share = math.exp(math.log(max(state.weight[h], LEAST_CHANCE)) - state.log_left[h - 1])
        left = math.exp(state.log_left[h] - state.log_left[h - 1])
        for b in range(len(state.counts)):
            state.rest[h - 1, b] = share * state.row[h, b] + left * state.rest[h, b]


def log_shares(logit):
    """Return (log ν, log(1 − ν)) of a logit."""
    if logit > 0.0:
        log_stick = -math.log1p(math.exp(-logit))
        return log_stick, log_stick - logit
    log_rest = -math.log1p(math.exp(logit))
    return log_rest + logit, log_rest


def stick_target(about, logit):
    """Return the log posterior of stick h, in its logit, given everything else."""
    parts, state, h, log_left = about
    log_stick, log_rest = log_shares(logit)
    mine, others = math.exp(log_left + log_stick), math.exp(log_left + log_rest)
    for b in range(len(state.counts)):
        state.trial[b] = state.fresh[b] + mine * state.row[h, b] + others * state.rest[h, b]
    prior = log_stick_density(parts.prior, state.concentration, h, log_stick, log_rest)
    return prior + log_released(state, state.trial)


slice_stick = make_slice_step(stick_target, most_steps=MOST_STEPS_OUT)


def allocate_counts(state, rng):
    """Hand out the count of every bin to the sticks, with weights w_h F_hb."""
    clear_table(state)
    for b in range(len(state.counts)):
        left, chance, h = int(state.counts[b]), state.chance[b], 0
        while left > MOST_RECORDS_ONE_BY_ONE and h < state.cursor[STICKS] - 1:
            share = state.weight[h] * state.row[h, b]
            if share > 0.0:
                taken = binomial(rng, left, min(share / max(chance, share), 1.0))
                give(state, h, b, taken)
                left -= taken
                chance -= share
            h += 1
        if left > MOST_RECORDS_AT_LAST:
            give(state, h, b, left)  # only the last stick is left
            left = 0
        for _ in range(left):
            give(state, draw_stick(state, rng, b, h, chance), b, 1)


def draw_stick(state, rng, b, first, chance):
    """Draw the stick of one record of bin b, among those from `first` on, whose weights add up to `chance`."""
    threshold = uniform(rng) * chance
    total, h, last = 0.0, first, first
    while h < state.cursor[STICKS]:
        share = state.weight[h] * state.row[h, b]
        if share > 0.0:
            last = h
            total += share
            if total > threshold:
                break
        h += 1
    return last  # where rounding left nothing, the last that could be


def clear_table(state):
    """Take all records off the sticks."""
    for h in range(len(state.size)):
        state.size[h] = 0
        for b in range(len(state.counts)):
            state.table[h, b] = 0


def give(state, h, b, records):
    """Put records of bin b at stick h."""
    state.table[h, b] += records
    state.size[h] += records
