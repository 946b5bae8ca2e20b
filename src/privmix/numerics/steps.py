"""Steps of a Markov chain on any target: the Metropolis walk on a component's parameters, and the slice step."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.numerics.random import exponential, normal, uniform, uniform_index

# Share of accepted steps that tuning aims at: the optimum for one dimension (Gelman, Roberts and Gilks 1996).
TUNED_ACCEPTANCE = 0.44
# Steps out of a slice where there is no limit to them: more than any target needs.
UNLIMITED = 2**40


def accepts(rng, log_ratio):
    """Return whether a proposal is accepted, with probability min(1, exp(log_ratio)); not where the ratio is nan."""
    return exponential(rng) > -log_ratio


def tune_step(log_step, p, log_ratio, gain, sharers):
    """Lengthen or shorten step p by the probability that its proposal had, which is returned.

    `gain` falls in warm-up and is 0 after it. Where several walks of a sweep share a step, each counts a little.
    """
    rate = math.exp(min(0.0, log_ratio)) if log_ratio == log_ratio else 0.0
    log_step[p] += gain * (rate - TUNED_ACCEPTANCE) / sharers
    return rate


def make_walk(log_target: Callable, prepare: Callable, parameter_count: Callable, log_scale: Callable) -> Callable:
    """Return a walk on a target, ready to be bound: every argument is a plain function or a slot.

    Parameters
    ----------
    log_target
        ``log_target(about, theta)``, the log density walked on.
    prepare
        ``prepare(kernel, theta)`` fills the constant columns of a row.
    parameter_count, log_scale
        How many parameters there are, and whether parameter p moves on the log scale.
    """

    def walk(about, kernel, rng, theta, passes, records, log_step, gain, sharers):
        """Move each parameter in turn, some times over; steps shrink with the records that know the parameters."""
        current = log_target(about, theta)
        for step_index in range(passes * parameter_count()):
            p = step_index % parameter_count()
            old = theta[p]
            step = math.exp(log_step[p]) * normal(rng) / math.sqrt(1.0 + records)
            theta[p] = old * math.exp(step) if log_scale(p) else old + step
            prepare(kernel, theta)
            proposed = log_target(about, theta)
            # On the log scale the density carries the Jacobian dθ/d log θ = θ, whose ratio is exp(step).
            log_ratio = proposed - current + (step if log_scale(p) else 0.0)
            if accepts(rng, log_ratio):
                current = proposed
            else:
                theta[p] = old
                prepare(kernel, theta)
            tune_step(log_step, p, log_ratio, gain, sharers)

    return walk


def make_slice_step(log_target: Callable, *, whole: bool = False, most_steps: int = 0) -> Callable:
    """Return a slice step on a target, ready to be bound: stepping out and shrinking (Neal 2003).

    Parameters
    ----------
    log_target
        ``log_target(about, place)``, the log density of the coordinate; −∞ outside its support.
    whole
        The coordinate is a whole number.
    most_steps
        Most steps by which the slice is widened, to both sides together; 0 for no limit.
    """
    draw_within, unit = (draw_whole, 1) if whole else (draw_real, 0)

    def is_joined(about, level, first, width, place, tried):
        """Return whether the steps out from a new place would make the slice that those from the old one made.

        The first and the last whole number of a step are two: going right the last is asked, going left the first. So
        between two places both must be above the level; those that were not asked are. Where the target has one peak
        they always are.
        """
        edge = first + width * (math.floor((min(place, tried) - first) / width) + 1)
        while edge <= max(place, tried):
            if not log_target(about, edge if tried > place else edge - 1) > level:
                return False
            edge += width
        return True

    reached = is_joined if whole else is_always_reached

    def slice_step(about, rng, place, width):
        """Return a new place of the coordinate, reached from the old one by steps of `width`."""
        level = log_target(about, place) - exponential(rng)
        left = place - draw_within(rng, width)
        first, right = left, left + width - unit
        # A limit on the steps keeps the move reversible only if it is split at random.
        steps_left = uniform_index(rng, most_steps) if most_steps > 0 else UNLIMITED
        steps_right = most_steps - 1 - steps_left if most_steps > 0 else UNLIMITED
        while steps_left > 0 and log_target(about, left) > level:
            left -= width
            steps_left -= 1
        while steps_right > 0 and log_target(about, right) > level:
            right += width
            steps_right -= 1
        while True:
            tried = left + draw_within(rng, right - left + unit)
            if right - left < 1e-12 * (1.0 + abs(place)):
                tried = place
            if tried == place:
                return tried
            if log_target(about, tried) > level and reached(about, level, first, width, place, tried):
                return tried
            if tried < place:
                left = tried + unit
            else:
                right = tried - unit

    return slice_step


def is_always_reached(about, level, first, width, place, tried):
    """Return True: the steps of a real coordinate meet at their ends, which are asked from either side."""
    return True


def draw_real(rng, width):
    """Draw from the uniform distribution on [0, width)."""
    return width * uniform(rng)


def draw_whole(rng, width):
    """Draw one of the whole numbers 0, …, width − 1."""
    return uniform_index(rng, int(width))
