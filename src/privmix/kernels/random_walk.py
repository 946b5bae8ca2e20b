"""The update of θ that a kernel inherits when it gives only the density of its base measure.

A random walk that moves one parameter at a time, on the log scale where the parameter is positive. Its steps shrink
with the size of the cluster and are tuned during warm-up towards accepting 44% (the optimum for one dimension: Gelman,
Roberts and Gilks 1996). The target is G₀(θ) ∏ f(y_i|θ): the prior is in the ratio.
"""

from __future__ import annotations

import math

from privmix.kernels.slots import log_base, log_f, log_scale, parameter_count, prepare
from privmix.numerics import exponential, normal

TARGET = 0.44


def random_walk(kernel, rng, theta, ys, tune, hyper):
    """Move each parameter in turn by a Metropolis step (a slot's filling)."""
    current = log_target(kernel, theta, ys, hyper)
    for p in range(parameter_count()):
        old = theta[p]
        step = math.exp(tune[1 + p]) * normal(rng) / math.sqrt(1.0 + len(ys))
        theta[p] = old * math.exp(step) if log_scale(p) else old + step
        prepare(kernel, theta)
        proposed = log_target(kernel, theta, ys, hyper)
        # On the log scale the density carries the Jacobian dθ/d log θ = θ, whose ratio is exp(step).
        log_ratio = proposed - current + (step if log_scale(p) else 0.0)
        accepted = exponential(rng) > -log_ratio
        if accepted:
            current = proposed
        else:
            theta[p] = old
            prepare(kernel, theta)
        rate = math.exp(min(0.0, log_ratio)) if log_ratio == log_ratio else 0.0
        tune[1 + p] += tune[0] * (rate - TARGET)


def log_target(kernel, theta, ys, hyper):
    """Return log G₀(θ) + Σ log f(y|θ)."""
    total = log_base(kernel, theta, hyper)
    if total == -math.inf:
        return total
    for j in range(len(ys)):
        total += log_f(kernel, ys[j], theta)
    return total
