"""The Metropolis walk on the parameters of a component: one rule of acceptance and of tuning, for any target."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.numerics.random import exponential, normal

# Share of accepted steps that tuning aims at: the optimum for one dimension (Gelman, Roberts and Gilks 1996).
TUNED_ACCEPTANCE = 0.44


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
