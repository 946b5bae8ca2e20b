"""The update of θ that a kernel inherits when it gives only the density of its base measure.

A random walk that moves one parameter at a time, on the log scale where the parameter is positive. Its steps shrink
with the size of the cluster and are tuned during warm-up. The target is G₀(θ) ∏ f(y_i|θ): the prior is in the ratio.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_base, log_f, log_scale, parameter_count, prepare
from privmix.numerics.steps import make_walk


def random_walk(kernel, rng, theta, ys, tune, hyper):
    """Move each parameter in turn by a Metropolis step (fills the slot `update_atom`)."""
    walk((kernel, ys, hyper), kernel, rng, theta, 1, len(ys), tune[1:], tune[0], 1.0)


def shift_alone(kernel, theta, p, step):
    """Move parameter p, or all positive ones where p is past the last; return the log Jacobian (fills `shift`).

    The shapes of a beta component are known far better by their ratio than by their size: apart, neither can move far.
    """
    jacobian = 0.0
    for q in range(parameter_count()):
        if log_scale(q) and (q == p or p == parameter_count()):
            theta[q] *= math.exp(step)
            jacobian += step
        elif q == p:
            theta[q] += step
    return jacobian


def log_target(about, theta):
    """Return log G₀(θ) + Σ log f(y|θ)."""
    kernel, ys, hyper = about
    total = log_base(kernel, theta, hyper)
    if total == -math.inf:
        return total
    for j in range(len(ys)):
        total += log_f(kernel, ys[j], theta)
    return total


walk = make_walk(log_target, prepare, parameter_count, log_scale)
